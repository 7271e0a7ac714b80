package diagnose

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// StuckQuestion selects the objects to diagnose.
type StuckQuestion struct {
	// Now is the time of the snapshot, in seconds since 1970; 0 if unknown. No deletion is then
	// reported as overdue.
	Now int64
	// Objects are the requested objects; empty for all that are being deleted.
	Objects []object.Ref
	// Namespace limits the search to one namespace and its content; empty for all.
	Namespace string
	// Kinds limits the search; empty for all kinds. Objects of cluster-scoped kinds are included
	// whatever Namespace is.
	Kinds []object.Resource
	// Labels limits the search to objects with these labels; nil for all.
	Labels labels.Selector
}

// isAbout reports whether an object is searched for.
func (q StuckQuestion) isAbout(o *object.Object) bool {
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

// Count returns the number of objects that are searched for.
func (q StuckQuestion) Count(snap *snapshot.Snapshot) int {
	return object.Count(snap.Objects, q.isAbout)
}

// Stuck reports, for each object that is being deleted, what it finally waits for, and what would
// end that. It also reports cordoned nodes with blocked drains. A simulation shows what the
// collector does. seen is the evidence whether other controllers remove their finalizers; it may be
// nil. Unread evidence proves nothing.
func Stuck(ctx context.Context, snap *snapshot.Snapshot, seen *health.Evidence, q StuckQuestion) (*report.Diagnosis, error) {
	judged := health.New(snap, seen, q.Now)
	i := &inquiry{ctx: ctx, snap: snap, health: judged, seen: judged.Evidence(), now: q.Now, finalizers: finalizer.In(snap), ends: map[object.Ref][]end{}, open: map[object.Ref]int{}, partial: map[object.Ref]int{}}
	targets, err := i.targets(q)
	if err != nil {
		return nil, err
	}
	d := &answer{Snapshot: snap}
	if len(q.Objects) == 0 {
		d.Namespace, d.OfAll = q.Namespace, true
	}
	d.Summary.Objects = len(targets)
	i.drains(d, q)
	if len(targets) == 0 {
		return d.Document(), nil // nothing to simulate
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

// restsOn records where unseen objects could change what is said about an end.
func (i *inquiry) restsOn(d *answer, e end) {
	switch e.code {
	case reason.StillInUse, reason.LiveDependentBlocks: // until something deletes these
		for _, ref := range append(slices.Clone(e.others), e.chain[len(e.chain)-1].Ref) {
			if o := i.at(ref); o != nil && !o.BeingDeleted() {
				d.Unseen.Above(i.snap, o)
			}
		}
	case reason.FinalizerControllerUnknown, reason.PolicyUnknown:
		d.Unseen.Doubt()
	case reason.EndNotSeen:
		last := e.chain[len(e.chain)-1].Ref
		d.Unseen.Doubt()
		if o := i.at(last); o != nil {
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

// inquiry is the state of one call of Stuck.
type inquiry struct {
	ctx  context.Context
	snap *snapshot.Snapshot
	// health is the health of controllers and APIs, seen the evidence for it.
	health *health.Assessment
	seen   *health.Evidence
	now    int64
	// finalizers knows which finalizers must not be removed.
	finalizers *finalizer.World

	effects map[object.Ref]*report.Effect
	stuck   map[object.Ref]report.Stuck
	// isOverdue returns why the deletion of an object is overdue.
	isOverdue func(object.Ref) (reason.Code, bool)
	// graph is that of a collector that has observed everything and done nothing. blockers computes it on
	// first use: it costs as much as the simulation, and only foreground deletions need it.
	graph *graph.Graph
	// content has the objects that are being deleted by namespace, instances by kind.
	content   map[string][]object.Ref
	instances map[schema.GroupKind][]object.Ref
	// events has the events by the objects that they are about.
	events map[about][]*health.Event

	// ends caches results. open has the objects on the current path, by position.
	ends map[object.Ref][]end
	open map[object.Ref]int
	// circle has the objects that were found without the ends of one that is still open. partial has
	// the position of the first such open object for each. closes is the lowest such position found
	// since the last open object.
	circle  []object.Ref
	partial map[object.Ref]int
	closes  int
}

// targets returns the requested objects that are being deleted.
func (i *inquiry) targets(q StuckQuestion) ([]*object.Object, error) {
	if len(q.Objects) == 0 {
		return object.Filtered(i.snap.Objects, q.isAbout), nil
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

// simulate runs the collector and the other controllers to the end, without any request.
func (i *inquiry) simulate() error {
	r, err := plan.Simulate(i.ctx, i.snap, plan.CollectSeed(), plan.Options{Health: i.health, Record: plan.RecordRequests})
	if err != nil {
		return err
	}
	i.isOverdue = r.Overdue
	i.effects = make(map[object.Ref]*report.Effect, len(r.Plan.Effects))
	for n := range r.Plan.Effects {
		i.effects[r.Plan.Effects[n].Object] = &r.Plan.Effects[n]
	}
	i.stuck = map[object.Ref]report.Stuck{}
	for _, s := range r.Plan.Stuck {
		i.stuck[s.Object] = s
	}
	return nil
}

func (i *inquiry) index() {
	i.content, i.instances = map[string][]object.Ref{}, map[schema.GroupKind][]object.Ref{}
	for _, o := range i.snap.Objects {
		if o.BeingDeleted() {
			i.content[o.Namespace] = append(i.content[o.Namespace], o.Ref)
			kind := schema.GroupKind{Group: o.Group(), Kind: o.Kind}
			i.instances[kind] = append(i.instances[kind], o.Ref)
		}
	}
	i.events = map[about][]*health.Event{}
	if i.seen == nil {
		return
	}
	for n := range i.seen.Events {
		e := &i.seen.Events[n]
		k := about{e.About.Kind, e.About.Namespace, e.About.Name}
		i.events[k] = append(i.events[k], e)
	}
}

// about identifies the object of an event, which often has no more than these fields.
type about struct{ kind, namespace, name string }

// finding converts one end that an object waits for.
func (i *inquiry) finding(o *object.Object, e end) report.Finding {
	e.proof, e.remedies = slices.Clone(e.proof), slices.Clone(e.remedies)
	i.proveAttachments(&e)
	i.proveEvictions(&e)
	f := report.Finding{
		Code: string(e.code), Severity: reason.Stuck.Severity(e.code), Object: o.Ref,
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
		f.ForSeconds = new(int(max(i.health.Age(o), 0)))
	}
	return f
}
