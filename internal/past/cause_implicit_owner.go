package past

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// implicitOwnerRule is a controller that deletes dependents after their implicit owner: an object
// that they belong to without an owner reference.
type implicitOwnerRule struct {
	code          reason.Code
	newController func() controllers.Controller
	// dependent is the kind of the dependents, owner the kind of their implicit owner.
	dependent, owner object.Kind
}

// implicitOwner returns the implicit owner of a dependent. That of an APIService has no name,
// because all CRDs of its group own it together.
func (f *implicitOwnerRule) implicitOwner(o *object.Object) (ref object.Ref, ok bool) {
	if f.owner == object.CRD {
		return ref, o.RegisteredForCRDs()
	}
	owner, ok := o.ImplicitOwner()
	return owner.Ref().WithoutUID(), ok && o.Is(f.dependent)
}

func implicitOwnerRules() []implicitOwnerRule {
	return []implicitOwnerRule{
		{reason.AccountGone, func() controllers.Controller { return controllers.Tokens(crdCoverage{}) }, object.Secret, object.ServiceAccount},
		// The release decides which of two controllers deletes Endpoints. The cause is the same.
		{reason.ServiceGone, func() controllers.Controller { return controllers.EndpointsOfServices(release.Rules{}) }, object.Endpoints, object.Service},
		{reason.ServiceGone, controllers.AddressesOfServices, object.IPAddress, object.Service},
		{reason.EndpointsGone, controllers.MirroredSlices, object.EndpointSlice, object.Endpoints},
		{reason.ClaimGone, controllers.VolumeReclaim, object.PV, object.PVC},
		{reason.VersionGone, func() controllers.Controller { return controllers.AutoRegister(crdCoverage{}) }, object.APIService, object.CRD},
	}
}

// crdCoverage is the coverage of a replay: all CRDs are covered, because each of their deletions is
// in the history.
type crdCoverage struct{}

// Covers reports whether the resource is that of CRDs.
func (crdCoverage) Covers(r object.Resource, _ string) bool { return r.Is(object.CRD) }

// Why returns an empty reason.
func (crdCoverage) Why(object.Resource, string) string { return "" }

// dependentsKey is the key of a dependentSet: the index of its controller in tracer.rules, and the
// owner. All CRDs of a group are one owner, with only the group set.
type dependentsKey struct {
	rule  int
	owner object.Coordinates
}

// keyOf returns the key of a dependent or of an owner. i is the index of f. isOwner is true for an
// owner.
func (f *implicitOwnerRule) keyOf(i int, o *object.Object) (h dependentsKey, isOwner, ok bool) {
	owner, hasOwner := f.implicitOwner(o)
	switch isOwner = o.Is(f.owner); {
	case !isOwner && !hasOwner:
		return h, false, false
	case isOwner:
		owner = o.Ref
	}
	if f.code == reason.VersionGone {
		return dependentsKey{i, object.Coordinates{Group: groupInName(o.Name)}}, isOwner, true
	}
	return dependentsKey{i, owner.Coordinates()}, isOwner, true
}

// dependentSet has the dependents of one owner and their controller. The controller sees only these
// objects and the owner, so its cost does not depend on the size of the cluster.
type dependentSet struct {
	controller controllers.Controller
	members    map[object.Coordinates]bool
	// wouldDelete are the objects that the controller would delete now, wouldHaveDeleted those at
	// any time so far.
	wouldDelete, wouldHaveDeleted map[identity]bool
}

// addDependent adds a dependent to the sets of its implicit owners. CRDs are in the set of their
// group too, because its controller must see all of them.
func (t *tracer) addDependent(o *object.Object) {
	for i := range t.rules {
		f := &t.rules[i]
		h, isOwner, ok := f.keyOf(i, o)
		if !ok || isOwner && h.owner == o.Ref.Coordinates() {
			continue
		}
		p := t.dependents[h]
		if p == nil {
			p = &dependentSet{controller: f.newController(), members: map[object.Coordinates]bool{}, wouldDelete: map[identity]bool{}, wouldHaveDeleted: map[identity]bool{}}
			t.dependents[h] = p
		}
		p.members[o.Ref.Coordinates()] = true
	}
}

// removeDependent removes a deleted object from the sets.
func (t *tracer) removeDependent(o *object.Object) {
	for i := range t.rules {
		if h, _, ok := t.rules[i].keyOf(i, o); ok && t.dependents[h] != nil {
			delete(t.dependents[h].members, o.Ref.Coordinates())
		}
	}
}

// runControllers runs the controllers for the dependents of an implicit owner, and records what
// they would delete.
func (t *tracer) runControllers(o *object.Object) {
	for i := range t.rules {
		if h, isOwner, ok := t.rules[i].keyOf(i, o); ok && isOwner && t.dependents[h] != nil {
			t.dependents[h].run(t.state, h.owner)
		}
	}
}

// rerunControllers runs the controllers that would delete an object again after it has changed,
// because the change may have saved it.
func (t *tracer) rerunControllers(o *object.Object) {
	if o.BeingDeleted() {
		return
	}
	for i := range t.rules {
		if h, isOwner, ok := t.rules[i].keyOf(i, o); ok && !isOwner && t.dependents[h] != nil && t.dependents[h].wouldDelete[identityOf(o.Ref)] {
			t.dependents[h].run(t.state, h.owner)
		}
	}
}

func (p *dependentSet) run(w *clusterState, owner object.Coordinates) {
	if len(p.members) == 0 {
		return
	}
	few := newClusterState(w.resources)
	if o, _ := w.find(owner); o != nil {
		few.put(o)
	}
	for at := range p.members {
		if o, _ := w.find(at); o != nil {
			few.put(o)
		}
	}
	clear(p.wouldDelete)
	_, _ = p.controller.Step(context.Background(), few, func(_ context.Context, i controllers.Intent) (*object.Object, error) {
		if i.Verb == controllers.Delete {
			p.wouldDelete[identityOf(i.Ref)], p.wouldHaveDeleted[identityOf(i.Ref)] = true, true
		}
		return i.Object, nil
	})
}

// addImplicitOwner adds the controllers that delete an object after its implicit owner, without a
// policy. An object that a controller would have deleted earlier but not now may still have been
// deleted: the delete may have been in flight.
func (t *tracer) addImplicitOwner(s *candidates, o *object.Object, left trace) {
	for i := range t.rules {
		f := &t.rules[i]
		owner, ok := f.implicitOwner(o)
		if !ok || !t.mayLeave(o, left, noPolicy) {
			continue
		}
		h, _, _ := f.keyOf(i, o)
		p := t.dependents[h]
		switch id := identityOf(o.Ref); {
		case p != nil && (p.wouldDelete[id] || p.wouldHaveDeleted[id] && f.code == reason.ClaimGone):
			ref, request, since := t.ownerLoss(owner, o)
			s.addCertain(f.code, ref, request, since)
		case p != nil && p.wouldHaveDeleted[id]:
			ref, request, _ := t.ownerLoss(owner, o)
			s.possible = append(s.possible, Cause{f.code, ref, request})
		default:
			if x, _ := t.state.find(owner.Coordinates()); x == nil && owner.Name != "" { // perhaps deleted before the history
				ref, request, _ := t.ownerLoss(owner, o)
				s.possible = append(s.possible, Cause{f.code, ref, request})
			}
		}
	}
}

// ownerLoss returns a lost implicit owner, the request that caused the loss, and the revision of
// its removal. It returns -1 and 0 if the history does not have the loss.
func (t *tracer) ownerLoss(owner object.Ref, o *object.Object) (ref object.Ref, request int, since uint64) {
	i, ok := t.last[owner.Coordinates()]
	if owner.Name == "" {
		i, ok = t.lastCRDLoss(o)
	}
	if !ok {
		return owner, -1, 0
	}
	return t.losses[i].Object.Ref, t.losses[i].Cause.Request, t.losses[i].Gone
}

// lastCRDLoss returns the last loss of a CRD in the group of an APIService.
func (t *tracer) lastCRDLoss(api *object.Object) (int, bool) {
	for i, l := range slices.Backward(t.losses) {
		d := l.Object
		if d.Is(object.CRD) && groupInName(d.Name) == groupInName(api.Name) {
			return i, true
		}
	}
	return 0, false
}
