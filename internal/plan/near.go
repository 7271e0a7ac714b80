package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// near is what a request has to do with.
type near struct {
	collects    bool
	notAskedFor func(*object.Object) bool
	cause       *cause
	// namespaces are those of the targets, and of what follows from the request, the
	// empty one for objects without one; nil for all.
	namespaces map[string]bool
}

func (s *simulation) near() near {
	return near{collects: s.seed.Verb == Collect, notAskedFor: s.notAskedFor, cause: &s.cause}
}

// only leaves those namespaces out that the request has nothing to do with.
func (n near) only(targets []object.Ref, all *outcome.Outcomes) near {
	n.namespaces = map[string]bool{}
	for _, ref := range targets {
		n.namespaces[ref.Namespace] = true
	}
	for _, out := range all.All() {
		if !out.AlreadyHappening || out.Anyway {
			n.namespaces[out.Track.First.Namespace] = true
		}
	}
	return n
}

// concerns reports whether the request has to do with what becomes of an object. A
// collection in some namespaces has nothing to do with what is garbage, protected or
// on its way elsewhere, unless that follows from what it does there.
func (n near) concerns(out *outcome.Outcome) bool {
	o := out.Track.First
	switch {
	case n.collects:
		return !n.notAskedFor(o) || n.cause.reaches(o)
	case n.namespaces == nil:
		return true
	default:
		return !out.AlreadyHappening || out.Anyway || n.namespaces[o.Namespace]
	}
}

// attempts leaves out attempts that are about namespaces which the request has nothing to do with.
func (n near) attempts(all []report.Stuck) []report.Stuck {
	if n.collects || n.namespaces == nil {
		return all
	}
	return slices.DeleteFunc(all, func(s report.Stuck) bool { return s.Object.Namespace != "" && !n.namespaces[s.Object.Namespace] })
}
