package kube

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Scope says how much of a cluster to look at; the zero value is all of it.
type Scope struct {
	// Namespaces limit namespaced kinds. Cluster-scoped kinds are always listed:
	// owners may be among them.
	Namespaces []string
	// Include and Exclude are shell patterns over `resource.group`, such as
	// `deployments.apps`, `*.example.com` or `configmaps`. Without Include every
	// kind is listed; Exclude beats it.
	Include, Exclude []string
	// Instead are the namespaces in which a namespaced kind is listed that we may not
	// list in all of them: whoever has rights in one namespace can be told about that
	// one. They limit nothing.
	Instead []string
	// References tells that the question is about owner references: nothing of a spec or a
	// status is read, but of the definitions of kinds.
	References bool
	// Monitored leaves out what no garbage collector watches: Events.
	Monitored bool
}

// All reports whether nothing is left out.
func (s Scope) All() bool { return len(s.Namespaces)+len(s.Include)+len(s.Exclude) == 0 }

// Check finds patterns that mean nothing.
func (s Scope) Check() error {
	for _, pattern := range append(append([]string(nil), s.Include...), s.Exclude...) {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			return fmt.Errorf("%q is not a pattern for resource.group", pattern)
		}
	}
	for _, ns := range slices.Concat(s.Namespaces, s.Instead) {
		if err := checkSegment("namespace", ns); err != nil {
			return err
		}
	}
	return nil
}

// wants reports whether the patterns take the resource.
func (s Scope) wants(r object.Resource) bool {
	name := strings.ToLower(r.GroupResource().String())
	matches := func(patterns []string) bool {
		for _, p := range patterns {
			if ok, _ := path.Match(strings.ToLower(p), name); ok {
				return true
			}
		}
		return false
	}
	return (len(s.Include) == 0 || matches(s.Include)) && !matches(s.Exclude)
}

// places are the lists that make up the scope, and leftOut the resources that
// belong to a collector's view and were not wanted.
//
// What cannot be deleted or listed is left out, and of one storage under two names
// the name that it has no longer. Events are listed, although no collector looks at
// them: they are content of a namespace that is deleted. (spec §3.3, §5)
func (s Scope) places(rs *object.Resources) (places []Place, leftOut []object.Resource) {
	for _, r := range rs.All() {
		if !listable(rs, r) || s.Monitored && !rs.Monitored(r) {
			continue
		}
		switch {
		case !s.wants(r):
			leftOut = append(leftOut, r)
		case r.Namespaced && len(s.Namespaces) > 0:
			for _, ns := range s.Namespaces {
				places = append(places, Place{r, ns})
			}
		default:
			places = append(places, Place{Resource: r})
		}
	}
	return places, leftOut
}

// Places returns the lists that make up a scope.
func (d *Discovery) Places(s Scope) []Place {
	places, _ := s.places(d.Resources)
	return places
}

// selection is what is asked for of a resource.
func (s Scope) selection(r object.Resource) Selection {
	return Selection{Metadata: s.References && !r.Is(object.CRD)}
}

func listable(rs *object.Resources, r object.Resource) bool {
	gr := r.GroupResource()
	if stored := object.Storage(gr); stored != gr {
		if _, ok := rs.Preferred(stored); ok {
			return false
		}
	}
	p, ok := rs.Preferred(gr)
	return ok && p.Version == r.Version && p.Verbs.Has(object.Delete|object.List)
}
