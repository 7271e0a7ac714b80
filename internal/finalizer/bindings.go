package finalizer

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Bindings finds the objects that others are bound to. It is not safe for concurrent use.
type Bindings struct {
	snap *snapshot.Snapshot
	// byName has the objects of binding.with by their binding.name, computed on first use.
	byName map[*binding]map[string][]*object.Object
}

// NewBindings returns the bindings of the objects of a snapshot.
func NewBindings(snap *snapshot.Snapshot) *Bindings {
	return &Bindings{snap: snap, byName: map[*binding]map[string][]*object.Object{}}
}

// binding is a pair of objects: the controller of a finalizer of the one deletes it with the other one. Alone
// it stays as long as the other one exists and is not being deleted.
type binding struct {
	finalizer string
	kind      schema.GroupKind
	with      object.Kind
	// names returns what an object of kind may be bound to, and name what an object of with is called there. An
	// object is bound only if one of its names is that name.
	names func(o *object.Object) []string
	name  func(with *object.Object) string
	// bound reports whether two objects with a common name are bound; nil: always.
	bound func(o, with *object.Object) bool
	// free reports whether the controller removes the finalizer whatever else exists; nil: never.
	free func(o *object.Object) bool
	// strands is true if the controller leaves the finalizer forever once the other object is gone.
	strands bool
}

// bindings are the pairs.
//
// Source: external-snapshotter, pkg/sidecar-controller/snapshot_controller.go shouldDelete, and
// groupsnapshot_helper.go shouldDeleteGroupSnapshotContent: a content without a bound snapshot stays, so that
// copied objects take no data with them; lib-bucket-provisioner, pkg/provisioner/resourcehandlers.go
// deleteObjectBucket; kubevirt, pkg/storage/snapshot/snapshot.go updateVMSnapshotContent.
var bindings = []binding{
	{contentBound, object.VolumeSnapshotContent.GroupKind, object.VolumeSnapshot, listedNames, namespacedName, boundContent, freeContent, true},
	{groupSnapshotContent, object.VolumeGroupSnapshotContent.GroupKind, object.VolumeGroupSnapshot, listedNames, namespacedName, boundContent, freeContent, true},
	{"objectbucket.io/finalizer", objectBucket, object.ObjectBucketClaim, func(o *object.Object) []string { return []string{o.Name} }, bucketName, nil, nil, true},
	{"snapshot.kubevirt.io/vmsnapshotcontent-protection", schema.GroupKind{Group: object.VMSnapshot.Group, Kind: "VirtualMachineSnapshotContent"}, object.VMSnapshot,
		func(o *object.Object) []string { return []string{namespacedName(o)} },
		func(with *object.Object) string { return with.Namespace + "/vmsnapshot-content-" + string(with.UID) }, nil, nil, false},
}

func namespacedName(o *object.Object) string { return o.Namespace + "/" + o.Name }

// listedNames returns the namespaced names of the entries of an object.
func listedNames(o *object.Object) (names []string) {
	if o.Inventory() != nil {
		for _, e := range o.Inventory().Entries {
			names = append(names, e.Namespace+"/"+e.Name)
		}
	}
	return names
}

// bindingOf returns the binding of an object; nil if its finalizer is that of none.
func bindingOf(o *object.Object, finalizer string) *binding {
	for i := range bindings {
		if b := &bindings[i]; b.finalizer == finalizer && b.kind == o.GroupKind() {
			return b
		}
	}
	return nil
}

// boundContent reports whether the content of a snapshot refers to it.
func boundContent(o, with *object.Object) bool { return refersTo(o.Inventory(), with) }

// freeContent reports whether the content of a snapshot was never bound to one, or is marked: its snapshot was
// being deleted.
func freeContent(o *object.Object) bool {
	bound := o.Inventory()
	return o.Protection().Has(object.SnapshotGoes) || bound != nil && len(bound.Entries) > 0 && bound.Entries[0].UID == ""
}

// isUnread reports whether the snapshot does not show what an object is bound to.
func (b *binding) isUnread(o *object.Object) bool {
	return b.free != nil && (o.Inventory() == nil || len(o.Inventory().Entries) == 0)
}

// boundTo returns the objects that an object is bound to.
func (v *Bindings) boundTo(b *binding, o *object.Object) []*object.Object {
	index := v.byName[b]
	if index == nil {
		index = map[string][]*object.Object{}
		for same := range v.snap.ByKind() {
			if !same[0].Is(b.with) {
				continue
			}
			for _, with := range same {
				index[b.name(with)] = append(index[b.name(with)], with)
			}
		}
		v.byName[b] = index
	}
	var list []*object.Object
	for _, name := range b.names(o) {
		for _, with := range index[name] {
			if (b.bound == nil || b.bound(o, with)) && !slices.Contains(list, with) {
				list = append(list, with)
			}
		}
	}
	return list
}

// stranded returns why a finalizer stays forever: what the object is bound to is gone. Empty if it does not.
func (v *Bindings) stranded(o *object.Object, finalizer string) string {
	b := bindingOf(o, finalizer)
	if b == nil || !b.strands || b.free != nil && b.free(o) || b.isUnread(o) || !v.snap.Covers(b.with.Resource(), "") || len(v.boundTo(b, o)) > 0 {
		return ""
	}
	return "its controller removes it only with its " + b.with.Kind + ", which does not exist"
}

// usageOf returns the usage of an object that is bound to another one: as long as that exists and is not being
// deleted. False if that does not matter.
func (v *Bindings) usageOf(b *binding, o *object.Object) (Usage, bool) {
	switch {
	case b.free != nil && b.free(o):
		return Usage{}, false
	case b.isUnread(o):
		return Usage{}, true
	}
	return Usage{Kinds: []schema.GroupKind{b.with.GroupKind}, UntilDeletion: true, Bound: true, Users: v.boundTo(b, o)}, true
}
