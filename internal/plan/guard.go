package plan

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
)

// Guard is an API that lets reads through, and of writes only those that a plan
// foresaw: the same kind of write to the same object. The engine decides, the
// plan bounds it. What was refused is a Surprise; it ends in a fresh plan, never
// in a wider one. Get one from Result.Guard. It is for one goroutine.
type Guard struct {
	api       engine.API
	foreseen  map[types.UID]*foreseen
	surprises []Surprise
}

var _ engine.API = (*Guard)(nil)

// Surprise is a write that the plan did not foresee.
type Surprise struct {
	Object object.Ref
	// Verb is DELETE or PATCH.
	Verb string
	// Why says what was not foreseen.
	Why string
}

// RefusedError is the answer to a write that the plan did not foresee.
type RefusedError struct{ Surprise Surprise }

// Error names the object and what was not foreseen.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s %s: not in the plan: %s", e.Surprise.Verb, e.Surprise.Object, e.Surprise.Why)
}

// foreseen is what the plan does to one object.
type foreseen struct {
	policies []string
	// dropped are the owners whose references go; lists are the whole lists that
	// are written where the server does not know strategic patches.
	dropped []types.UID
	lists   [][]object.OwnerReference
	unblock bool
	// finalizers are the lists that are left when a finalizer was taken off.
	finalizers [][]string
}

// Guard returns an API over api that carries out no more than the collector did
// in the simulation.
func (r *Result) Guard(api engine.API) *Guard {
	g := &Guard{api: api, foreseen: map[types.UID]*foreseen{}}
	rec := r.run.recorder
	for n, step := range rec.records.all {
		if r.run.futures.over(n) {
			break
		}
		if rec.words.Text(step.actor) != outcome.ActorCollector || step.answer != 0 {
			continue
		}
		switch rec.words.Text(step.verb) {
		case verbDelete:
			f := g.of(step.object.UID)
			f.policies = append(f.policies, rec.words.Text(step.policy))
		case verbPatch:
			g.of(step.object.UID).expect(*step.patch)
		}
	}
	return g
}

func (g *Guard) of(uid types.UID) *foreseen {
	if g.foreseen[uid] == nil {
		g.foreseen[uid] = &foreseen{}
	}
	return g.foreseen[uid]
}

// Surprises lists what was refused, in order.
func (g *Guard) Surprises() []Surprise { return g.surprises }

// Resource maps a kind as the guarded API does.
func (g *Guard) Resource(apiVersion, kind string) (object.Resource, error) {
	return g.api.Resource(apiVersion, kind)
}

// Get reads as the guarded API does.
func (g *Guard) Get(ctx context.Context, ref object.Ref) (*object.Object, error) {
	return g.api.Get(ctx, ref)
}

// Delete lets a DELETE through that is pinned to a UID and that the plan has with
// the same policy.
func (g *Guard) Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error {
	f := g.foreseen[ref.UID]
	switch {
	case o.Preconditions == nil || o.Preconditions.UID == nil || *o.Preconditions.UID != ref.UID:
		return g.refuse(ref, verbDelete, "it does not name the uid")
	case f == nil || o.PropagationPolicy == nil || !slices.Contains(f.policies, string(*o.PropagationPolicy)):
		return g.refuse(ref, verbDelete, "the object is not deleted there, or with another policy")
	}
	return g.api.Delete(ctx, ref, o)
}

// Patch lets a PATCH through that takes off no more than the plan does.
func (g *Guard) Patch(ctx context.Context, ref object.Ref, p object.Patch) error {
	f := g.foreseen[ref.UID]
	switch {
	case p.UID != ref.UID && p.ResourceVersion == "":
		return g.refuse(ref, verbPatch, "it names neither a uid nor a version")
	case f == nil || !f.covers(p):
		return g.refuse(ref, verbPatch, "the object is not changed like that there")
	}
	return g.api.Patch(ctx, ref, p)
}

func (g *Guard) refuse(ref object.Ref, verb, why string) error {
	s := Surprise{Object: ref, Verb: verb, Why: why}
	g.surprises = append(g.surprises, s)
	return &RefusedError{Surprise: s}
}

// expect adds a patch of the plan.
func (f *foreseen) expect(p object.Patch) {
	f.dropped = append(f.dropped, p.DeleteOwners...)
	f.unblock = f.unblock || unblocks(p)
	if p.Owners != nil {
		f.lists = append(f.lists, *p.Owners)
	}
	if p.Finalizers != nil {
		f.finalizers = append(f.finalizers, *p.Finalizers)
	}
}

// covers reports whether every part of a patch is part of the plan. A strategic
// patch of owners that a server refuses is followed by a list; both mean the same
// wish, so a plan that has the list foresees the patch.
func (f *foreseen) covers(p object.Patch) bool {
	switch {
	case p.DeletionTimestamp != nil || len(p.Labels) > 0 || len(p.DeleteFinalizers) > 0 || p.Type == object.JSON:
		return false
	case p.Owners != nil && !slices.ContainsFunc(f.lists, func(l []object.OwnerReference) bool { return slices.Equal(l, *p.Owners) }):
		return false
	case p.Finalizers != nil && !slices.ContainsFunc(f.finalizers, func(l []string) bool { return slices.Equal(l, *p.Finalizers) }):
		return false
	case unblocks(p) && !f.unblock && len(f.lists) == 0:
		return false
	}
	return !slices.ContainsFunc(p.DeleteOwners, func(uid types.UID) bool {
		return !slices.Contains(f.dropped, uid) && !f.leavesOut(uid)
	})
}

// leavesOut reports whether one of the planned lists is without the owner.
func (f *foreseen) leavesOut(uid types.UID) bool {
	return slices.ContainsFunc(f.lists, func(l []object.OwnerReference) bool {
		return !slices.ContainsFunc(l, func(o object.OwnerReference) bool { return o.UID == uid })
	})
}

// unblocks reports whether a patch says nothing but that references stop blocking.
func unblocks(p object.Patch) bool {
	return p.Type == object.StrategicMerge && len(p.DeleteOwners) == 0
}
