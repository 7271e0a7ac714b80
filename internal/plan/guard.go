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

// Guard is an API that allows all reads, and only those writes that a plan contains: the same kind
// of write to the same object. The engine decides, and the plan limits it. A refused write is
// recorded as a Surprise. It requires a new plan and never widens this one. Result.Guard creates
// it. It must not be used concurrently.
type Guard struct {
	api       engine.API
	planned   map[types.UID]*plannedWrites
	surprises []Surprise
}

var _ engine.API = (*Guard)(nil)

// Surprise is a write that the plan does not contain.
type Surprise struct {
	Object object.Ref
	// Verb is DELETE or PATCH.
	Verb string
	// Why explains the difference from the plan.
	Why string
}

// RefusedError is the answer to a write that the plan does not contain.
type RefusedError struct{ Surprise Surprise }

// Error names the object and the difference from the plan.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s %s: not in the plan: %s", e.Surprise.Verb, e.Surprise.Object, e.Surprise.Why)
}

// plannedWrites is what the plan does to one object.
type plannedWrites struct {
	policies []string
	// dropped contains the owners to which the object loses its references. lists contains the
	// whole lists that are written if the server does not support strategic patches.
	dropped []types.UID
	lists   [][]object.OwnerReference
	unblock bool // see unblocks
	// finalizers contains the lists that remain after a finalizer was removed.
	finalizers [][]string
}

// Guard returns an API over api that allows no more than the collector did in the simulation.
func (r *Result) Guard(api engine.API) *Guard {
	g := &Guard{api: api, planned: map[types.UID]*plannedWrites{}}
	rec := r.run.recorder
	for n, step := range rec.steps.all {
		if r.run.futures.isLater(n) {
			break
		}
		if rec.words.Text(step.actor) != outcome.ActorCollector || step.answer != 0 {
			continue
		}
		switch rec.words.Text(step.verb) {
		case verbDelete:
			f := g.plannedFor(step.object.UID)
			f.policies = append(f.policies, rec.words.Text(step.policy))
		case verbPatch:
			g.plannedFor(step.object.UID).addPatch(*step.patch)
		}
	}
	return g
}

func (g *Guard) plannedFor(uid types.UID) *plannedWrites {
	if g.planned[uid] == nil {
		g.planned[uid] = &plannedWrites{}
	}
	return g.planned[uid]
}

// Surprises returns the refused writes in order.
func (g *Guard) Surprises() []Surprise { return g.surprises }

// Resource maps a kind as the guarded API does.
func (g *Guard) Resource(apiVersion, kind string) (object.Resource, error) {
	return g.api.Resource(apiVersion, kind)
}

// Get reads as the guarded API does.
func (g *Guard) Get(ctx context.Context, ref object.Ref) (*object.Object, error) {
	return g.api.Get(ctx, ref)
}

// Delete allows a DELETE that is pinned to a UID and that the plan contains with the same policy.
func (g *Guard) Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error {
	f := g.planned[ref.UID]
	switch {
	case o.Preconditions == nil || o.Preconditions.UID == nil || *o.Preconditions.UID != ref.UID:
		return g.refuse(ref, verbDelete, "it does not name the uid")
	case f == nil || o.PropagationPolicy == nil || !slices.Contains(f.policies, string(*o.PropagationPolicy)):
		return g.refuse(ref, verbDelete, "the object is not deleted there, or with another policy")
	}
	return g.api.Delete(ctx, ref, o)
}

// Patch allows a PATCH that removes no more than the plan does.
func (g *Guard) Patch(ctx context.Context, ref object.Ref, p object.Patch) error {
	f := g.planned[ref.UID]
	switch {
	case p.UID != ref.UID && p.ResourceVersion == "":
		return g.refuse(ref, verbPatch, "it names neither a uid nor a version")
	case f == nil || !f.allows(p):
		return g.refuse(ref, verbPatch, "the object is not changed like that there")
	}
	return g.api.Patch(ctx, ref, p)
}

func (g *Guard) refuse(ref object.Ref, verb, why string) error {
	s := Surprise{Object: ref, Verb: verb, Why: why}
	g.surprises = append(g.surprises, s)
	return &RefusedError{Surprise: s}
}

// addPatch adds a patch of the plan to f.
func (f *plannedWrites) addPatch(p object.Patch) {
	f.dropped = append(f.dropped, p.DeleteOwners...)
	f.unblock = f.unblock || unblocks(p)
	if p.Owners != nil {
		f.lists = append(f.lists, *p.Owners)
	}
	if p.Finalizers != nil {
		f.finalizers = append(f.finalizers, *p.Finalizers)
	}
}

// allows reports whether every part of a patch is in the plan. A server may refuse a strategic
// patch of owners, and then a list follows with the same meaning. So a plan with the list allows
// the patch.
func (f *plannedWrites) allows(p object.Patch) bool {
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
		return !slices.Contains(f.dropped, uid) && !f.dropsOwner(uid)
	})
}

// dropsOwner reports whether one of the planned lists lacks the owner.
func (f *plannedWrites) dropsOwner(uid types.UID) bool {
	return slices.ContainsFunc(f.lists, func(l []object.OwnerReference) bool {
		return !slices.ContainsFunc(l, func(o object.OwnerReference) bool { return o.UID == uid })
	})
}

// unblocks reports whether a patch only makes references stop blocking.
func unblocks(p object.Patch) bool {
	return p.Type == object.StrategicMerge && len(p.DeleteOwners) == 0
}
