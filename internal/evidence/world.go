package evidence

import (
	"slices"

	authentication "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/json"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// World is all evidence. Add, Take and Mark fill it, from one goroutine at a time; once
// filled it may be read from many. The lists are in the order in which the objects
// came.
type World struct {
	Shown

	// Live tells that a server was asked at the time of the question, or right after it.
	Live bool
	// User is the user as which the command sends its requests; nil where that is not known, as of a
	// dump. Controllers send theirs as other users.
	User *authentication.UserInfo

	sights map[Part]map[string]Sight
	// broken has of each part the first namespace, by its name, in which it was not read whole.
	broken map[Part]string
	added  map[identity]bool
	// managerless: the lease of kube-controller-manager was asked for, and there is none.
	managerless bool
}

// Missed says that a server was asked for an object, and had none that was not added.
func (w *World) Missed(ref object.Ref) {
	is := func(l Lease) bool { return l.Namespace == ref.Namespace && l.Name == ref.Name }
	if ref == object.ManagerLease && !slices.ContainsFunc(w.Leases, is) {
		w.managerless = true
	}
}

// identity tells apart what was added.
type identity struct{ group, kind, namespace, name string }

// Unread says of an object that is being deleted that it could not be read whole.
func (w *World) Unread(ref object.Ref, why string) {
	w.Terminating = append(w.Terminating, Terminating{Ref: ref, Unread: why})
}

// Add takes in one object, given as JSON. The kind is needed where the JSON does not
// say it, as in the lists of an API server. An object that cannot be read makes its
// part incomplete; the error is then for whoever wants to tell.
func (w *World) Add(apiVersion, kind string, raw []byte) error {
	r, err := Read(apiVersion, kind, raw)
	w.Take(r)
	return err
}

// Take takes in what one object shows. Of several records of one object the first counts.
func (w *World) Take(r *Record) {
	if r.Absent {
		w.Missed(r.Ref())
		return
	}
	if r.Name != "" && !w.first(r) {
		return
	}
	w.Shown.add(&r.Shown)
	if part, ok := PartOf(r.APIVersion, r.Kind); ok && (r.Unread != "" || r.Whole) {
		w.Mark(part, r.Namespace, r.Unread)
	}
}

// first reports whether the object was not added before.
func (w *World) first(r *Record) bool {
	id := identity{object.GroupOf(r.APIVersion), r.Kind, r.Namespace, r.Name}
	if id.kind == "Event" {
		id.group = ""
	}
	if w.added[id] {
		return false
	}
	if w.added == nil {
		w.added = map[identity]bool{}
	}
	w.added[id] = true
	return true
}

// body is what all objects have in common.
type body struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name              string            `json:"name"`
		Namespace         string            `json:"namespace"`
		UID               types.UID         `json:"uid"`
		Labels            map[string]string `json:"labels"`
		DeletionTimestamp *stamp            `json:"deletionTimestamp"`
		Finalizers        []string          `json:"finalizers"`
		OwnerReferences   []owner           `json:"ownerReferences"`
	} `json:"metadata"`
}

type owner struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Name       string    `json:"name"`
	UID        types.UID `json:"uid"`
	Controller bool      `json:"controller"`
}

func (b *body) ref() object.Ref {
	m := &b.Metadata
	return object.Ref{APIVersion: b.APIVersion, Kind: b.Kind, Namespace: m.Namespace, Name: m.Name, UID: m.UID}
}

// controller is the owner that controls the object; empty without one.
func (b *body) controller() object.Ref {
	for _, o := range b.Metadata.OwnerReferences {
		if o.Controller {
			return object.Ref{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: b.Metadata.Namespace, Name: o.Name, UID: o.UID}
		}
	}
	return object.Ref{}
}

// decode takes names of fields as they are written, as an API server does.
func decode(raw []byte, into any) error {
	return json.UnmarshalCaseSensitivePreserveInts(raw, into)
}
