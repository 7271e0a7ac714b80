package evidence

import (
	"slices"

	authentication "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/json"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// World is all evidence. Add, Take and Mark fill it and are not safe for concurrent use. After that
// it may be read concurrently. The lists are in the order of input.
type World struct {
	Shown

	// Live is true if a server was asked at the time of the question, or right after it.
	Live bool
	// User is the user that sends the command's requests. It is nil if unknown, as for a dump.
	// Controllers send their requests as other users.
	User *authentication.UserInfo

	sights map[Part]map[string]Sight
	// broken has, by part, the alphabetically first namespace in which it is incomplete.
	broken map[Part]string
	added  map[identity]bool
	// managerless is true if a server has no lease of kube-controller-manager.
	managerless bool
}

// Missed records that a server does not have an object.
func (w *World) Missed(ref object.Ref) {
	is := func(l Lease) bool { return l.Namespace == ref.Namespace && l.Name == ref.Name }
	if ref == object.ManagerLease && !slices.ContainsFunc(w.Leases, is) {
		w.managerless = true
	}
}

// identity is the key that detects duplicates.
type identity struct{ group, kind, namespace, name string }

// Unread records that an object that is being deleted could not be read completely.
func (w *World) Unread(ref object.Ref, why string) {
	w.Terminating = append(w.Terminating, Terminating{Ref: ref, Unread: why})
}

// Add decodes one object from JSON. apiVersion and kind are used if the JSON lacks them, as in the
// lists of an API server. An object that cannot be decoded makes its part incomplete. The error may
// be ignored.
func (w *World) Add(apiVersion, kind string, raw []byte) error {
	r, err := Read(apiVersion, kind, raw)
	w.Take(r)
	return err
}

// Take adds the record of one object. Further records of the same object are ignored.
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

// first reports whether the object was not added before, and marks it as added.
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

// body has the fields that are read from all objects.
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

// controller returns the controlling owner of the object. It is empty without one.
func (b *body) controller() object.Ref {
	for _, o := range b.Metadata.OwnerReferences {
		if o.Controller {
			return object.Ref{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: b.Metadata.Namespace, Name: o.Name, UID: o.UID}
		}
	}
	return object.Ref{}
}

// decode matches field names case-sensitively, as an API server does.
func decode(raw []byte, into any) error {
	return json.UnmarshalCaseSensitivePreserveInts(raw, into)
}
