package snapshot

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// CompletenessFlags is what the user states about the completeness of a dump's lists.
type CompletenessFlags struct {
	// Partial is true if no list is complete, except those of Complete.
	Partial bool
	// Complete are types, as kubectl accepts them. The dump has all their objects in the namespaces
	// In, or in the whole cluster if In is empty.
	Complete []string
	In       []string
}

// UnknownTypeError reports that a user vouches for a type that the snapshot does not know.
type UnknownTypeError struct {
	Name      string
	Resources *object.Resources
}

// Error returns the type.
func (e *UnknownTypeError) Error() string { return fmt.Sprintf("no resource type %q is known", e.Name) }

// applyTo adds the user's statements to a coverage. Known failures stay.
func (f CompletenessFlags) applyTo(c *Coverage, resources *object.Resources, objects []*object.Object) error {
	if f.Partial {
		c.nothingWhole("it was said that no list of the dump is whole")
	}
	for _, name := range f.Complete {
		r, ok := resources.Named(name, func(r object.Resource) bool {
			return slices.ContainsFunc(objects, func(o *object.Object) bool { return o.GroupKind() == r.GroupKind() })
		})
		if !ok {
			return &UnknownTypeError{name, resources}
		}
		if len(f.In) == 0 || !r.Namespaced {
			c.Add(r.GroupResource(), "")
			delete(c.at(r.GroupResource()).failures, others)
			continue
		}
		for _, ns := range f.In {
			c.Add(r.GroupResource(), ns)
		}
	}
	return nil
}

// applyToSnapshot adds the user's statements to a snapshot with a final coverage.
func (f CompletenessFlags) applyToSnapshot(s *Snapshot) error {
	if !f.Partial && len(f.Complete) == 0 {
		return nil
	}
	if err := f.applyTo(s.coverage, s.Resources, s.Objects); err != nil {
		return err
	}
	s.listGaps()
	return nil
}

// listGaps recomputes the gaps after a change of the coverage.
func (s *Snapshot) listGaps() {
	undiscovered := slices.DeleteFunc(s.Gaps, func(g Gap) bool { return g.Resource != EveryResource })
	s.Gaps = slices.Concat(undiscovered, s.gapsOf())
	slices.SortFunc(s.Gaps, compareGaps)
}

// WithoutVersion returns the snapshot as if a resource were not served in its version. Objects in
// that version get the preferred one of the remaining versions. If there is none, they stay as they
// are. Remarks on shared uids name the objects in the version that they have then.
func (s *Snapshot) WithoutVersion(r object.Resource) (*Snapshot, error) {
	c := *s
	c.Resources = &object.Resources{}
	for _, other := range s.Resources.All() {
		if other.GroupResource() != r.GroupResource() || other.Version != r.Version {
			c.Resources.Add(other)
		}
	}
	c.withdrawn = append(slices.Clip(s.withdrawn), r)
	stays, ok := c.Resources.Preferred(r.GroupResource())
	if !ok {
		return &c, nil
	}
	objects := slices.Clone(s.Objects)
	for i, o := range objects {
		if o.Kind == r.Kind && o.APIVersion == r.APIVersion() {
			o = o.Clone()
			o.APIVersion = stays.APIVersion()
			objects[i] = o
		}
	}
	without := c.With(objects)
	without.Problems = slices.DeleteFunc(slices.Clone(s.Problems), func(p Problem) bool { return p.Kind == DuplicateUID })
	if err := without.reportDuplicateUIDs(without.withoutProjections(without.sharedUIDs())); err != nil {
		return nil, err
	}
	slices.SortFunc(without.Problems, compareProblems)
	return without, nil
}

// Unserves reports whether a kind is known not to be served in a version: no served resource has
// it, and either the snapshot knows all kinds of its group, or WithoutVersion removed the version.
func (s *Snapshot) Unserves(apiVersion, kind string) bool {
	if _, err := s.Resources.For(apiVersion, kind); err == nil {
		return false
	}
	return s.KnowsKindsOf(apiVersion) || s.isWithdrawn(apiVersion, kind)
}

func (s *Snapshot) isWithdrawn(apiVersion, kind string) bool {
	return slices.ContainsFunc(s.withdrawn, func(r object.Resource) bool { return r.APIVersion() == apiVersion && r.Kind == kind })
}

// Suppose returns the snapshot with a namespace added that it lacks although it has objects in it,
// as many dumps do. Only its existence is known. Its UID is made up (see MissingUID); its
// finalizers, labels and annotations are unknown. It returns nil if the namespace is in the
// snapshot, is proven absent, or has no objects. A user who takes what is missing for absent does not
// mean the namespace of these objects, unless the snapshot shows others.
func (s *Snapshot) Suppose(namespace string) *Snapshot {
	r := object.Namespace.Resource()
	isNamespace := func(o *object.Object) bool { return o.Is(object.Namespace) }
	proven := s.Covers(r, "") && (!s.missingIsAbsent || slices.ContainsFunc(s.Objects, isNamespace))
	if s.FindKind(object.Namespace, "", namespace) != nil || proven ||
		!slices.ContainsFunc(s.Objects, func(o *object.Object) bool { return o.Namespace == namespace && namespace != "" }) {
		return nil
	}
	o := &object.Object{Ref: object.Ref{APIVersion: r.APIVersion(), Kind: r.Kind, Name: namespace, UID: makeUID(r, "", namespace)}}
	o.Edit().Facts = &object.NamespaceFacts{Phase: "Active", Finalizers: []string{"kubernetes"}}
	return s.With(append(slices.Clone(s.Objects), o))
}

// Alike returns the resource that stores the objects of an unmapped kind, if that kind is served at
// all: in another version, or in the group that it has moved to. It returns false if all kinds are
// known.
func (s *Snapshot) Alike(apiVersion, kind string) (object.Resource, bool) {
	if s.KnowsKindsOf(apiVersion) || s.isWithdrawn(apiVersion, kind) {
		return object.Resource{}, false
	}
	group := object.GroupOf(apiVersion)
	for _, r := range s.Resources.All() {
		to := object.Storage(r.GroupResource())
		if r.Kind == kind && r.Served() && object.Storage(schema.GroupResource{Group: group, Resource: r.Name}) == to {
			return s.canonicalOf(typeName{r.APIVersion(), r.Kind}).resource, true
		}
	}
	return object.Resource{}, false
}
