package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// assumedCollector is the state of the garbage collector that a simulation assumes. It decides
//
//	                               Running          Restarted    Stopped
//	an unfinished deletion that    Unknown, after   continued    Blocked
//	it could continue              health.OverdueAfter
//	what it remembers from before  explored         nothing      nothing
//	every other write              sent             sent         if requested: not sent
//
// in overdueSearch, possibleFacts, and outcome.Overdue.CollectorStopped. In the later future every
// collector works.
//
// Evidence is about the moment of the snapshot: a collector that does not run at that moment is
// expected to be started again, and what it has not begun is simulated. Plan.Manager warns of that.
// A state that was requested holds until the later future.
type assumedCollector struct {
	state report.CollectorState
	// requested is true if Options.Collector sets the state.
	requested bool
}

// assumeCollector returns the state of the collector for a request. Our own collector starts with
// the run, whatever is requested.
func (o Options) assumeCollector(seed Seed) assumedCollector {
	switch {
	case seed.Verb == Collect && o.strict():
		return assumedCollector{state: report.CollectorRestarted}
	case o.Collector != "":
		return assumedCollector{state: o.Collector, requested: true}
	case o.Health != nil:
		return assumedCollector{state: o.Health.CollectorState()}
	default:
		return assumedCollector{state: report.CollectorRunning}
	}
}

// mayRemember reports whether the collector may remember something from before the snapshot.
func (c assumedCollector) mayRemember() bool { return c.state == report.CollectorRunning }

// writesNothing reports whether the collector sends no request before the later future.
func (c assumedCollector) writesNothing() bool {
	return c.requested && c.state == report.CollectorStopped
}

// lateness judges an unfinished deletion that the collector could continue. It returns false if the
// collector continues it.
func (c assumedCollector) lateness(assessment *health.Assessment, o *object.Object) (health.Lateness, bool) {
	l, late := assessment.LateCollector(o, c.state)
	if c.requested && c.state == report.CollectorRunning {
		l.Reason = reason.DeletionForgotten // whatever its lease says
	}
	return l, late
}

// decidingCollector returns the state of the collector if it was requested, or if another state would change
// the end of an object in the account. That is known from the reasons of the effects, and from the
// explored ends. Empty otherwise, and for our own collector.
func (s *simulation) decidingCollector(p *report.Plan) report.CollectorState {
	c := s.assumedCollector
	switch {
	case s.ourCollector():
		return ""
	case c.requested:
		return c.state
	}
	for i := range p.Effects {
		if e := &p.Effects[i]; e.Consequence != nil && dependsOnCollector(e) {
			return c.state
		}
	}
	return ""
}

// dependsOnCollector reports whether an effect is known to be another one in another state of the
// collector.
func dependsOnCollector(e *report.Effect) bool {
	late := []reason.Code{reason.CollectorNotWorking, reason.DeletionMissed}
	return slices.Contains(late, reason.Code(e.Reason)) ||
		slices.ContainsFunc(e.Otherwise, func(o report.Otherwise) bool { return o.Because == report.Memory })
}
