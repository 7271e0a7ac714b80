package health

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	authentication "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/json"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/uses"
)

// Evidence holds what was read about controllers, nodes, APIs, webhooks and policies. Add, Take and
// Mark fill it and are not safe for concurrent use. After that it may be read concurrently. The
// lists are in the order of input.
type Evidence struct {
	Shown

	// Live is true if a server was asked at the time of the question, or right after it.
	Live bool
	// User is the user that sends the command's requests. It is nil if unknown, as for a dump.
	// Controllers send their requests as other users.
	User *authentication.UserInfo

	completeness map[Part]map[string]Completeness
	// incompleteIn has, by part, the alphabetically first namespace in which it is incomplete.
	incompleteIn map[Part]string
	added        map[identity]bool
	// references has the references of alike objects.
	references map[string][]uses.Reference
	// withoutReferences are the parts with records that lack the references.
	withoutReferences map[Part]bool
	// managerLeaseAbsent is true if a server has no lease of kube-controller-manager.
	managerLeaseAbsent bool
}

// Missed records that a server does not have an object. Only a missing lease of
// kube-controller-manager matters.
func (w *Evidence) Missed(ref object.Ref) {
	is := func(l Lease) bool { return l.Namespace == ref.Namespace && l.Name == ref.Name }
	if ref == object.ManagerLease && !slices.ContainsFunc(w.Leases, is) {
		w.managerLeaseAbsent = true
	}
}

// identity is the key that detects duplicates.
type identity struct{ group, kind, namespace, name string }

// Unread records that an object that is being deleted could not be read completely.
func (w *Evidence) Unread(ref object.Ref, why string) {
	w.Terminating = append(w.Terminating, Terminating{Ref: ref, Unread: why})
}

// Add decodes one object from JSON. apiVersion and kind are used if the JSON lacks them, as in the
// lists of an API server. An object that cannot be decoded makes its part incomplete. The error may
// be ignored.
func (w *Evidence) Add(apiVersion, kind string, raw []byte) error {
	r, err := Read(apiVersion, kind, raw)
	w.Take(r)
	return err
}

// Take adds the record of one object. Further records of the same object are ignored.
func (w *Evidence) Take(r *Record) {
	if r.Absent {
		w.Missed(r.Ref())
		return
	}
	if r.Name != "" && !w.isFirst(r) {
		return
	}
	w.share(r.Referrers)
	w.Shown.add(&r.Shown)
	part, ok := PartOf(r.APIVersion, r.Kind)
	if ok && r.Name != "" && !r.Referring && uses.FieldsOf(r.Ref().GroupKind()) != nil {
		if w.withoutReferences == nil {
			w.withoutReferences = map[Part]bool{}
		}
		w.withoutReferences[part] = true
	}
	if ok && (r.Unread != "" || r.Whole) {
		w.Mark(part, r.Namespace, r.Unread)
	}
}

// isFirst reports whether the object was not added before, and marks it as added.
func (w *Evidence) isFirst(r *Record) bool {
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
		DeletionTimestamp *timestamp        `json:"deletionTimestamp"`
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

// bodyOf returns the metadata of an object of a snapshot that is not being deleted and has no finalizers.
func bodyOf(o *object.Object) body {
	b := body{APIVersion: o.APIVersion, Kind: o.Kind}
	m := &b.Metadata
	m.Name, m.Namespace, m.UID = o.Name, o.Namespace, o.UID
	if o.Labels != "" {
		m.Labels = maps.Collect(o.Labels.All)
	}
	for _, ref := range o.Owners {
		m.OwnerReferences = append(m.OwnerReferences, owner{ref.APIVersion, ref.Kind, ref.Name, ref.UID, ref.Controller == object.True})
	}
	return b
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

// Completeness says whether all objects of a part were read.
type Completeness struct {
	// Whole is true if every object of the part was read: an object that was not read does not
	// exist.
	Whole bool
	// Why is why the list is missing or incomplete. It is empty if Whole.
	Why string
}

// NotRead is the reason for a part that was never read.
const NotRead = "it was not read"

// Mark records the completeness of a part in a namespace, or everywhere if it is empty. An empty
// reason means complete. An incomplete part never becomes complete again.
func (w *Evidence) Mark(p Part, namespace, why string) {
	if w.completeness == nil {
		w.completeness = map[Part]map[string]Completeness{}
	}
	if w.completeness[p] == nil {
		w.completeness[p] = map[string]Completeness{}
	}
	if have, ok := w.completeness[p][namespace]; ok && !have.Whole {
		return
	}
	w.completeness[p][namespace] = Completeness{Whole: why == "", Why: why}
	if first, some := w.incompleteIn[p]; why != "" && namespace != "" && (!some || namespace < first) {
		if w.incompleteIn == nil {
			w.incompleteIn = map[Part]string{}
		}
		w.incompleteIn[p] = namespace
	}
}

// CompletenessOf returns the completeness of a part in a namespace, or in all namespaces if it is
// empty. For nil evidence nothing was read.
func (w *Evidence) CompletenessOf(p Part, namespace string) Completeness {
	if w == nil {
		return Completeness{Why: NotRead}
	}
	places := w.completeness[p]
	all, everywhere := places[""]
	if namespace == "" {
		if first, some := w.incompleteIn[p]; some {
			return places[first]
		}
	} else if here, ok := places[namespace]; ok && (!here.Whole || !everywhere || !all.Whole) {
		return here
	}
	if !everywhere {
		return Completeness{Why: NotRead}
	}
	return all
}

// Whole reports whether all the parts are complete everywhere. Otherwise it returns the first part
// that is not, and why.
func (w *Evidence) Whole(parts ...Part) (ok bool, first Part, why string) {
	for _, p := range parts {
		if s := w.CompletenessOf(p, ""); !s.Whole {
			return false, p, s.Why
		}
	}
	return true, "", ""
}

// sortedKeys returns the keys of a map, sorted.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Sorted returns the same evidence with every list sorted, so that results do not depend on the
// order of input. The lists are copies, their elements share memory with the original. It returns
// nil for nil.
func (w *Evidence) Sorted() *Evidence {
	if w == nil {
		return nil
	}
	s := *w
	s.Namespaces = byRef(w.Namespaces, func(x *Conditioned) object.Ref { return x.Ref })
	s.Definitions = byRef(w.Definitions, func(x *Definition) object.Ref { return x.Ref })
	s.Pods = byRef(w.Pods, func(x *Pod) object.Ref { return x.Ref })
	s.Workloads = byRef(w.Workloads, func(x *Workload) object.Ref { return x.Ref })
	s.Roles = byRef(w.Roles, func(x *Role) object.Ref { return x.Ref })
	s.Bindings = byRef(w.Bindings, func(x *Binding) object.Ref { return x.Ref })
	s.Policies = byRef(w.Policies, func(x *Policy) object.Ref { return x.Ref })
	s.PolicyBindings = byRef(w.PolicyBindings, func(x *PolicyBinding) object.Ref { return x.Ref })
	s.Attachments = byRef(w.Attachments, func(x *Attachment) object.Ref { return x.Ref })
	s.Usages = byRef(w.Usages, func(x *InUse) object.Ref { return x.Ref })
	s.Consumers = byRef(w.Consumers, func(x *Consumer) object.Ref { return x.Ref })
	s.Budgets = byRef(w.Budgets, func(x *Budget) object.Ref { return x.Ref })
	s.Terminating = byRef(w.Terminating, func(x *Terminating) object.Ref { return x.Ref })
	s.Nodes = byNames(w.Nodes, func(x *Node) []string { return []string{x.Name} })
	s.Services = byNames(w.Services, func(x *Service) []string { return []string{x.Namespace, x.Name} })
	s.Leases = byNames(w.Leases, func(x *Lease) []string { return []string{x.Namespace, x.Name} })
	s.APIServices = byNames(w.APIServices, func(x *APIService) []string { return []string{x.Name} })
	s.Webhooks = byNames(w.Webhooks, func(x *Webhook) []string { return []string{x.Kind, x.Configuration, x.Name} })
	s.Events = slices.Clone(w.Events)
	slices.SortStableFunc(s.Events, func(a, b Event) int {
		return cmp.Or(object.Compare(a.About, b.About), cmp.Compare(b.Last, a.Last), strings.Compare(a.Reason, b.Reason), strings.Compare(a.Note, b.Note))
	})
	return &s
}

func byRef[T any](list []T, ref func(*T) object.Ref) []T {
	c := slices.Clone(list)
	slices.SortStableFunc(c, func(a, b T) int { return object.Compare(ref(&a), ref(&b)) })
	return c
}

func byNames[T any](list []T, names func(*T) []string) []T {
	c := slices.Clone(list)
	slices.SortStableFunc(c, func(a, b T) int { return slices.Compare(names(&a), names(&b)) })
	return c
}
