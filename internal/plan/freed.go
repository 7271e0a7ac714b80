package plan

import (
	"context"
	"maps"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
)

// freeDeletions lets deletions go on if an event shows that what obstructed them is gone:
//
//	ns/old is being deleted:          discovery fails because of apiservice/v1beta1.metrics.k8s.io
//	delete apiservice/v1beta1.metrics.k8s.io: discovery works, and the namespace controller goes on with ns/old
func (s *simulation) freeDeletions(e object.Event) {
	was := s.simHealth.Assessment
	if e.Type != object.Deleted || was == nil {
		return
	}
	now := was.Without(e.Object.Ref)
	if now == was {
		return
	}
	// Asked of the assessment before the first request: each of two obstructions is named.
	for _, o := range s.options.Health.FreedBy(e.Object.Ref, s.inDeletions) {
		if o.BeingDeleted() && s.tracks.Phase != outcome.InBaseline {
			s.tracks.Of(o).AddFreedBy(e.Object.Ref)
		}
		delete(s.futures.attempted, s.tracks.Key(o))
	}
	s.simHealth.Assessment, s.freed = now, true
	maps.DeleteFunc(s.simHealth.Refused, func(_ object.Ref, r health.Refusal) bool { return r.By(e.Object.Ref) })
}

// beingDeleted returns the simulated objects that are being deleted in the snapshot.
func (s *simulation) beingDeleted() (list []*object.Object) {
	return object.Filtered(s.options.simulatedObjects(s.snap), (*object.Object).BeingDeleted)
}

// inDeletions returns those and the content of the namespaces among them.
func (s *simulation) inDeletions() (list []*object.Object) {
	namespaces := map[string]bool{}
	for _, o := range s.beingDeleted() {
		namespaces[o.Name] = namespaces[o.Name] || o.Is(object.Namespace)
	}
	for _, o := range s.options.simulatedObjects(s.snap) {
		if o.BeingDeleted() || namespaces[o.Namespace] {
			list = append(list, o)
		}
	}
	return list
}

// wakeFreed lets the collector and the namespace controller try again what was obstructed. It returns false if
// nothing was.
func (s *simulation) wakeFreed(ctx context.Context) bool {
	if !s.freed || s.simHealth.Assessment == nil {
		return false
	}
	s.freed = false
	fails := slices.DeleteFunc(s.beingDeleted(), func(o *object.Object) bool {
		_, fails := s.simHealth.Assessment.CleanupFails(o)
		return !fails
	})
	search, failing := s.overdueSearch(), &outcome.Overdue{}
	if len(fails) > 0 && search.addControllers(ctx, failing, fails) != nil {
		return false // the context has ended, which the driver detects itself
	}
	s.simHealth.Overdue = s.simHealth.Overdue.Revised(failing)
	s.collector.Wake()
	return true
}
