package history

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// follower is a controller that deletes objects when another one goes, although they do not
// refer to it.
type follower struct {
	code       Code
	controller controllers.Controller
	// leader is the kind of what they belong to, and of names it for one of them.
	leader object.Kind
	of     func(o *object.Object) (object.Ref, bool)
	// due is what the controller would delete now; ever is what it would have at some time.
	due, ever map[identity]bool
}

func followers() []follower {
	return []follower{
		{code: AccountGone, controller: controllers.Tokens(definitions{}), leader: object.ServiceAccount, of: func(o *object.Object) (object.Ref, bool) {
			if o.Token() == nil {
				return object.Ref{}, false
			}
			return object.ServiceAccount.Ref(o.Namespace, o.Token().Account), true
		}},
		{code: ServiceGone, controller: controllers.EndpointsOfServices(), leader: object.Service, of: func(o *object.Object) (object.Ref, bool) {
			return object.Service.Ref(o.Namespace, o.Name), o.Is(object.Endpoints)
		}},
		{code: ServiceGone, controller: controllers.AddressesOfServices(), leader: object.Service, of: func(o *object.Object) (object.Ref, bool) {
			a := o.IPAddress()
			if a == nil {
				return object.Ref{}, false
			}
			return object.Service.Ref(a.Namespace, a.Name), true
		}},
		{code: EndpointsGone, controller: controllers.MirroredSlices(), leader: object.Endpoints, of: func(o *object.Object) (object.Ref, bool) {
			name, ok := controllers.Mirrors(o)
			return object.Endpoints.Ref(o.Namespace, name), ok
		}},
		{code: ClaimGone, controller: controllers.VolumeReclaim(), leader: object.PVC, of: func(o *object.Object) (object.Ref, bool) {
			v := o.Volume()
			if v == nil {
				return object.Ref{}, false
			}
			return object.PVC.Ref(v.ClaimNamespace, v.ClaimName), true
		}},
		{code: VersionGone, controller: controllers.AutoRegister(definitions{}), leader: object.CRD, of: func(o *object.Object) (object.Ref, bool) {
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

// look has the controller act and notes what it would delete.
func (f *follower) look(w *world) {
	watching := &witness{world: w}
	_, _ = f.controller.Step(context.Background(), watching)
	if f.ever == nil {
		f.ever = map[identity]bool{}
	}
	f.due = map[identity]bool{}
	for _, o := range watching.due {
		f.due[identityOf(o.Ref)], f.ever[identityOf(o.Ref)] = true, true
	}
}

// follow has those look who care for what has come or gone.
func (t *tracer) follow(at place) {
	for i := range t.followers {
		if f := &t.followers[i]; at.group == f.leader.Group && at.kind == f.leader.Kind {
			f.look(t.world)
		}
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
		switch id := identityOf(o.Ref); {
		case f.due[id], f.ever[id] && f.code == ClaimGone:
			ref, request, since := t.end(leader, o)
			s.add(f.code, ref, request, since)
		case f.ever[id]:
			s.suspect(f.code, leader)
		default:
			if x, _ := t.world.find(placeOf(leader)); x == nil && leader.Name != "" { // gone before, maybe
				s.suspect(f.code, leader)
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
