package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/impact"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// hasOneEnd reports whether everything within reach of a delete has the same end under every
// schedule. It decides this without simulating them, and returns false if in doubt.
//
// Order matters if two deletes reach one object and the first changes what the second finds.
// Examples are two owners that lose their references one after the other, an owner that counts as
// existing again once it no longer waits for its dependents (Q24), and a finalizer that holds the
// middle of a chain (Q25). There is one end if each object is deleted through only one other
// object, and nothing that waits is held. Deletions that began before the request never have a
// certain end.
func (s Seed) hasOneEnd(m *impact.Map, within *impact.Region, targets []*object.Object) bool {
	if s.Verb != Delete {
		return false
	}
	var sources []*object.Object
	ranges, is := 0, map[*object.Object]bool{}
	for _, o := range targets {
		is[o] = true
	}
	return !within.Any(func(o *object.Object) bool {
		targeted := is[o]
		if o.Is(object.ServiceCIDR) && (targeted || slices.ContainsFunc(m.Sources(o), within.Has)) {
			ranges++ // the second of two deleted ranges may find its addresses covered by the first
		}
		sources = m.AppendSources(sources[:0], o)
		return ranges > 1 || s.mayDependOnOrder(m, o, within, targeted, sources)
	})
}

// mayDependOnOrder reports whether the end of an object may depend on the order of the deletes that
// reach it from its sources. targeted is true if the request deletes the object itself.
func (s Seed) mayDependOnOrder(m *impact.Map, o *object.Object, within *impact.Region, targeted bool, sources []*object.Object) bool {
	if !m.Settled(o) || o.Is(object.CRD) {
		return true
	}
	if s.Policy == engine.ForegroundPolicy && (len(o.Finalizers()) > 0 || o.Pod() != nil || impact.Container(o)) {
		return true // it may count as existing again once it no longer waits for its dependents
	}
	owners, others := 0, 0
	for i, x := range sources {
		switch {
		case !within.Has(x) || slices.Contains(sources[:i], x):
		case o.RefersTo(x.UID):
			for _, ref := range o.Owners {
				if ref.UID == x.UID { // repeated references are not always merged
					owners++
				}
			}
		default:
			others++
		}
	}
	if targeted {
		others++
	}
	switch {
	case owners == 0:
		return false
	case owners > 1 || len(o.Owners) > 1 && others > 0:
		return true
	default:
		return others > 0 && s.Policy != engine.Background
	}
}
