package plan

import (
	"cmp"
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// doers are the controllers of which it can be told that they are late, beside those that
// take finalizers off in kube-controller-manager.
var doers = map[string]evidence.Doer{
	controllers.NamespaceName:  evidence.NamespaceController,
	controllers.DefinitionName: evidence.CRDController,
	controllers.KubeletName:    evidence.Kubelet,
	controllers.PodGCName:      evidence.Manager,
}

// doerOf is who has to work for a controller to act; zero where nobody can tell.
func doerOf(c controllers.Controller) evidence.Doer {
	if r, ok := c.(controllers.Releaser); ok && evidence.OfManager(r.Finalizer()) {
		return evidence.Manager
	}
	return doers[c.Name()]
}

// lateSearch looks who could go on with what in a snapshot, before anything else happens,
// and should long have done so.
type lateSearch struct {
	snap       *snapshot.Snapshot
	neighbours *outcome.Neighbours
	recorder   *recorder
	rules      engine.Rules
	// ours: the collector is our own, which goes on now.
	ours bool
}

// find is nil where nobody is late.
func (s lateSearch) find(ctx context.Context) (*outcome.Late, error) {
	around := s.neighbours.Around
	if around == nil {
		return nil, nil
	}
	var old []*object.Object
	stopped := around.ManagerStands() == report.FinalizerControllerGone
	for _, o := range s.snap.Objects {
		if !o.BeingDeleted() {
			continue
		}
		if _, fails := around.Fails(o); fails || stopped || around.Overdue(o) {
			old = append(old, o)
		}
	}
	if len(old) == 0 {
		return nil, nil
	}
	l := &outcome.Late{Turns: map[outcome.Turn]evidence.Lateness{}, Standing: map[object.Ref]outcome.Standstill{}}
	if err := s.lateControllers(ctx, l, old); err != nil {
		return nil, err
	}
	if !s.ours {
		if err := s.lateCollector(ctx, l, old); err != nil {
			return nil, err
		}
	}
	if len(l.Turns) == 0 {
		return nil, nil
	}
	return l, nil
}

// lateControllers has every controller look at the snapshot.
func (s lateSearch) lateControllers(ctx context.Context, l *outcome.Late, old []*object.Object) error {
	list := controllers.All(s.neighbours, s.neighbours, s.recorder.snap.Version().Rules())
	slices.SortStableFunc(list, func(a, b controllers.Controller) int {
		return cmp.Compare(doerOf(b), doerOf(a)) // who ends a pod is named before who counts it
	})
	for _, c := range list {
		by := doerOf(c)
		if by == 0 {
			continue
		}
		t := trial{recorder: s.recorder, would: map[object.Ref]bool{}, refused: map[object.Ref]bool{}}
		var err error
		s.recorder.as(c.Name(), "", func() { _, err = c.Step(ctx, t) })
		if err != nil {
			return err
		}
		for _, o := range old {
			key := o.Ref.WithoutUID()
			_, fails := s.neighbours.Around.Fails(o)
			if !t.would[key] && (!fails || !cleans(by, o)) || t.refused[key] || s.unreadable(o) {
				continue
			}
			if why, ok := s.neighbours.Around.Late(o, by); ok {
				l.Add(c.Name(), o, why, heldBy(c))
			}
		}
	}
	return nil
}

// cleans reports whether a doer is who empties a namespace or a definition.
func cleans(by evidence.Doer, o *object.Object) bool {
	return by == evidence.NamespaceController && o.Is(object.Namespace) || by == evidence.CRDController && o.Is(object.CRD)
}

// unreadable reports whether what is in an object cannot even be listed.
func (s lateSearch) unreadable(o *object.Object) bool {
	_, hidden := s.neighbours.Hidden(o)
	return hidden
}

// heldBy is the finalizer that a controller takes off.
func heldBy(c controllers.Controller) string {
	switch r, ok := c.(controllers.Releaser); {
	case ok:
		return r.Finalizer()
	case c.Name() == controllers.DefinitionName:
		return controllers.DefinitionCleanup
	default:
		return ""
	}
}

// trial is the world for one pass in which a controller shows what it would do: it
// notes the objects for whose end that is, and changes nothing.
type trial struct {
	*recorder
	would map[object.Ref]bool
	// refused are those for which the server would refuse something: they stay for
	// certain.
	refused map[object.Ref]bool
}

var _ controllers.World = trial{}

// try notes a write, and refuses it.
func (t trial) try(verb object.Verbs, ref object.Ref) error {
	of := t.sake(ref).WithoutUID()
	if _, refused := t.refuses(verb, ref); refused {
		t.refused[of] = true
	}
	t.would[of] = true
	return errLate
}

// Delete notes that an object would be deleted.
func (t trial) Delete(_ context.Context, ref object.Ref, _ metav1.DeleteOptions) error {
	return t.try(object.Delete, ref)
}

// DeleteCollection notes that content would be deleted; what is on its way out needs
// nobody.
func (t trial) DeleteCollection(_ context.Context, r object.Resource, namespace string, _ labels.Selector, _ metav1.DeleteOptions) error {
	return t.tryAll(r.GroupResource(), namespace)
}

// DeleteStored notes that instances would be deleted.
func (t trial) DeleteStored(_ context.Context, gr schema.GroupResource, namespace string) error {
	return t.tryAll(gr, namespace)
}

func (t trial) tryAll(gr schema.GroupResource, namespace string) (err error) {
	for _, o := range t.ObjectsOf(gr, namespace) {
		mine := t.actor == controllers.NamespaceName
		switch {
		case mine && (o.BeingDeleted() && o.HandlesDependents() || t.emptied(gr)):
			// Whether or not the server refuses this delete, the collector may let it go, or it
			// goes from storage with its definition.
			t.would[t.sake(o.Ref).WithoutUID()], err = true, errLate
		case !o.BeingDeleted():
			err = t.try(object.Delete, o.Ref)
		}
	}
	return err
}

// emptied reports whether the definition of a resource is being deleted.
func (t trial) emptied(gr schema.GroupResource) bool {
	d := t.snap.FindKind(object.CRD, "", gr.String())
	return d != nil && d.BeingDeleted()
}

// Update notes that an object would be changed.
func (t trial) Update(_ context.Context, o *object.Object) (*object.Object, error) {
	return nil, t.try(object.Update, o.Ref)
}

// Patch notes the same.
func (t trial) Patch(_ context.Context, ref object.Ref, _ object.Patch) error {
	return t.try(object.PatchVerb, ref)
}

// Finalize notes that a namespace would be let go.
func (t trial) Finalize(_ context.Context, o *object.Object) (*object.Object, error) {
	return nil, t.try(object.Update, o.Ref)
}

// lateCollector looks what the collector would do for the objects that have a finalizer
// of it. One with both of its finalizers it never frees, early or late. (Q20)
func (s lateSearch) lateCollector(ctx context.Context, l *outcome.Late, old []*object.Object) error {
	var foreground, orphans []*object.Object
	for _, o := range old {
		switch f, orphan := o.HasFinalizer(object.Foreground), o.HasFinalizer(object.Orphan); {
		case !s.snap.CoversDependentsOf(o.Ref): // it may wait for one that was not read
		case f && !orphan:
			foreground = append(foreground, o)
		case orphan && !f:
			orphans = append(orphans, o)
		}
	}
	add := func(o *object.Object) {
		if why, ok := s.neighbours.Around.Late(o, evidence.Collector); ok {
			l.Add(outcome.ActorCollector, o, why, "")
		}
	}
	if len(foreground) > 0 {
		c, world := Open(s.snap, s.rules)
		for _, o := range foreground {
			if s.couldGoOn(ctx, c, world, o) {
				add(o)
			}
		}
	}
	if len(orphans) == 0 {
		return nil
	}
	released, err := s.releasedAlone(ctx, orphans)
	for _, o := range released {
		add(o)
	}
	return err
}

// couldGoOn reports whether the collector has something to do for an object that is being
// deleted in the foreground: to delete a dependent that nobody has deleted, or, where
// none is left, to take its finalizer off. A server that refuses it holds the object. What was
// made while it waits for another one it looks at when that has gone.
//
// Upstream: pkg/controller/garbagecollector/graph_builder.go processGraphChanges: does not queue an
// owner for a dependent that is added.
func (s lateSearch) couldGoOn(ctx context.Context, c *engine.Collector, world engine.World, o *object.Object) bool {
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
			_, no := s.recorder.refuses(verb, x.Ref)
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
		if g.Virtual(id) || x.BeingDeleted() || waits && s.neighbours.Around.Recent(x) {
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

// releasedAlone are those objects that a collector which starts on the snapshot, with
// nobody beside it, releases after their dependents have been orphaned.
func (s lateSearch) releasedAlone(ctx context.Context, orphans []*object.Object) ([]*object.Object, error) {
	r := newRecorder(outcome.NewNeighbours(s.snap, s.neighbours.Around), s.snap.Objects, false)
	c := Start(s.snap, s.rules)
	if err := engine.Drain(ctx, c, r, engine.Follow{}); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(orphans), func(o *object.Object) bool {
		now, err := r.server.Get(ctx, o.Ref)
		return err == nil && now.UID == o.UID && now.HasFinalizer(object.Orphan)
	}), nil
}
