package plan

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// components maps each controller that can be judged overdue to the component that runs it. It
// lacks those that only remove finalizers: componentOf recognizes them by the finalizer.
var components = map[string]health.Component{
	controllers.NamespaceName:  health.NamespaceController,
	controllers.DefinitionName: health.CRDController,
	controllers.KubeletName:    health.Kubelet,
	controllers.PodGCName:      health.Manager,
}

// componentOf returns the component that must work for a controller to act. It is zero if that
// cannot be judged.
func componentOf(c controllers.Controller) health.Component {
	if r, ok := c.(controllers.Releaser); ok && health.OfManager(r.Finalizer()) {
		return health.Manager
	}
	return components[c.Name()]
}

// overdueSearch finds overdue deletions in a snapshot: those that a controller could continue at
// once, and should have continued minutes ago.
type overdueSearch struct {
	snap      *snapshot.Snapshot
	simHealth *outcome.Health
	recorder  *recorder
	rules     engine.Rules
	collector assumedCollector
}

// find returns the overdue deletions. nil if there are none. If the health of the controllers is
// unknown, only a collector that writes nothing is overdue.
func (s overdueSearch) find(ctx context.Context) (*outcome.Overdue, error) {
	l := &outcome.Overdue{CollectorStopped: s.collector.writesNothing()}
	if err := s.addOverdue(ctx, l); err != nil {
		return nil, err
	}
	if l.Empty() {
		return nil, nil
	}
	return l, nil
}

// addOverdue adds the deletions that were unfinished in the snapshot.
func (s overdueSearch) addOverdue(ctx context.Context, l *outcome.Overdue) error {
	assessment := s.simHealth.Assessment
	if assessment == nil {
		return nil
	}
	var old []*object.Object
	stopped := assessment.ManagerState() == report.FinalizerControllerGone
	for _, o := range s.snap.Objects {
		if !o.BeingDeleted() {
			continue
		}
		if _, fails := assessment.CleanupFails(o); fails || stopped || assessment.Overdue(o) {
			old = append(old, o)
		}
	}
	if len(old) == 0 {
		return nil
	}
	if err := s.addControllers(ctx, l, old); err != nil {
		return err
	}
	if s.collector.state == report.CollectorRestarted || l.CollectorStopped {
		return nil
	}
	return s.addCollector(ctx, l, old)
}

// addControllers asks every controller what it would write in the snapshot, and adds the deletions
// that it is overdue with to l.
func (s overdueSearch) addControllers(ctx context.Context, l *outcome.Overdue, old []*object.Object) error {
	list := controllers.All(s.simHealth, s.simHealth, s.recorder.snap.Version().Rules())
	slices.SortStableFunc(list, func(a, b controllers.Controller) int {
		return cmp.Compare(componentOf(b), componentOf(a)) // a pod is overdue at its kubelet rather than at the Job controller that counts it
	})
	for _, c := range list {
		by := componentOf(c)
		if by == 0 {
			continue
		}
		t := pendingTurns{recorder: s.recorder, progressed: map[object.Ref]bool{}, refused: map[object.Ref]bool{}}
		note := func(_ context.Context, i controllers.Intent) (*object.Object, error) { return nil, t.note(i) }
		var err error
		s.recorder.runAs(c.Name(), "", func() { _, err = c.Step(ctx, s.recorder, note) })
		if err != nil {
			return err
		}
		for _, o := range old {
			key := o.Ref.WithoutUID()
			_, fails := s.simHealth.Assessment.CleanupFails(o)
			if !t.progressed[key] && (!fails || !emptiesContainer(by, o)) || t.refused[key] || s.contentHidden(o) {
				continue
			}
			if why, ok := s.simHealth.Assessment.Late(o, by); ok {
				l.Add(c.Name(), o, why, finalizerRemovedBy(c))
			}
		}
	}
	return nil
}

// emptiesContainer reports whether o is a namespace or a definition, and a component is the
// controller that deletes its content.
func emptiesContainer(by health.Component, o *object.Object) bool {
	return by == health.NamespaceController && o.Is(object.Namespace) || by == health.CRDController && o.Is(object.CRD)
}

// contentHidden reports whether the content of an object cannot even be listed.
func (s overdueSearch) contentHidden(o *object.Object) bool {
	_, hidden := s.simHealth.Hidden(o)
	return hidden
}

// finalizerRemovedBy returns the finalizer that a controller removes. Empty if there is none.
func finalizerRemovedBy(c controllers.Controller) string {
	switch r, ok := c.(controllers.Releaser); {
	case ok:
		return r.Finalizer()
	case c.Name() == controllers.DefinitionName:
		return controllers.DefinitionCleanup
	default:
		return ""
	}
}

// pendingTurns are the deletions that one controller would continue, found in a pass in which none of
// its writes is made.
type pendingTurns struct {
	recorder *recorder
	// progressed contains the objects whose deletion a write would continue. refused contains those
	// that stay for certain, because the server would refuse a write for them. The keys have no UIDs.
	progressed, refused map[object.Ref]bool
}

// note records an intent, and answers it with an error if it would change anything.
func (t *pendingTurns) note(i controllers.Intent) error {
	switch i.Verb {
	case controllers.Delete:
		return t.noteWrite(i.For, object.Delete, i.Ref)
	case controllers.DeleteCollection, controllers.DeleteStored:
		return t.noteCollection(i)
	case controllers.Patch:
		return t.noteWrite(i.For, object.PatchVerb, i.Ref)
	default:
		return t.noteWrite(i.For, object.Update, i.Ref)
	}
}

// noteWrite records a write that continues the deletion of an object.
func (t *pendingTurns) noteWrite(of object.Ref, verb object.Verbs, ref object.Ref) error {
	if _, refused := t.recorder.refusalOf(verb, ref); refused {
		t.refused[of.WithoutUID()] = true
	}
	t.progressed[of.WithoutUID()] = true
	return errOverdue
}

// noteCollection records the delete of each object of a collection. Content that is already being
// deleted needs no write.
func (t *pendingTurns) noteCollection(i controllers.Intent) (err error) {
	gr := i.Resource.GroupResource()
	for _, o := range t.recorder.ObjectsOf(gr, i.Namespace) {
		emptiesNamespace := i.Verb == controllers.DeleteCollection
		switch {
		case emptiesNamespace && (o.BeingDeleted() && o.HandlesDependents() || t.definitionDeleted(gr)):
			// Whether or not the server refuses this delete, the collector may release the object,
			// or it is removed from storage with its definition.
			t.progressed[i.For.WithoutUID()], err = true, errOverdue
		case !o.BeingDeleted():
			err = t.noteWrite(i.For, object.Delete, o.Ref)
		}
	}
	return err
}

// definitionDeleted reports whether the definition of a resource is being deleted.
func (t *pendingTurns) definitionDeleted(gr schema.GroupResource) bool {
	d := t.recorder.snap.FindKind(object.CRD, "", gr.String())
	return d != nil && d.BeingDeleted()
}

// addCollector adds the objects that have a finalizer of the collector and that it could continue
// with. The collector never releases an object with both of its finalizers. (Q20)
func (s overdueSearch) addCollector(ctx context.Context, l *outcome.Overdue, old []*object.Object) error {
	var foreground, orphans []*object.Object
	for _, o := range old {
		switch f, orphan := o.HasFinalizer(object.Foreground), o.HasFinalizer(object.Orphan); {
		case !s.snap.CoversDependentsOf(o.Ref): // it may wait for a dependent that was not read
		case f && !orphan:
			foreground = append(foreground, o)
		case orphan && !f:
			orphans = append(orphans, o)
		}
	}
	add := func(o *object.Object) {
		if why, ok := s.collector.lateness(s.simHealth.Assessment, o); ok {
			l.Add(outcome.ActorCollector, o, why, "")
		}
	}
	if len(foreground) > 0 {
		c, world := Open(s.snap, s.rules)
		for _, o := range foreground {
			if s.collectorHasWork(ctx, c, world, o) {
				add(o)
			}
		}
	}
	if len(orphans) == 0 {
		return nil
	}
	released, err := s.releasedByCollector(ctx, orphans)
	for _, o := range released {
		add(o)
	}
	return err
}

// collectorHasWork reports whether the collector has work for an object that is being deleted in
// the foreground: deleting a dependent that is not being deleted yet or, if none is left, removing
// the finalizer. It returns false if the server refuses such a write, because then the server holds
// the object. A recent dependent of an object that waits for another one doesn't count: the
// collector looks at it only once the other one is gone.
//
// Upstream: pkg/controller/garbagecollector/graph_builder.go processGraphChanges: does not queue an
// owner for a dependent that is added.
func (s overdueSearch) collectorHasWork(ctx context.Context, c *engine.Collector, world engine.World, o *object.Object) bool {
	decide := func(x *object.Object) (d engine.Decision) {
		if a, ok := c.Inspect(x.UID); ok {
			d = c.Decide(engine.Lookup(ctx, world, s.rules, a))
		}
		return d
	}
	refused := func(requests []engine.Request, x *object.Object) bool {
		return slices.ContainsFunc(requests, func(q engine.Request) bool {
			verb := object.PatchVerb
			if q.Verb == engine.DeleteObject {
				verb = object.Delete
			}
			_, no := s.recorder.refusalOf(verb, x.Ref)
			return no
		})
	}
	d := decide(o)
	could := len(d.Requests) > 0
	if refused(d.Requests, o) {
		return false
	}
	g := c.Graph()
	waits := slices.ContainsFunc(d.Blockers, func(id graph.ID) bool { return !g.Virtual(id) && g.Object(id).BeingDeleted() })
	for _, id := range d.Blockers {
		x := g.Object(id)
		if g.Virtual(id) || x.BeingDeleted() || waits && s.simHealth.Assessment.Recent(x) {
			continue
		}
		requests := decide(x).Requests
		if refused(requests, x) {
			return false
		}
		could = could || len(requests) > 0
	}
	return could
}

// releasedByCollector returns the objects that lose their orphan finalizer if a collector starts on
// the snapshot without other controllers.
func (s overdueSearch) releasedByCollector(ctx context.Context, orphans []*object.Object) ([]*object.Object, error) {
	r := newRecorder(outcome.NewHealth(s.snap, s.simHealth.Assessment), s.snap.Objects, RecordRequests)
	c := Start(s.snap, s.rules)
	if err := engine.Drain(ctx, c, r, engine.Follow{}); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(orphans), func(o *object.Object) bool {
		now, err := r.server.Get(ctx, o.Ref)
		return err == nil && now.UID == o.UID && now.HasFinalizer(object.Orphan)
	}), nil
}

// errOverdue is the answer to a write that an overdue controller would have to make.
var errOverdue = errors.New("should have been changed or deleted minutes ago")

// collectorOverdue reports whether the collector is overdue with a write: to an object that still
// has its finalizer, or to a dependent that it must delete or release first. A stopped collector is
// overdue with every write. It returns the reason.
func (r *recorder) collectorOverdue(ref object.Ref) (reason.Code, bool) {
	if r.simHealth.Overdue == nil || r.actor != outcome.ActorCollector {
		return "", false
	}
	if r.simHealth.Overdue.CollectorStopped {
		return reason.CollectorNotWorking, true
	}
	if r.simHealth.Overdue.Stops(outcome.ActorCollector, ref) {
		st, _ := r.simHealth.Overdue.Of(ref)
		return outcome.LateReason(st.Reason), true
	}
	owner := r.simHealth.Overdue.Owner(r.server, ref)
	if owner == nil {
		return "", false
	}
	st, _ := r.simHealth.Overdue.Of(owner.Ref)
	return outcome.LateReason(st.Reason), true
}

// Overdue returns the reason why the deletion of an object is overdue. It returns false if no
// controller is overdue.
func (r *Result) Overdue(ref object.Ref) (reason.Code, bool) {
	l := r.run.simHealth.Overdue
	if r.run.futures.recovered { // no controller is overdue in that future
		l = r.run.futures.overdue
	}
	st, ok := l.Of(ref)
	return outcome.LateReason(st.Reason), ok
}
