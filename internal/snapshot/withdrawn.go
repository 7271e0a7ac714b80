package snapshot

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

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
// it, and either the snapshot knows all kinds, or WithoutVersion removed the version.
func (s *Snapshot) Unserves(apiVersion, kind string) bool {
	if _, err := s.Resources.For(apiVersion, kind); err == nil {
		return false
	}
	return s.KnowsAllKinds() || s.isWithdrawn(apiVersion, kind)
}

func (s *Snapshot) isWithdrawn(apiVersion, kind string) bool {
	return slices.ContainsFunc(s.withdrawn, func(r object.Resource) bool { return r.APIVersion() == apiVersion && r.Kind == kind })
}
