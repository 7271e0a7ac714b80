package plan

import (
	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Around says that what an object goes with, beside its owners, could change the answer if
// it was not seen: a namespace that is being deleted takes its content, a pod does not
// outlive its node, nor a token its ServiceAccount.
func (u *Unseen) Around(snap *snapshot.Snapshot, o *object.Object) {
	if o.Namespace != "" && !apisim.Immortal(o.Namespace) {
		u.one(snap, object.Namespace, "", o.Namespace)
	}
	mirrored, isMirror := controllers.Mirrors(o)
	switch {
	case o.Pod() != nil && o.Pod().NodeName != "":
		u.one(snap, object.Node, "", o.Pod().NodeName)
	case o.Token() != nil:
		u.one(snap, object.ServiceAccount, o.Namespace, o.Token().Account)
	case o.Volume() != nil && o.Volume().ClaimName != "":
		u.one(snap, object.PVC, o.Volume().ClaimNamespace, o.Volume().ClaimName)
	case o.Is(object.Endpoints):
		u.one(snap, object.Service, o.Namespace, o.Name)
	case isMirror: // other slices have no Endpoints
		u.one(snap, object.Endpoints, o.Namespace, mirrored)
	case o.IPAddress() != nil:
		u.one(snap, object.Service, o.IPAddress().Namespace, o.IPAddress().Name)
	case o.Is(object.IPAddress):
		u.Of(snap, object.Service.Resource(), "")
	case controllers.Registered(o): // no CRD takes another APIService along
		u.Of(snap, object.CRD.Resource(), "")
	}
}

// Above says that what could take an object that others keep could change the answer, or
// what could take one of those. Where one of them is being deleted, its end may hang on what
// it owns or contains.
func (u *Unseen) Above(snap *snapshot.Snapshot, o *object.Object) {
	u.above(snap, o, map[*object.Object]bool{})
}

func (u *Unseen) above(snap *snapshot.Snapshot, o *object.Object, met map[*object.Object]bool) {
	if met[o] {
		return
	}
	met[o] = true
	u.Owners(snap, o)
	u.Around(snap, o)
	switch {
	case !o.BeingDeleted():
	case o.Is(object.Namespace):
		u.In(o.Name)
	default:
		u.In(o.Namespace)
	}
	for _, ref := range o.Owners {
		for _, ns := range []string{o.Namespace, ""} {
			if owner := snap.Find(ref.APIVersion, ref.Kind, ns, ref.Name); owner != nil {
				u.above(snap, owner, met)
			}
		}
	}
}

// one is an object that may exist and was not seen.
func (u *Unseen) one(snap *snapshot.Snapshot, kind object.Kind, namespace, name string) {
	if name != "" && snap.FindKind(kind, namespace, name) == nil {
		u.Of(snap, kind.Resource(), namespace)
	}
}

// Follows reports whether an object may go with others to which it does not refer as its
// owners, beside its namespace and its node.
func Follows(o *object.Object) bool {
	_, isMirror := controllers.Mirrors(o)
	return o.Volume() != nil || o.Token() != nil || isMirror || o.Is(object.Endpoints) || o.Is(object.IPAddress) || controllers.Registered(o)
}

// LeaderOf is the object with which one goes that follows just one, in the same namespace: a
// Service its Endpoints, Endpoints a slice that mirrors them, a ServiceAccount its token. It is
// nil for others, and if it was not seen.
func LeaderOf(snap *snapshot.Snapshot, o *object.Object) *object.Object {
	mirrored, isMirror := controllers.Mirrors(o)
	switch {
	case o.Is(object.Endpoints):
		return snap.FindKind(object.Service, o.Namespace, o.Name)
	case isMirror:
		return snap.FindKind(object.Endpoints, o.Namespace, mirrored)
	case o.Token() != nil:
		return snap.FindKind(object.ServiceAccount, o.Namespace, o.Token().Account)
	}
	return nil
}
