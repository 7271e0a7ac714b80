package manifest

import (
	"cmp"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

var namespaceFacts = &factKind{
	kind: object.Namespace,
	fields: []factField{
		texts("spec.finalizers", func(f *facts) *[]string { return &f.namespace.Finalizers }),
		sharedText("status.phase", func(f *facts) *string { return &f.namespace.Phase }),
	},
	facts: func(f *facts, o *object.Object) object.Facts {
		n := f.namespace
		if !f.specShown && !o.BeingDeleted() { // every namespace is created with it; only /finalize removes it
			n.Finalizers = []string{object.NamespaceToken}
		}
		n.Outside = sortedFields(f.outside)
		return &n
	},
}

// Nothing is kept of a Node. Its last heartbeat is a moment, and its kubelet's version bounds the
// version of the API server.
var nodeFacts = &factKind{kind: object.Node, fields: []factField{conditions, {
	path: "status.nodeInfo", keep: keepFields(nil, "kubeletVersion", "KubeletVersion"),
	read: (*lexer).nodeInfo,
}}}

// nodeInfo reads the version of a kubelet and ignores a value that is no string.
func (l *lexer) nodeInfo(it *item, _ string, flat bool) error {
	if l.token() != '{' {
		return l.skip()
	}
	return l.members("status.nodeInfo", flat, func() error {
		if string(l.key) != "kubeletVersion" || l.token() != '"' || it.facts.kubelet != "" {
			return l.skip()
		}
		return l.repeated(&it.facts.kubelet, "status.nodeInfo.kubeletVersion")
	})
}

// Objects that are written every few seconds while a cluster runs tell when a dump of it was taken:
// the Leases of nodes and of the control plane, the heartbeats of Nodes, and Events. None of that
// is kept of an object. Other Leases may belong to a removed controller, which would seem to be
// running by that time.

var leaseMoment = &factKind{
	kind: object.Lease,
	fields: []factField{{path: "spec.renewTime", keep: keepValue, read: func(l *lexer, it *item, _ string, _ bool) error {
		return l.moment(it)
	}}},
}

// moment reads a time at which an object was written. It ignores an invalid time.
func (l *lexer) moment(it *item) error {
	at, err := l.seconds(it)
	it.facts.moment = max(it.facts.moment, at)
	return err
}

// seconds reads a time as seconds since 1970; 0 for an invalid time.
func (l *lexer) seconds(it *item) (int64, error) {
	if l.token() != '"' {
		return 0, l.skip()
	}
	from := len(it.text)
	text, err := l.text(it.text, "a time")
	if err != nil {
		return 0, err
	}
	it.text = text
	var t time.Time
	if t.UnmarshalText(text[from:]) != nil {
		return 0, nil
	}
	return t.Unix(), nil
}

// aside reports to the handler what an object tells about its cluster: when it was written, if its
// kind tells that, and the version of a kubelet.
func (rd *reading) aside(o *object.Object, it *item) {
	renewed := o.Is(object.Lease) && (o.Namespace == "kube-node-lease" || o.Namespace == "kube-system")
	if it.facts.moment > 0 && rd.h.Moment != nil && (o.IsEvent() || o.Is(object.Node) || renewed) {
		rd.h.Moment(it.facts.moment)
	}
	if it.facts.kubelet != "" && rd.h.Kubelet != nil && o.Is(object.Node) {
		rd.h.Kubelet(it.facts.kubelet)
	}
}

var serviceCIDRFacts = &factKind{
	kind:   object.ServiceCIDR,
	fields: []factField{texts("spec.cidrs", func(f *facts) *[]string { return &f.cidr.CIDRs })},
	facts: func(f *facts, _ *object.Object) object.Facts {
		if !f.specified {
			return nil
		}
		return new(f.cidr)
	},
}

var ipAddressFacts = &factKind{
	kind: object.IPAddress,
	fields: []factField{
		{path: "spec.parentRef", keep: keepFields(nil, "group", "resource", "namespace", "name"), read: (*lexer).parentRef},
	},
	facts: func(f *facts, _ *object.Object) object.Facts {
		if !f.specified {
			return nil
		}
		return new(f.address)
	},
}

// parentRef reads the object that an IPAddress belongs to.
func (l *lexer) parentRef(it *item, path string, _ bool) error {
	a := &it.facts.address
	return l.wanted(path, path, false, map[string]func(string) error{
		"group": l.repeatedInto(&a.Group), "resource": l.repeatedInto(&a.Resource), "namespace": l.repeatedInto(&a.Namespace), "name": l.ownInto(&a.Name),
	})
}

var resourceClaimFacts = &factKind{
	kind: object.ResourceClaim,
	fields: []factField{
		{path: "status.reservedFor", keep: &keep{each: keepFields(nil, "apiGroup", "resource", "name", "uid")}, read: (*lexer).reservations},
	},
	facts: func(f *facts, _ *object.Object) object.Facts {
		if !f.stated {
			return nil
		}
		return new(f.claim)
	},
}

// reservations reads the users of a ResourceClaim.
func (l *lexer) reservations(it *item, path string, _ bool) error {
	return l.entries(path, func() error {
		if err := l.charge(2 * entryBytes); err != nil {
			return err
		}
		var r object.Reservation
		err := l.wanted("an entry of "+path, path, false, map[string]func(string) error{
			"apiGroup": l.repeatedInto(&r.Group), "resource": l.repeatedInto(&r.Resource), "name": l.ownInto(&r.Name), "uid": l.ownInto((*string)(&r.UID)),
		})
		it.facts.claim.Reserved = append(it.facts.claim.Reserved, r)
		return err
	})
}

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
		fields: []factField{lenientField("status."+bound, func(f *facts) any { return &f.delivery.content })},
		facts: func(f *facts, o *object.Object) object.Facts {
			if !f.specified && !f.stated {
				return nil
			}
			inventory := f.takeInventory()
			inventory.add(object.Coordinates{Group: content.Group, Kind: content.Kind, Name: cmp.Or(f.delivery.content, prefix+string(o.UID))})
			return inventory.InventoryFacts
		},
	}
}

// contentFacts covers a kind of contents, with the field of its spec that refers to the snapshot.
func contentFacts(kind, snapshot object.Kind, ref string) *factKind {
	return &factKind{
		kind: kind, lenient: true,
		fields: []factField{
			lenientField("spec.deletionPolicy", func(f *facts) any { return &f.delivery.policy }),
			lenientField("spec."+ref, func(f *facts) any { return &f.delivery.snapshot }),
		},
		facts: func(f *facts, _ *object.Object) object.Facts {
			if policy := f.delivery.policy; policy != "Delete" && policy != "Retain" {
				return nil
			}
			inventory := f.takeInventory()
			inventory.Keeps = f.delivery.policy != "Delete"
			if at := f.delivery.snapshot; at.Name != "" {
				to := object.Coordinates{Group: snapshot.Group, Kind: snapshot.Kind, Namespace: at.Namespace, Name: at.Name}
				inventory.Entries = append(inventory.Entries, object.InventoryEntry{Coordinates: to, UID: at.UID})
			}
			return inventory.InventoryFacts
		},
	}
}
