package stuck

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Question says what is asked.
type Question struct {
	// Now is when the world was looked at, in seconds since 1970; 0 when not known.
	// Nothing is then said to take long.
	Now int64
	// Objects are those that are asked for; empty for all that is being deleted.
	Objects []object.Ref
	// Namespace restricts what is looked for to one namespace and its content; empty
	// for all.
	Namespace string
	// Kinds restrict what is looked for; empty for all. Of kinds without a namespace all
	// objects are looked at.
	Kinds []object.Resource
	// Labels restrict what is looked for to what has them; nil for all.
	Labels labels.Selector
}

// isAbout reports whether an object is looked for.
func (q Question) isAbout(o *object.Object) bool {
	of := func(r object.Resource) bool { return r.Kind == o.Kind && r.APIVersion() == o.APIVersion }
	switch {
	case !o.BeingDeleted() || len(q.Kinds) > 0 && !slices.ContainsFunc(q.Kinds, of):
		return false
	case q.Labels != nil && !q.Labels.Matches(o.Labels):
		return false
	case q.Namespace == "" || o.Namespace == q.Namespace || o.Is(object.Namespace) && o.Name == q.Namespace:
		return true
	}
	return o.Namespace == "" && len(q.Kinds) > 0
}

// Count counts what is looked for.
func (q Question) Count(snap *snapshot.Snapshot) int {
	n := 0
	for _, o := range snap.Objects {
		if q.isAbout(o) {
			n++
		}
	}
	return n
}

// Objects says of everything that is being deleted what it waits for in the end, and
// what would end that. The collector is asked by a simulation; who removes the
// finalizers of others follows from the evidence, which may be nil.
func Objects(ctx context.Context, snap *snapshot.Snapshot, seen *evidence.World, q Question) (*report.Diagnosis, error) {
	around := evidence.New(snap, seen, q.Now)
	i := &inquiry{ctx: ctx, snap: snap, around: around, seen: around.Evidence(), now: q.Now, finalizers: finalizer.In(snap), ends: map[object.Ref][]end{}, open: map[object.Ref]int{}, partial: map[object.Ref]int{}}
	targets, err := i.targets(q)
	if err != nil {
		return nil, err
	}
	d := &diagnose.Answer{Snapshot: snap}
	if len(q.Objects) == 0 {
		d.Namespace, d.OfAll = q.Namespace, true
	}
	d.Summary.Objects = len(targets)
	if len(targets) == 0 {
		return d.Document(), nil // nothing waits: there is nothing to simulate
	}
	if err := i.simulate(); err != nil {
		return nil, err
	}
	i.index()
	for _, o := range targets {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, e := range i.endsOf(o) {
			d.Findings = append(d.Findings, i.finding(o, e))
			i.restsOn(d, e)
		}
	}
	if err := i.sureRemedies(d.Findings); err != nil {
		return nil, err
	}
	return d.Document(), nil
}

// restsOn says where something that was not seen could change what is said of an end.
func (i *inquiry) restsOn(d *diagnose.Answer, e end) {
	switch e.code {
	case reason.StillInUse, reason.LiveDependentBlocks: // until something takes those
		for _, ref := range append(slices.Clone(e.others), e.chain[len(e.chain)-1].Ref) {
			if o := i.at(object.Ref(ref)); o != nil && !o.BeingDeleted() {
				d.Unseen.Above(i.snap, o)
			}
		}
	case reason.FinalizerControllerUnknown, reason.PolicyUnknown:
		d.Unseen.Doubt()
	case reason.EndNotSeen:
		last := e.chain[len(e.chain)-1].Ref
		d.Unseen.Doubt()
		if o := i.at(object.Ref(last)); o != nil {
			d.Unseen.Owners(i.snap, o)
		}
		if last.Namespace == "" && !last.Is(object.Namespace) {
			d.Unseen.Everywhere()
		} else {
			d.Unseen.In(cmp.Or(last.Namespace, last.Name))
		}
	default:
	}
}

// inquiry is one call of Objects.
type inquiry struct {
	ctx  context.Context
	snap *snapshot.Snapshot
	// around are those who act beside the collector, seen the evidence about them.
	around *evidence.Surroundings
	seen   *evidence.World
	now    int64
	// finalizers says which finalizers must not be taken off.
	finalizers *finalizer.World

	effects map[object.Ref]*report.Effect
	stuck   map[object.Ref]report.Stuck
	// isLate says why nobody goes on with an object who could.
	isLate func(object.Ref) (reason.Code, bool)
	// graph is nil until somebody asks for blockers, see seenByCollector.
	graph *graph.Graph
	// content is what is being deleted, by namespace, and instances by kind.
	content   map[string][]*object.Object
	instances map[schema.GroupKind][]*object.Object
	// events are the evidence by what they are about.
	events map[about][]*evidence.Event

	// ends are those found already; open are the objects on the way, by their places on it.
	ends map[object.Ref][]end
	open map[object.Ref]int
	// circle are the objects that were found without the ends of one that is still on the
	// way; partial says of which place that is the first, and closes what that is of all
	// that was found since the last object on the way.
	circle  []object.Ref
	partial map[object.Ref]int
	closes  int
}

// targets are the objects that are asked for, as far as they are being deleted.
func (i *inquiry) targets(q Question) ([]*object.Object, error) {
	if len(q.Objects) == 0 {
		var list []*object.Object
		for _, o := range i.snap.Objects {
			if q.isAbout(o) {
				list = append(list, o)
			}
		}
		return list, nil
	}
	var list []*object.Object
	for _, ref := range q.Objects {
		o := i.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
		switch {
		case o == nil:
			return nil, fmt.Errorf("%s is not in the snapshot", ref)
		case o.BeingDeleted() && !slices.Contains(list, o):
			list = append(list, o)
		}
	}
	return list, nil
}

// simulate has the collector and its neighbours run to their end when nobody else
// does anything.
func (i *inquiry) simulate() error {
	r, err := plan.Simulate(i.ctx, i.snap, plan.CollectSeed(), plan.Options{Surroundings: i.around, NoSteps: true})
	if err != nil {
		return err
	}
	i.isLate = r.Late
	i.effects = make(map[object.Ref]*report.Effect, len(r.Plan.Effects))
	for n := range r.Plan.Effects {
		i.effects[object.Ref(r.Plan.Effects[n].Object)] = &r.Plan.Effects[n]
	}
	i.stuck = map[object.Ref]report.Stuck{}
	for _, s := range r.Plan.Stuck {
		i.stuck[object.Ref(s.Object)] = s
	}
	return nil
}

// seenByCollector is the graph of a collector that has seen everything and done nothing. It
// costs as much as the simulation, and only what is deleted in the foreground has blockers.
func (i *inquiry) seenByCollector() *graph.Graph {
	if i.graph == nil {
		i.graph = plan.Start(i.snap, engine.Upstream).Graph()
	}
	return i.graph
}

func (i *inquiry) index() {
	i.content, i.instances = map[string][]*object.Object{}, map[schema.GroupKind][]*object.Object{}
	for _, o := range i.snap.Objects {
		if o.BeingDeleted() {
			i.content[o.Namespace] = append(i.content[o.Namespace], o)
			kind := schema.GroupKind{Group: o.Group(), Kind: o.Kind}
			i.instances[kind] = append(i.instances[kind], o)
		}
	}
	i.events = map[about][]*evidence.Event{}
	if i.seen == nil {
		return
	}
	for n := range i.seen.Events {
		e := &i.seen.Events[n]
		k := about{e.About.Kind, e.About.Namespace, e.About.Name}
		i.events[k] = append(i.events[k], e)
	}
}

// about is what an event names: mostly there is no more.
type about struct{ kind, namespace, name string }

// finding is the document's form of one end that an object waits for.
func (i *inquiry) finding(o *object.Object, e end) report.Finding {
	e.proof, e.remedies = slices.Clone(e.proof), slices.Clone(e.remedies)
	i.proveAttachments(&e)
	i.proveEvictions(&e)
	f := report.Finding{
		Code: string(e.code), Severity: reason.Stuck.Severity(e.code), Object: report.RefOf(o.Ref),
		Message: e.message(), Chain: e.chain, More: e.more,
		Finalizer: e.finalizer, Verdict: e.verdict, Proof: e.proof, Remedies: e.remedies,
		Since: metav1.Unix(o.DeletionTimestamp(), 0).UTC().Format("2006-01-02T15:04:05Z"),
	}
	if len(e.chain) > 1 && e.chain[0].Waits == string(reason.BlockingDependents) && e.code != reason.LiveDependentBlocks {
		// The trap of the second delete (S028): another policy ends this waiting.
		i.redelete(o, &e, "lets it go now; what it owns is collected afterwards, or stays as long as it is held itself")
		f.Remedies = slices.Clone(e.remedies)
	}
	if len(e.remedies) > 0 {
		f.Remedy = e.remedies[0].Command
	}
	if i.now != 0 {
		f.ForSeconds = new(int(max(i.around.Age(o), 0)))
	}
	return f
}
