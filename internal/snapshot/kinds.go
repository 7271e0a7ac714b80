package snapshot

import (
	"iter"
	"slices"
	"sort"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// ByKind yields the objects of each kind, in order. A snapshot has millions of objects of few
// kinds: callers can compute what depends only on the kind once.
func (s *Snapshot) ByKind() iter.Seq[[]*object.Object] {
	return func(yield func([]*object.Object) bool) {
		for rest := s.Objects; len(rest) > 0; {
			of := rest[0]
			n := sort.Search(len(rest), func(i int) bool { return rest[i].Kind != of.Kind || rest[i].APIVersion != of.APIVersion })
			if !yield(rest[:n]) {
				return
			}
			rest = rest[n:]
		}
	}
}

// In returns the objects of a resource in a namespace, by name. The namespace is empty for a
// cluster-scoped resource.
func (s *Snapshot) In(gr schema.GroupResource, namespace string) []*object.Object {
	r, ok := s.Resources.Stored(gr)
	if !ok {
		return nil
	}
	from, _ := slices.BinarySearchFunc(s.Objects, object.Ref{APIVersion: r.APIVersion(), Kind: r.Kind, Namespace: namespace}, func(o *object.Object, at object.Ref) int {
		return object.Compare(o.Ref, at)
	})
	rest := s.Objects[from:]
	return rest[:sort.Search(len(rest), func(i int) bool {
		o := rest[i]
		return o.Namespace != namespace || o.Kind != r.Kind || o.APIVersion != r.APIVersion()
	})]
}

// KnowsAllKinds reports whether the snapshot has all discovery documents of its server, so that an
// unmapped kind is not served. Without them it is merely unknown.
func (s *Snapshot) KnowsAllKinds() bool { return s.Source.Discovered && !s.missingDiscovery() }

// CoversDependentsOf reports whether the snapshot has every object that may be a dependent of an
// owner: all objects of the kinds that the collector watches, in the namespace of the owner, or
// anywhere if it is cluster-scoped. Kinds that the server cannot discover don't count: the
// collector doesn't know them either.
func (s *Snapshot) CoversDependentsOf(owner object.Ref) bool {
	if s.missingIsAbsent || s.coverage.everything {
		return true
	}
	if !s.KnowsAllKinds() && !s.Covers(object.CRD.Resource(), "") {
		return false
	}
	for _, r := range s.Resources.All() {
		if !s.Resources.Monitored(r) || !r.Namespaced && owner.Namespace != "" {
			continue
		}
		if !s.Covers(r, owner.Namespace) {
			return false
		}
	}
	return true
}

// missingDiscovery reports whether the discovery documents are known to be incomplete.
func (s *Snapshot) missingDiscovery() bool {
	for _, p := range s.Problems {
		if p.Kind == StaleDiscovery {
			return true
		}
	}
	return false
}
