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

// Plan simulates a seed with evidence about other controllers. For a cluster it first simulates
// without evidence, and then reads only the evidence that matters for the objects reached. enough
// may accept the first result; it may be nil.
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

// found returns the existing objects of refs, except kinds that change constantly.
func (w World) found(refs []object.Ref) []*object.Object {
	var list []*object.Object
	for _, ref := range refs {
		if o := w.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name); o != nil && !plan.Passing(report.RefOf(o.Ref)) {
			list = append(list, o)
		}
	}
	return list
}

// Surroundings returns the evidence about other controllers: from the dump, or from the cluster
// within a reach.
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

// What names the input in an error.
func (w World) What() string { return What(w.Snapshot) }

// What names the input of a snapshot in an error.
func What(snap *snapshot.Snapshot) string {
	if snap.Source.Server != "" {
		return "this cluster"
	}
	return "the dump"
}

// TakenAt returns the time of the snapshot in seconds since 1970; 0 if unknown.
func (w World) TakenAt() int64 { return w.Source.Seconds() }

// SecondsOf parses a time to seconds since 1970; an empty one is 0.
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

// reachOf returns the objects that a plan changes, and those held by finalizers of other
// controllers.
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
	for i := range p.Consequences { // objects of earlier deletions that ours wait for
		for _, release := range p.Consequences[i].After {
			add(&r.Held, held, release.Object, always)
		}
	}
	for i := range p.Effects { // earlier deletions also finish, or are held
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

// ofOthers reports whether a finalizer is removed by a controller outside of Kubernetes.
func ofOthers(name string) bool {
	return name != object.Foreground && name != object.Orphan && !evidence.OfManager(name)
}

// heldByOthers reports whether an object has a finalizer of a controller outside of Kubernetes.
func heldByOthers(o *object.Object) bool { return slices.ContainsFunc(o.Finalizers(), ofOthers) }

// ReachOf returns the reach of a single object.
func ReachOf(o *object.Object) kube.Reach {
	r := kube.Reach{Written: []*object.Object{o}}
	if heldByOthers(o) {
		r.Held = r.Written
	}
	return r
}
