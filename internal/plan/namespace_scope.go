package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// namespaceScope limits a plan to the namespaces that its request can affect.
type namespaceScope struct {
	collects    bool
	notAskedFor func(*object.Object) bool
	attribution *attribution
	// namespaces are those of the targets and of the objects that the request affects. The empty
	// one means cluster-scoped objects. nil means all namespaces.
	namespaces map[string]bool
}

func (s *simulation) namespaceScope() namespaceScope {
	return namespaceScope{collects: s.seed.Verb == Collect, notAskedFor: s.notAskedFor, attribution: &s.attribution}
}

// limitedTo limits the scope to the namespaces of the targets and of the outcomes that the request
// causes.
func (n namespaceScope) limitedTo(targets []object.Ref, all *outcome.Outcomes) namespaceScope {
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

// includes reports whether an outcome belongs in the plan. For a collection in some namespaces,
// garbage, protected objects and earlier deletions elsewhere don't, unless they follow from what it
// does there.
func (n namespaceScope) includes(out *outcome.Outcome) bool {
	o := out.Track.First
	switch {
	case n.collects:
		return !n.notAskedFor(o) || n.attribution.reaches(o)
	case n.namespaces == nil:
		return true
	default:
		return !out.AlreadyHappening || out.Anyway || n.namespaces[o.Namespace]
	}
}

// filterStuck removes attempts in namespaces that the request cannot affect.
func (n namespaceScope) filterStuck(all []report.Stuck) []report.Stuck {
	if n.collects || n.namespaces == nil {
		return all
	}
	return slices.DeleteFunc(all, func(s report.Stuck) bool { return s.Object.Namespace != "" && !n.namespaces[s.Object.Namespace] })
}
