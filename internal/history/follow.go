package history

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// follower is a controller that deletes objects when another one goes, although they do not
// refer to it.
type follower struct {
	code Code
	make func() controllers.Controller
	// leader is the kind of what they belong to, and of names it for one of them: without a name
	// where several have the object in common, those of its group.
	leader object.Kind
	of     func(o *object.Object) (object.Ref, bool)
}

func followers() []follower {
	return []follower{
		{AccountGone, func() controllers.Controller { return controllers.Tokens(definitions{}) }, object.ServiceAccount, func(o *object.Object) (object.Ref, bool) {
			if o.Token() == nil {
				return object.Ref{}, false
			}
			return object.ServiceAccount.Ref(o.Namespace, o.Token().Account), true
		}},
		// Which of the two that delete them did is the same here.
		{ServiceGone, func() controllers.Controller { return controllers.EndpointsOfServices(release.Rules{}) }, object.Service, func(o *object.Object) (object.Ref, bool) {
			return object.Service.Ref(o.Namespace, o.Name), o.Is(object.Endpoints)
		}},
		{ServiceGone, controllers.AddressesOfServices, object.Service, func(o *object.Object) (object.Ref, bool) {
			a := o.IPAddress()
			if a == nil {
				return object.Ref{}, false
			}
			return object.Service.Ref(a.Namespace, a.Name), true
		}},
		{EndpointsGone, controllers.MirroredSlices, object.Endpoints, func(o *object.Object) (object.Ref, bool) {
			name, ok := controllers.Mirrors(o)
			return object.Endpoints.Ref(o.Namespace, name), ok
		}},
		{ClaimGone, controllers.VolumeReclaim, object.PVC, func(o *object.Object) (object.Ref, bool) {
			v := o.Volume()
			if v == nil {
				return object.Ref{}, false
			}
			return object.PVC.Ref(v.ClaimNamespace, v.ClaimName), true
		}},
		{VersionGone, func() controllers.Controller { return controllers.AutoRegister(definitions{}) }, object.CRD, func(o *object.Object) (object.Ref, bool) {
			return object.Ref{}, controllers.Registered(o)
		}},
	}
}

// definitions is the coverage of a past: that a definition has gone is always seen.
type definitions struct{}

// Covers reports whether the resource is that of definitions.
func (definitions) Covers(r object.Resource, _ string) bool { return r.Is(object.CRD) }

// Why is empty.
func (definitions) Why(object.Resource, string) string { return "" }

// hub is where a follower and those that it follows meet: the leader, or the group of several.
type hub struct {
	follower int
	at       place
}

// hubOf is the hub of one that follows or, if it is one of several, leads.
func (f *follower) hubOf(i int, o *object.Object) (h hub, leads, ok bool) {
	leader, follows := f.of(o)
	switch leads = o.Is(f.leader); {
	case !leads && !follows:
		return h, false, false
	case leads:
		leader = o.Ref
	}
	if f.code == VersionGone {
		return hub{i, place{group: groupOfName(o.Name)}}, leads, true
	}
	return hub{i, placeOf(leader)}, leads, true
}

// pack are the followers of a leader, and its controller, which sees nothing else. So it costs
// nothing how many others there are.
type pack struct {
	controller controllers.Controller
	members    map[place]bool
	// due is what the controller would delete now; ever is what it would have at some time.
	due, ever map[identity]bool
}

// join puts an object into the packs of its leaders.
func (t *tracer) join(o *object.Object) {
	for i := range t.followers {
		f := &t.followers[i]
		h, leads, ok := f.hubOf(i, o)
		if !ok || leads && h.at == placeOf(o.Ref) {
			continue
		}
		p := t.packs[h]
		if p == nil {
			p = &pack{controller: f.make(), members: map[place]bool{}, due: map[identity]bool{}, ever: map[identity]bool{}}
			t.packs[h] = p
		}
		p.members[placeOf(o.Ref)] = true
	}
}

// leave takes an object that is gone out of the packs.
func (t *tracer) leave(o *object.Object) {
	for i := range t.followers {
		if h, _, ok := t.followers[i].hubOf(i, o); ok && t.packs[h] != nil {
			delete(t.packs[h].members, placeOf(o.Ref))
		}
	}
}

// look has the controllers look who care for an object, and notes what they would delete.
func (t *tracer) look(o *object.Object) {
	for i := range t.followers {
		if h, leads, ok := t.followers[i].hubOf(i, o); ok && leads && t.packs[h] != nil {
			t.packs[h].look(t.world, h.at)
		}
	}
}

// lookAgain has the controllers look again at an object that they would delete, and that somebody
// has changed: that may have taken it from them.
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

func (p *pack) look(w *world, leader place) {
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

// byFollower: a controller that would delete the object, without a policy. What is not due
// any more may have been on its way.
func (t *tracer) byFollower(s *suspects, o *object.Object, left trace) {
	for i := range t.followers {
		f := &t.followers[i]
		leader, ok := f.of(o)
		if !ok || !t.leaves(o, left, unnamed) {
			continue
		}
		h, _, _ := f.hubOf(i, o)
		p := t.packs[h]
		switch id := identityOf(o.Ref); {
		case p != nil && (p.due[id] || p.ever[id] && f.code == ClaimGone):
			ref, request, since := t.end(leader, o)
			s.add(f.code, ref, request, since)
		case p != nil && p.ever[id]:
			ref, request, _ := t.end(leader, o)
			s.might = append(s.might, Cause{f.code, ref, request})
		default:
			if x, _ := t.world.find(placeOf(leader)); x == nil && leader.Name != "" { // gone before, maybe
				ref, request, _ := t.end(leader, o)
				s.might = append(s.might, Cause{f.code, ref, request})
			}
		}
	}
}

// end is the loss of a leader: who began it, and when it was over.
func (t *tracer) end(leader object.Ref, o *object.Object) (ref object.Ref, request int, since uint64) {
	i, ok := t.last[placeOf(leader)]
	if leader.Name == "" {
		i, ok = t.goneWith(o)
	}
	if !ok {
		return leader, -1, 0
	}
	return t.losses[i].Object.Ref, t.losses[i].Cause.Request, t.losses[i].Gone
}

// goneWith is the last loss of a definition of the group of an APIService.
func (t *tracer) goneWith(api *object.Object) (int, bool) {
	for i, l := range slices.Backward(t.losses) {
		d := l.Object
		if d.Is(object.CRD) && groupOfName(d.Name) == groupOfName(api.Name) {
			return i, true
		}
	}
	return 0, false
}
