package source

import (
	"context"
	"slices"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Plan simulates a seed with what is known of those who act beside the collector. A
// dump shows it. Of a cluster it is read once it is known how far the seed reaches, and
// nothing but what can matter there; enough may say first that what was simulated
// without is all that is wanted.
func (w World) Plan(ctx context.Context, seed plan.Seed, o plan.Options, enough func(*report.Plan) bool) (*plan.Result, error) {
	var reach kube.Reach
	if w.Client != nil {
		first := o
		first.Explore = 0
		result, err := plan.Simulate(ctx, w.Snapshot, seed, first)
		if err != nil || enough != nil && enough(result.Plan) {
			return result, err
		}
		reach = reachOf(w, result.Plan)
	}
	var err error
	if o.Surroundings, err = w.Surroundings(ctx, reach); err != nil {
		return nil, err
	}
	if w.Client != nil {
		contents, err := w.Client.Contents(ctx, w.found(seed.Targets))
		if err != nil {
			return nil, err
		}
		o.Guards = append(slices.Clone(o.Guards), contents...)
	}
	return plan.Simulate(ctx, w.Snapshot, seed, o)
}

// found lists those of the objects that were seen, without those that change all the time.
func (w World) found(refs []object.Ref) []*object.Object {
	var list []*object.Object
	for _, ref := range refs {
		if o := w.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name); o != nil && !plan.Passing(report.RefOf(o.Ref)) {
			list = append(list, o)
		}
	}
	return list
}

// Surroundings are what is known of those who act beside the collector: what a dump
// shows, and of a cluster what matters within a reach.
func (w World) Surroundings(ctx context.Context, reach kube.Reach) (*evidence.Surroundings, error) {
	if w.Client == nil {
		return evidence.New(w.Snapshot, w.bodies.seen(w.Snapshot), w.TakenAt()), nil
	}
	seen, err := w.Client.Neighbours(ctx, reach)
	if err != nil {
		return nil, err
	}
	return evidence.New(w.Snapshot, seen, w.TakenAt()), nil
}

// What is how an error calls the world that something is not in.
func (w World) What() string { return What(w.Snapshot) }

// What is how an error calls the world that a snapshot shows.
func What(snap *snapshot.Snapshot) string {
	if snap.Source.Server != "" {
		return "this cluster"
	}
	return "the dump"
}

// TakenAt is when the world was looked at, in seconds since 1970; 0 when not known.
func (w World) TakenAt() int64 { return w.Source.Seconds() }

// SecondsOf reads a time; an empty one is 0.
func SecondsOf(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return 0, err
	}
	return t.Unix(), nil
}

// reachOf is what a plan writes to, and what finalizers of others hold then.
func reachOf(w World, p *report.Plan) kube.Reach {
	var r kube.Reach
	written, held := map[*object.Object]bool{}, map[*object.Object]bool{}
	add := func(list *[]*object.Object, have map[*object.Object]bool, ref report.Ref, is func(*object.Object) bool) {
		if o := w.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name); o != nil && !have[o] && is(o) {
			*list = append(*list, o)
			have[o] = true
		}
	}
	always := func(*object.Object) bool { return true }
	for i := range p.Consequences {
		c := &p.Consequences[i]
		add(&r.Written, written, c.Object, always)
		add(&r.Held, held, c.Object, heldByOthers)
	}
	for i := range p.Consequences { // what others had deleted before, and something of ours waits for
		for _, release := range p.Consequences[i].After {
			add(&r.Held, held, release.Object, always)
		}
	}
	for i := range p.Effects { // what was deleted before ends, too, or is held
		e := &p.Effects[i]
		blocked := e.BlockedBy != nil && slices.ContainsFunc(e.BlockedBy.Finalizers, ofOthers)
		if e.AlreadyHappening || blocked {
			add(&r.Written, written, e.Object, always)
		}
		if blocked {
			add(&r.Held, held, e.Object, always)
		}
	}
	return r
}

// ofOthers reports whether a finalizer is removed by somebody else than Kubernetes.
func ofOthers(name string) bool {
	return name != object.Foreground && name != object.Orphan && !evidence.OfManager(name)
}

// heldByOthers reports whether an object has a finalizer of somebody else than Kubernetes.
func heldByOthers(o *object.Object) bool { return slices.ContainsFunc(o.Finalizers(), ofOthers) }

// ReachOf is what the outcome of a single object rests on.
func ReachOf(o *object.Object) kube.Reach {
	r := kube.Reach{Written: []*object.Object{o}}
	if heldByOthers(o) {
		r.Held = r.Written
	}
	return r
}
