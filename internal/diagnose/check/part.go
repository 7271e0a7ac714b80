package check

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// asked has the uids and names that the references of a snapshot look for. An object with none of
// them is never found, and is in no cycle. Most objects own nothing.
type asked struct {
	uids  map[types.UID]struct{}
	names map[string]struct{}
}

// askedIn adds the names of objects that are not plain, because a lookup of these objects may fail.
func askedIn(snap *snapshot.Snapshot) asked {
	a := asked{uids: map[types.UID]struct{}{}, names: map[string]struct{}{}}
	var plain plainKinds
	var before []object.OwnerReference
	for _, o := range snap.Objects {
		if !plain.has(snap, o) {
			a.names[o.Name] = struct{}{}
		}
		if object.SameOwners(before, o.Owners) {
			continue
		}
		before = o.Owners
		for _, ref := range o.Owners {
			a.uids[ref.UID], a.names[ref.Name] = struct{}{}, struct{}{}
		}
	}
	return a
}

// has reports whether a lookup may find the object.
func (a asked) has(o *object.Object) bool {
	if _, ok := a.names[o.Name]; ok {
		return true
	}
	_, ok := a.uids[o.UID]
	return ok
}

// part returns the snapshot reduced to the objects that may be found.
func (a asked) part(snap *snapshot.Snapshot) *snapshot.Snapshot {
	var found []*object.Object
	for _, o := range snap.Objects {
		if a.has(o) {
			found = append(found, o)
		}
	}
	return snap.With(found)
}

// plainKinds caches the result for the kind of the last object.
type plainKinds struct {
	apiVersion, kind string
	namespaced       bool
	plain            bool
}

// has reports whether a server finds the object under its own name, unless one that is not plain has
// the same name. Its kind must be served and stored in the version and scope of the object. Two plain
// objects of a snapshot never have the same coordinates.
func (p *plainKinds) has(snap *snapshot.Snapshot, o *object.Object) bool {
	if p.kind == o.Kind && p.apiVersion == o.APIVersion && p.namespaced == (o.Namespace != "") {
		return p.plain
	}
	*p = plainKinds{apiVersion: o.APIVersion, kind: o.Kind, namespaced: o.Namespace != ""}
	r, err := snap.Resources.For(o.APIVersion, o.Kind)
	if err != nil || !r.Verbs.Has(object.Get) || r.Namespaced != p.namespaced {
		return false
	}
	stored, ok := snap.Resources.Stored(r.GroupResource())
	p.plain = ok && stored.GroupResource() == r.GroupResource() && stored.APIVersion() == o.APIVersion && stored.Kind == o.Kind
	return p.plain
}
