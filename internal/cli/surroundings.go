package cli

import (
	"context"
	"slices"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// planned simulates a seed with what is known of those who act beside the collector. A
// dump shows it. Of a cluster it is read once it is known how far the seed reaches, and
// nothing but what can matter there; enough may say first that what was simulated
// without is all that is wanted.
func planned(ctx context.Context, w world, seed plan.Seed, o plan.Options, enough func(*report.Plan) bool) (*plan.Result, error) {
	if w.client == nil {
		o.Surroundings = w.surroundings(w.bodies.seen(w.Snapshot))
		return plan.Simulate(ctx, w.Snapshot, seed, o)
	}
	first := o
	first.Explore = 0
	result, err := plan.Simulate(ctx, w.Snapshot, seed, first)
	if err != nil || enough != nil && enough(result.Plan) {
		return result, err
	}
	seen, err := w.client.Neighbours(ctx, reachOf(w, result.Plan))
	if err != nil {
		return nil, err
	}
	o.Surroundings = w.surroundings(seen)
	return plan.Simulate(ctx, w.Snapshot, seed, o)
}

// surroundings are those of the world as the evidence shows them, which may be nil.
func (w world) surroundings(seen *evidence.World) *evidence.Surroundings {
	at := int64(0)
	if t, err := time.Parse(time.RFC3339, w.Source.TakenAt); err == nil {
		at = t.Unix()
	}
	return evidence.New(w.Snapshot, seen, at)
}

// reachOf is what a plan writes to, and what finalizers of others hold then.
func reachOf(w world, p *report.Plan) kube.Reach {
	var r kube.Reach
	written, held := map[*object.Object]bool{}, map[*object.Object]bool{}
	for i := range p.Consequences {
		c := &p.Consequences[i].Object
		o := w.Find(c.APIVersion, c.Kind, c.Namespace, c.Name)
		if o == nil {
			continue
		}
		r.Written = append(r.Written, o)
		written[o] = true
		if slices.ContainsFunc(o.Finalizers(), ofOthers) {
			r.Held = append(r.Held, o)
			held[o] = true
		}
	}
	for i := range p.Consequences { // what others had deleted before, and something of ours waits for
		for _, release := range p.Consequences[i].After {
			o := w.Find(release.Object.APIVersion, release.Object.Kind, release.Object.Namespace, release.Object.Name)
			if o != nil && !held[o] {
				r.Held = append(r.Held, o)
				held[o] = true
			}
		}
	}
	for i := range p.Effects { // what was deleted before ends, too, or is held
		e := &p.Effects[i]
		o := w.Find(e.Object.APIVersion, e.Object.Kind, e.Object.Namespace, e.Object.Name)
		if o == nil {
			continue
		}
		blocked := e.BlockedBy != nil && slices.ContainsFunc(e.BlockedBy.Finalizers, ofOthers)
		if (e.Baseline || blocked) && !written[o] {
			r.Written = append(r.Written, o)
		}
		if blocked && !held[o] {
			r.Held = append(r.Held, o)
		}
	}
	return r
}

// ofOthers tells whether a finalizer is removed by somebody else than Kubernetes.
func ofOthers(name string) bool {
	return name != object.Foreground && name != object.Orphan && !evidence.OfManager(name)
}

// reachOfObject is what the fate of a single object rests on.
func reachOfObject(o *object.Object) kube.Reach {
	r := kube.Reach{Written: []*object.Object{o}}
	if slices.ContainsFunc(o.Finalizers(), ofOthers) {
		r.Held = r.Written
	}
	return r
}
