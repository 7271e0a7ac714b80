package plan

import (
	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Around adds the objects other than owners that an object is deleted with, if they were not seen:
// its namespace, the node of a pod, the ServiceAccount of a token.
func (u *Unseen) Around(snap *snapshot.Snapshot, o *object.Object) {
	if o.Namespace != "" && !apisim.Immortal(o.Namespace) {
		u.addObject(snap, object.Namespace, "", o.Namespace)
	}
	mirrored, isMirror := controllers.Mirrors(o)
	switch {
	case o.Pod() != nil && o.Pod().NodeName != "":
		u.addObject(snap, object.Node, "", o.Pod().NodeName)
	case o.Token() != nil:
		u.addObject(snap, object.ServiceAccount, o.Namespace, o.Token().Account)
	case o.Volume() != nil && o.Volume().ClaimName != "":
		u.addObject(snap, object.PVC, o.Volume().ClaimNamespace, o.Volume().ClaimName)
	case o.Is(object.Endpoints):
		u.addObject(snap, object.Service, o.Namespace, o.Name)
	case isMirror: // other slices have no Endpoints
		u.addObject(snap, object.Endpoints, o.Namespace, mirrored)
	case o.IPAddress() != nil:
		u.addObject(snap, object.Service, o.IPAddress().Namespace, o.IPAddress().Name)
	case o.Is(object.IPAddress):
		u.Of(snap, object.Service.Resource(), "")
	case controllers.Registered(o): // only these APIServices are deleted with a CRD
		u.Of(snap, object.CRD.Resource(), "")
	}
}

// Above adds the unseen objects that could take an object or one of its owners, at any distance. If
// one of those is being deleted, it may wait for objects that it owns or contains, so that these
// are added too.
func (u *Unseen) Above(snap *snapshot.Snapshot, o *object.Object) {
	u.addAbove(snap, o, map[*object.Object]bool{})
}

func (u *Unseen) addAbove(snap *snapshot.Snapshot, o *object.Object, met map[*object.Object]bool) {
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
				u.addAbove(snap, owner, met)
			}
		}
	}
}

// addObject adds an object that may exist and was not seen.
func (u *Unseen) addObject(snap *snapshot.Snapshot, kind object.Kind, namespace, name string) {
	if name != "" && snap.FindKind(kind, namespace, name) == nil {
		u.Of(snap, kind.Resource(), namespace)
	}
}

// Follows reports whether an object may be deleted with objects other than its owners, its
// namespace and its node.
func Follows(o *object.Object) bool {
	_, isMirror := controllers.Mirrors(o)
	return o.Volume() != nil || o.Token() != nil || isMirror || o.Is(object.Endpoints) || o.Is(object.IPAddress) || controllers.Registered(o)
}

// LeaderOf returns the object that an object of the same namespace is deleted with, if there is
// exactly one: the Service of Endpoints, the Endpoints of a slice that mirrors them, the
// ServiceAccount of a token. It returns nil for other objects, and if the leader was not seen.
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
