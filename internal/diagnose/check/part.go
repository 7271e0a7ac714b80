package check

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// asked are the uids and names under which owners are looked for, of all references of a
// snapshot. What has none of them nobody finds, and it is in no cycle: most objects own nothing.
type asked struct {
	uids  map[types.UID]struct{}
	names map[string]struct{}
}

// askedIn also has the names of odd objects: whether those are found themselves is asked.
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

// has reports whether somebody may find the object.
func (a asked) has(o *object.Object) bool {
	if _, ok := a.names[o.Name]; ok {
		return true
	}
	_, ok := a.uids[o.UID]
	return ok
}

// part is what of a snapshot may be found.
func (a asked) part(snap *snapshot.Snapshot) *snapshot.Snapshot {
	var found []*object.Object
	for _, o := range snap.Objects {
		if a.has(o) {
			found = append(found, o)
		}
	}
	return snap.With(found)
}

// plainKinds remembers whether the objects of a kind, as those before, are plain.
type plainKinds struct {
	apiVersion, kind string
	namespaced       bool
	plain            bool
}

// has reports whether a server finds the object under its own name, if no odd one has it too:
// its kind is served, and is the one that is stored, in the version and in the scope of the
// object. No two objects of a snapshot that are all plain are in the same place.
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
