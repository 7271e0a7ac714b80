package kube

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Scope selects a part of a cluster; the zero value selects everything.
type Scope struct {
	// Namespaces limit namespaced kinds. Cluster-scoped kinds are always listed, because owners may
	// be among them.
	Namespaces []string
	// Include and Exclude are shell patterns over `resource.group`, such as `deployments.apps`,
	// `*.example.com` or `configmaps`. Without Include every kind is listed. Exclude wins over
	// Include.
	Include, Exclude []string
	// Instead are the namespaces that are listed for a kind if listing all namespaces is forbidden,
	// for users with permissions in single namespaces. They limit nothing else.
	Instead []string
	// Deployers is true if the kinds whose objects list what a deployer has applied are listed in all
	// namespaces, whatever Namespaces is: what is listed may be anywhere.
	Deployers bool
	// References is true if only owner references matter: spec and status are not read, except
	// those of CRDs and, with Inventories, of deployers.
	References, Inventories bool
	// Outside is true if the specs that decide about outside resources are read, too. A plan reads
	// those of its objects later: see Client.ReadOutside.
	Outside bool
	// Monitored leaves out the kinds that no garbage collector watches, such as Events.
	Monitored bool
}

// All reports whether nothing is left out.
func (s Scope) All() bool { return len(s.Namespaces)+len(s.Include)+len(s.Exclude) == 0 }

// Check rejects invalid patterns and namespaces.
func (s Scope) Check() error {
	for _, pattern := range slices.Concat(s.Include, s.Exclude) {
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

// wants reports whether the patterns match the resource.
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

// places returns the lists that make up the scope, and the resources leftOut that a collector would
// see and the patterns exclude.
//
// Resources that cannot be deleted or listed are left out. Of one storage with two names the
// obsolete name is left out. Events are listed although no collector watches them: they are content
// of a deleted namespace. (spec §3.3, §5)
func (s Scope) places(rs *object.Resources) (places []Place, leftOut []object.Resource) {
	for _, r := range rs.All() {
		if !listable(rs, r) || s.Monitored && !rs.Monitored(r) {
			continue
		}
		switch {
		case !s.wants(r):
			leftOut = append(leftOut, r)
		case r.Namespaced && len(s.Namespaces) > 0 && !(s.Deployers && object.IsDeployerResource(r)):
			places = append(places, object.Mapped(s.Namespaces, func(ns string) Place { return Place{r, ns} })...)
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

// selection returns what is requested of a resource.
func (s Scope) selection(r object.Resource) Selection {
	read := r.Is(object.CRD) || s.Inventories && object.IsDeployerResource(r)
	return Selection{Metadata: s.References && !read, Outside: s.Outside}
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
