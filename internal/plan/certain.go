package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/impact"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// oneEnd reports whether everything within reach of a delete comes to the same end under
// every schedule, as far as that can be told without trying.
//
// Order matters where two things come to one object and the first changes what the
// second finds: two owners of which one loses its reference first, an owner that is
// there again once it no longer waits for its dependents (Q24), something that holds the
// middle of a chain (Q25). Where each object goes with one thing alone, and nothing that
// waits is held, there is one end. What was under way before is never certain.
func (s Seed) oneEnd(m *impact.Map, within *impact.Region, targets []*object.Object) bool {
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
			ranges++ // of two that go, the second may find that the first has covered its addresses
		}
		sources = m.AppendSources(sources[:0], o)
		return ranges > 1 || s.open(m, o, within, targeted, sources)
	})
}

// open reports whether the end of an object, which a request may be for, may depend on the order in
// which deletes come to it from its sources.
func (s Seed) open(m *impact.Map, o *object.Object, within *impact.Region, targeted bool, sources []*object.Object) bool {
	if !m.Settled(o) || o.Is(object.CRD) {
		return true
	}
	if s.Policy == engine.ForegroundPolicy && (len(o.Finalizers()) > 0 || o.Pod() != nil || impact.Container(o)) {
		return true // it may be there again when it no longer waits for its dependents
	}
	owners, others := 0, 0
	for i, x := range sources {
		switch {
		case !within.Has(x) || slices.Contains(sources[:i], x):
		case o.RefersTo(x.UID):
			for _, ref := range o.Owners {
				if ref.UID == x.UID { // repeated references do not always count as one
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
