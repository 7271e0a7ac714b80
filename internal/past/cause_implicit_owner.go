package past

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// follower is a controller that deletes dependents after their implicit owner, the leader: an
// object that they belong to without an owner reference.
type follower struct {
	code reason.Code
	make func() controllers.Controller
	// dependent is the kind of the dependents, leader the kind of their implicit owner.
	dependent, leader object.Kind
}

// leaderOf returns the leader of a dependent. The leader of an APIService has no name, because all
// CRDs of its group are leaders together.
func (f *follower) leaderOf(o *object.Object) (ref object.Ref, ok bool) {
	if f.leader == object.CRD {
		return ref, o.RegisteredForCRDs()
	}
	owner, ok := o.ImplicitOwner()
	return owner.Ref().WithoutUID(), ok && o.Is(f.dependent)
}

func followers() []follower {
	return []follower{
		{reason.AccountGone, func() controllers.Controller { return controllers.Tokens(definitions{}) }, object.Secret, object.ServiceAccount},
		// The release decides which of two controllers deletes Endpoints. The cause is the same.
		{reason.ServiceGone, func() controllers.Controller { return controllers.EndpointsOfServices(release.Rules{}) }, object.Endpoints, object.Service},
		{reason.ServiceGone, controllers.AddressesOfServices, object.IPAddress, object.Service},
		{reason.EndpointsGone, controllers.MirroredSlices, object.EndpointSlice, object.Endpoints},
		{reason.ClaimGone, controllers.VolumeReclaim, object.PV, object.PVC},
		{reason.VersionGone, func() controllers.Controller { return controllers.AutoRegister(definitions{}) }, object.APIService, object.CRD},
	}
}

// definitions is the coverage of a replay: all CRDs are covered, because each of their deletions is
// in the history.
type definitions struct{}

// Covers reports whether the resource is that of CRDs.
func (definitions) Covers(r object.Resource, _ string) bool { return r.Is(object.CRD) }

// Why returns an empty reason.
func (definitions) Why(object.Resource, string) string { return "" }

// hub is the key of a pack: the index of its controller in tracer.followers, and the leader. All
// CRDs of a group are one leader, with only the group set.
type hub struct {
	follower int
	at       object.Coordinates
}

// hubOf returns the hub of a dependent or of a leader. i is the index of f. leads is true for a
// leader.
func (f *follower) hubOf(i int, o *object.Object) (h hub, leads, ok bool) {
	leader, follows := f.leaderOf(o)
	switch leads = o.Is(f.leader); {
	case !leads && !follows:
		return h, false, false
	case leads:
		leader = o.Ref
	}
	if f.code == reason.VersionGone {
		return hub{i, object.Coordinates{Group: groupOfName(o.Name)}}, leads, true
	}
	return hub{i, leader.Coordinates()}, leads, true
}

// pack has the dependents of one leader and their controller. The controller sees only these
// objects and the leader, so its cost does not depend on the size of the cluster.
type pack struct {
	controller controllers.Controller
	members    map[object.Coordinates]bool
	// due are the objects that the controller would delete now, ever those at any time so far.
	due, ever map[identity]bool
}

// join adds a dependent to the packs of its leaders. CRDs join the pack of their group too, because
// its controller must see all of them.
func (t *tracer) join(o *object.Object) {
	for i := range t.followers {
		f := &t.followers[i]
		h, leads, ok := f.hubOf(i, o)
		if !ok || leads && h.at == o.Ref.Coordinates() {
			continue
		}
		p := t.packs[h]
		if p == nil {
			p = &pack{controller: f.make(), members: map[object.Coordinates]bool{}, due: map[identity]bool{}, ever: map[identity]bool{}}
			t.packs[h] = p
		}
		p.members[o.Ref.Coordinates()] = true
	}
}

// leave removes a deleted object from the packs.
func (t *tracer) leave(o *object.Object) {
	for i := range t.followers {
		if h, _, ok := t.followers[i].hubOf(i, o); ok && t.packs[h] != nil {
			delete(t.packs[h].members, o.Ref.Coordinates())
		}
	}
}

// look runs the controllers of the packs that an object leads, and records what they would delete.
func (t *tracer) look(o *object.Object) {
	for i := range t.followers {
		if h, leads, ok := t.followers[i].hubOf(i, o); ok && leads && t.packs[h] != nil {
			t.packs[h].look(t.world, h.at)
		}
	}
}

// lookAgain runs the controllers that would delete an object again after it has changed, because
// the change may have saved it.
func (t *tracer) lookAgain(o *object.Object) {
	if o.BeingDeleted() {
		return
	}
	for i := range t.followers {
		if h, leads, ok := t.followers[i].hubOf(i, o); ok && !leads && t.packs[h] != nil && t.packs[h].due[identityOf(o.Ref)] {
			t.packs[h].look(t.world, h.at)
		}
	}
}

func (p *pack) look(w *world, leader object.Coordinates) {
	if len(p.members) == 0 {
		return
	}
	few := emptyWorld(w.resources)
	if o, _ := w.find(leader); o != nil {
		few.put(o)
	}
	for at := range p.members {
		if o, _ := w.find(at); o != nil {
			few.put(o)
		}
	}
	watching := &witness{world: few}
	_, _ = p.controller.Step(context.Background(), watching)
	clear(p.due)
	for _, o := range watching.due {
		p.due[identityOf(o.Ref)], p.ever[identityOf(o.Ref)] = true, true
	}
}

// byFollower adds the controllers that delete an object after its leader, without a policy. An
// object that was due and no longer is may still have been deleted: the delete may have been in
// flight.
func (t *tracer) byFollower(s *suspects, o *object.Object, left trace) {
	for i := range t.followers {
		f := &t.followers[i]
		leader, ok := f.leaderOf(o)
		if !ok || !t.leaves(o, left, unnamed) {
			continue
		}
		h, _, _ := f.hubOf(i, o)
		p := t.packs[h]
		switch id := identityOf(o.Ref); {
		case p != nil && (p.due[id] || p.ever[id] && f.code == reason.ClaimGone):
			ref, request, since := t.end(leader, o)
			s.add(f.code, ref, request, since)
		case p != nil && p.ever[id]:
			ref, request, _ := t.end(leader, o)
			s.might = append(s.might, Cause{f.code, ref, request})
		default:
			if x, _ := t.world.find(leader.Coordinates()); x == nil && leader.Name != "" { // perhaps deleted before the history
				ref, request, _ := t.end(leader, o)
				s.might = append(s.might, Cause{f.code, ref, request})
			}
		}
	}
}

// end returns a lost leader, the request that it was lost by, and the revision of its removal. It
// returns -1 and 0 if the history does not have the loss.
func (t *tracer) end(leader object.Ref, o *object.Object) (ref object.Ref, request int, since uint64) {
	i, ok := t.last[leader.Coordinates()]
	if leader.Name == "" {
		i, ok = t.goneWith(o)
	}
	if !ok {
		return leader, -1, 0
	}
	return t.losses[i].Object.Ref, t.losses[i].Cause.Request, t.losses[i].Gone
}

// goneWith returns the last loss of a CRD in the group of an APIService.
func (t *tracer) goneWith(api *object.Object) (int, bool) {
	for i, l := range slices.Backward(t.losses) {
		d := l.Object
		if d.Is(object.CRD) && groupOfName(d.Name) == groupOfName(api.Name) {
			return i, true
		}
	}
	return 0, false
}
