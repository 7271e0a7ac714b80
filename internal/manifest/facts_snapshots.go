package manifest

import (
	"cmp"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// A snapshot of a volume and its content name each other. The controller deletes the content with the
// snapshot only if both agree, and if the policy of the content says so.
//
// Source: external-snapshotter, pkg/common-controller/snapshot_controller.go
// processSnapshotWithDeletionTimestamp, and groupsnapshot_controller_helper.go
// processGroupSnapshotWithDeletionTimestamp.
var (
	volumeSnapshotFacts       = snapshotFacts(object.VolumeSnapshot, object.VolumeSnapshotContent, "boundVolumeSnapshotContentName", "snapcontent-")
	groupSnapshotFacts        = snapshotFacts(object.VolumeGroupSnapshot, object.VolumeGroupSnapshotContent, "boundVolumeGroupSnapshotContentName", "groupsnapcontent-")
	snapshotContentFacts      = contentFacts(object.VolumeSnapshotContent, object.VolumeSnapshot, "volumeSnapshotRef")
	groupSnapshotContentFacts = contentFacts(object.VolumeGroupSnapshotContent, object.VolumeGroupSnapshot, "volumeGroupSnapshotRef")
)

// snapshotFacts covers a kind of snapshots. Its status has the name of the content. Until then the content
// has a prefix and the uid of the snapshot as its name.
//
// Source: external-snapshotter, pkg/utils/util.go GetDynamicSnapshotContentNameForSnapshot.
func snapshotFacts(kind, content object.Kind, bound, prefix string) *factKind {
	return &factKind{
		kind: kind, lenient: true,
		fields: []factField{lenientText("status."+bound, func(f *facts) *string { return &f.delivery.content })},
		facts: func(f *facts, o *object.Object) object.Facts {
			if !f.specified && !f.stated {
				return nil
			}
			inventory := f.takeInventory()
			inventory.add(object.Coordinates{Group: content.Group, Kind: content.Kind, Name: cmp.Or(f.delivery.content, prefix+string(o.UID))}, 0)
			return inventory.InventoryFacts
		},
	}
}

// contentFacts covers a kind of contents, with the field of its spec that refers to the snapshot.
func contentFacts(kind, snapshot object.Kind, ref string) *factKind {
	return &factKind{
		kind: kind, lenient: true,
		fields: []factField{
			lenientText("spec.deletionPolicy", func(f *facts) *string { return &f.delivery.policy }),
			{path: "spec." + ref, keep: keepFields(nil, "namespace", "name", "uid"), read: (*lexer).snapshotRef},
		},
		facts: func(f *facts, _ *object.Object) object.Facts {
			if policy := f.delivery.policy; policy != "Delete" && policy != "Retain" {
				return nil
			}
			inventory := f.takeInventory()
			inventory.Keeps = f.delivery.policy != "Delete"
			if at := f.delivery.snapshot; at.Name != "" {
				at.Group, at.Kind = snapshot.Group, snapshot.Kind
				inventory.Entries = append(inventory.Entries, object.InventoryEntry{Coordinates: at, UID: types.UID(f.delivery.snapshotUID)})
			}
			return inventory.InventoryFacts
		},
	}
}

// snapshotRef reads a reference to a snapshot. Of a value of another type nothing is known.
func (l *lexer) snapshotRef(it *item, path string, _ bool) error {
	d := &it.facts.delivery
	return l.lenientMembers(it, path, map[string]func(string) error{
		"namespace": l.textInto(it, &d.snapshot.Namespace), "name": l.textInto(it, &d.snapshot.Name), "uid": l.textInto(it, &d.snapshotUID),
	})
}
