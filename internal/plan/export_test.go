package plan

import (
	"context"
	"errors"

	"github.com/kubectl-gc/kubectl-gc/internal/impact"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// SimulateWhole is Simulate without looking what a delete may reach.
var SimulateWhole = simulate

// IsPart reports whether only a part of the snapshot was simulated.
func (r *Result) IsPart() bool { return len(r.run.beside(nil)) > 0 }

// Foldable is foldable.
func (o Options) Foldable() bool { return o.foldable() }

// SimulateFolded is Simulate of a delete among what it may reach, and then among objects that
// stand for others, however few, with the number of effects that are told of others; got is nil
// where that cannot be, or where they come to different ends.
func SimulateFolded(ctx context.Context, snap *snapshot.Snapshot, seed Seed, o Options) (want, got *Result, stand int, err error) {
	out := impact.OutlineOf(snap)
	if out == nil {
		return nil, nil, 0, nil
	}
	paths := out.Map(Start(out.Snapshot(), o.Rules).Graph())
	starts := paths.Restless()
	for _, ref := range seed.Targets {
		starts = append(starts, snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name))
	}
	folded := fold(snap, paths, starts, o.Rules, len(snap.Objects))
	if folded == nil {
		return nil, nil, 0, nil
	}
	o.seen = folded
	got, err = simulate(ctx, snap, seed, o)
	if errors.Is(err, errUnlike) {
		return nil, nil, 0, nil
	}
	if err != nil {
		return nil, nil, 0, err
	}
	for i := range got.Plan.Effects {
		e := object.Ref(got.Plan.Effects[i].Object)
		if place := snap.Place(snap.Find(e.APIVersion, e.Kind, e.Namespace, e.Name)); folded.fold.By(place) != place {
			stand++
		}
	}
	o.seen = &seen{paths: paths, part: paths.Part(starts...).Objects}
	want, err = simulate(ctx, snap, seed, o)
	return want, got, stand, err
}
