package health

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/internal/uses"
)

// Referrer is an object with references to others. Names are kept, and no values.
type Referrer struct {
	Ref object.Ref `json:"-"`
	// References may be shared with alike objects.
	References []uses.Reference `json:"references"`
	// Guessed is true if the references follow from the names of fields.
	Guessed bool `json:"guessed,omitzero"`
}

// PartOfKind returns the part of a kind with references.
func PartOfKind(k object.Kind) Part {
	if s, ok := sourcesByKind[[2]string{k.Group, k.Kind}]; ok {
		return s.part
	}
	return Part(k.GroupResource().String())
}

// referrerSources are the parts that are read for their references only.
func referrerSources(have []partSource) []partSource {
	var list []partSource
	for _, k := range uses.Kinds() {
		if !slices.ContainsFunc(have, func(s partSource) bool { return s.resource.Group == k.Group && s.resource.Kind == k.Kind }) {
			s := sourceOf(Part(k.GroupResource().String()), k.Resource(), func(*Shown, *body, *struct{}) {})
			s.referencesOnly = true
			list = append(list, s)
		}
	}
	return list
}

// guessFields are the fields of a custom resource that GuessOf reads.
var guessFields = manifest.FieldsOf(body{}).And(manifest.FieldsAt("spec.*"))

// referenceFields returns the fields with the references of an object. nil if it has none, or those of
// its controller.
func referenceFields(o *object.Object) *manifest.Fields {
	kind := o.GroupKind()
	if c, ok := o.Controller(); ok && uses.Covers(kind, schema.GroupKind{Group: object.GroupOf(c.APIVersion), Kind: c.Kind}) {
		return nil
	}
	if fields := uses.FieldsOf(kind); fields != nil {
		return fields
	}
	if _, isPart := sourcesByKind[[2]string{kind.Group, kind.Kind}]; !isPart && object.MayBeCustom(kind.Group) {
		return guessFields
	}
	return nil
}

// ReadOf is Read for an object of a snapshot. It is faster for those that are not being deleted and have no
// finalizers: their metadata is not decoded again.
func ReadOf(o *object.Object, raw []byte) (*Record, error) {
	s, isPart := findSource(o.APIVersion, o.Kind)
	if !isPart || o.BeingDeleted() || len(o.Finalizers()) > 0 {
		return Read(o.APIVersion, o.Kind, raw)
	}
	r, b := recordOf(o.Ref), bodyOf(o)
	if !s.referencesOnly && s.take(&r.Shown, &b, raw) != nil {
		return Read(o.APIVersion, o.Kind, raw) // for the error
	}
	r.takeReferences(b.controller(), raw)
	return r, nil
}

// takeReferences records the references of an object with a controller, or with none.
func (r *Record) takeReferences(controller object.Ref, raw []byte) {
	kind := r.Ref().GroupKind()
	r.Referring = uses.FieldsOf(kind) != nil
	if uses.Covers(kind, controller.GroupKind()) {
		return
	}
	one := Referrer{Ref: r.Ref()}
	if uses.FieldsOf(kind) != nil {
		one.References = uses.Of(kind, r.Namespace, raw)
	} else if _, isPart := sourcesByKind[[2]string{kind.Group, kind.Kind}]; !isPart && object.MayBeCustom(kind.Group) {
		one.References, one.Guessed = uses.GuessOf(kind.Group, r.Namespace, raw), true
	}
	if len(one.References) > 0 {
		r.Referrers = append(r.Referrers, one)
	}
}

// share lets alike pods and Jobs share their references. Of other kinds few objects are alike.
func (w *Evidence) share(list []Referrer) {
	for i := range list {
		if !list[i].Ref.Is(object.Pod) && !list[i].Ref.Is(object.Job) {
			continue
		}
		var key strings.Builder
		for _, r := range list[i].References {
			for _, s := range []string{r.Field, r.Group, r.Kind, r.Namespace, r.Name} {
				key.WriteString(s)
				key.WriteByte(0)
			}
			if r.Selector != nil {
				key.WriteString(*r.Selector)
			}
			if r.Optional {
				key.WriteByte(1)
			}
			if r.Idle {
				key.WriteByte(2)
			}
		}
		if w.references == nil {
			w.references = map[string][]uses.Reference{}
		}
		if have, ok := w.references[key.String()]; ok {
			list[i].References = have
		} else {
			w.references[key.String()] = list[i].References
		}
	}
}

// customKinds has the served custom kinds: whether each is cluster-scoped, and the groups with a kind of a name.
type customKinds struct {
	cluster map[schema.GroupKind]bool
	groups  map[string][]string
}

func customKindsOf(served *object.Resources) customKinds {
	c := customKinds{map[schema.GroupKind]bool{}, map[string][]string{}}
	for _, r := range served.All() {
		if _, known := c.cluster[r.GroupKind()]; r.Custom && !known {
			c.cluster[r.GroupKind()] = !r.Namespaced
			c.groups[r.Kind] = append(c.groups[r.Kind], r.Group)
		}
	}
	return c
}

// resolve returns references in the groups that serve their kinds, and without namespaces for cluster-scoped
// kinds, which the table may lack.
func (c customKinds) resolve(user schema.GroupKind, list []uses.Reference) []uses.Reference {
	resolved := list
	for i, r := range list {
		kind := schema.GroupKind{Group: r.Group, Kind: r.Kind}
		if _, served := c.cluster[kind]; !served && len(c.groups[r.Kind]) == 1 && r.Rule(user).Guessed() {
			if moved, ok := r.Moved(c.groups[r.Kind][0]); ok {
				r, kind.Group = moved, moved.Group
			}
		}
		if c.cluster[kind] {
			r.Namespace = ""
		}
		if r != list[i] {
			if &resolved[0] == &list[0] {
				resolved = slices.Clone(list)
			}
			resolved[i] = r
		}
	}
	return resolved
}

// Referrers returns the objects with references, in object.Compare order, with their references in the
// snapshot. Those that the API server calls are not among them: see Webhooks, APIServices and Definitions
// of Evidence.
func (s *Assessment) Referrers() []Referrer {
	if s.evidence == nil {
		return nil
	}
	if s.referrers == nil {
		s.referrers = make([]Referrer, 0, len(s.evidence.Referrers))
		kinds := customKindsOf(s.snap.Resources)
		for _, r := range s.evidence.Referrers {
			r.Ref, r.References = s.Known(r.Ref), kinds.resolve(r.Ref.GroupKind(), r.References)
			s.referrers = append(s.referrers, r)
		}
		slices.SortStableFunc(s.referrers, func(a, b Referrer) int { return object.Compare(a.Ref, b.Ref) })
	}
	return s.referrers
}

// Selecting iterates over the objects of a kind that select pods, in the order of Referrers, each with its
// selector.
func (s *Assessment) Selecting(kind object.Kind) iter.Seq2[object.Ref, labels.Selector] {
	return func(yield func(object.Ref, labels.Selector) bool) {
		for _, user := range s.Referrers() {
			if !user.Ref.Is(kind) {
				continue
			}
			for _, r := range user.References {
				if r.Selector == nil {
					continue
				}
				if selector, err := labels.Parse(*r.Selector); err == nil && !yield(user.Ref, selector) {
					return
				}
			}
		}
	}
}

// ReferrersIn reports whether the snapshot has objects of a kind in a namespace, or in any if it is empty,
// with references of their own, or may lack some.
func ReferrersIn(snap *snapshot.Snapshot, user object.Resource, namespace string) bool {
	objects := snap.All(user.GroupResource())
	if namespace != "" {
		objects = snap.In(user.GroupResource(), namespace)
	}
	return !snap.Covers(user, namespace) || slices.ContainsFunc(objects, func(o *object.Object) bool { return referenceFields(o) != nil })
}

// ReferringParts returns the parts of which the snapshot has objects with references of their own.
func ReferringParts(snap *snapshot.Snapshot) []Part {
	var parts []Part
	for _, k := range uses.Kinds() {
		if r, ok := snap.Resources.Preferred(k.GroupResource()); ok && len(snap.All(r.GroupResource())) > 0 && ReferrersIn(snap, r, "") {
			parts = append(parts, PartOfKind(k))
		}
	}
	return parts
}

// GapOf returns the gap of a list that was not read, with the reason of the snapshot if it lacks the list,
// too.
func (s *Assessment) GapOf(r object.Resource, namespace, why string) report.Gap {
	code := reason.ListFailed
	if strings.Contains(why, "forbidden") {
		code = reason.Forbidden
	}
	return report.Gap{
		APIVersion: r.APIVersion(), Resource: r.Name, Namespace: namespace,
		Why: cmp.Or(s.snap.Why(r, namespace), string(code)+": "+cmp.Or(why, NotRead)),
	}
}

// UnreadReferrers returns the kinds that may refer to a kind and were not read completely in a namespace,
// or in all of them if it is empty. A kind that the cluster does not have is not among them. harmless is
// true if references that break nothing count, too.
func (s *Assessment) UnreadReferrers(to schema.GroupKind, namespace string, harmless bool) []report.Gap {
	var unread []report.Gap
	for _, rule := range uses.Users(to) {
		resource, ok := s.snap.Resources.Preferred(rule.User.GroupResource())
		if !ok || (!harmless || rule.Selects) && rule.When == report.BreaksNever || slices.ContainsFunc(unread, func(g report.Gap) bool { return g.Resource == resource.Name && g.APIVersion == resource.APIVersion() }) {
			continue
		}
		in := namespace
		if !resource.Namespaced || rule.Anywhere() {
			in = ""
		}
		if !ReferrersIn(s.snap, resource, in) {
			continue
		}
		part := PartOfKind(rule.User)
		switch c := s.evidence.CompletenessOf(part, in); {
		case !c.Whole:
			unread = append(unread, s.GapOf(resource, in, c.Why))
		case s.evidence.withoutReferences[part]:
			unread = append(unread, s.GapOf(resource, in, "the snapshot was written by an older version, without references"))
		}
	}
	slices.SortFunc(unread, func(x, y report.Gap) int {
		return cmp.Or(strings.Compare(x.APIVersion, y.APIVersion), strings.Compare(x.Resource, y.Resource))
	})
	return unread
}
