package plan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/internal/uses"
)

// defaultClasses are the kinds with a default object, and the kind of the objects that use it. Those of one kind
// have a default object for each driver, which a snapshot lacks.
//
// Upstream: plugin/pkg/admission/storage/storageclass/setdefault/admission.go claimDefaulterPlugin.Admit.
// Upstream: plugin/pkg/admission/network/defaultingressclass/admission.go classDefaulterPlugin.Admit.
// Source: external-snapshotter, pkg/common-controller/snapshot_controller.go SetDefaultSnapshotClass.
var defaultClasses = []struct {
	class, user object.Kind
	message     string
	byDriver    bool
}{
	{object.StorageClass, object.PVC, "new claims that name no class stay Pending", false},
	{uses.IngressClass, uses.Ingress, "new Ingresses that name no class have none", false},
	{uses.SnapshotClass, object.VolumeSnapshot, "new snapshots by its driver that name no class are not taken", true},
}

// defaults adds the objects that are created later and name no class, as their kind. Existing ones are not
// among them: the API server has written the name of the default class to their spec.
func (b *breakages) defaults() {
	for _, d := range defaultClasses {
		if target, certainty, ok := b.lostDefault(d.class); ok {
			one := defaultUser(b.snap, b.snap.ObjectAt(target.Coordinates()))
			one.Certainty = certainty
			b.list = append(b.list, *one)
		} else if d.byDriver && b.anyGoes(d.class.GroupKind) {
			for _, o := range defaultsOf(b.snap, d.class) {
				if _, _, gone := b.lost(o.Coordinates()); gone {
					one := defaultUser(b.snap, o)
					one.Certainty = report.Possible // another one may be of its driver
					b.list = append(b.list, *one)
				}
			}
		}
	}
}

// defaultUser returns what needs an object by default; nil unless it is the default object that is used.
func defaultUser(snap *snapshot.Snapshot, o *object.Object) *report.Breakage {
	for _, d := range defaultClasses {
		if o.Is(d.class) && o.Protection().Has(object.DefaultClass) && (d.byDriver || defaultsOf(snap, d.class)[0] == o) {
			return &report.Breakage{
				Object: d.user.Ref("", ""), Field: "metadata.annotations", Label: report.DefaultClass, Reference: o.Ref,
				When: report.BreaksNextWrite, Certainty: report.Sure, Message: d.message,
			}
		}
	}
	return nil
}

// lostDefault returns the default object of a kind if none is left, with the certainty of that. Of several the
// newest is used.
//
// Upstream: pkg/volume/util/storageclass.go GetDefaultClass.
func (b *breakages) lostDefault(kind object.Kind) (object.Ref, report.Certainty, bool) {
	if !b.anyGoes(kind.GroupKind) { // asked for each reference to a default
		return object.Ref{}, "", false
	}
	list := defaultsOf(b.snap, kind)
	if len(list) == 0 {
		return object.Ref{}, "", false
	}
	worst := report.Sure
	for _, o := range list {
		_, certainty, ok := b.lost(o.Coordinates())
		if !ok {
			return object.Ref{}, "", false
		}
		if certainty != report.Sure {
			worst = certainty
		}
	}
	if worst == report.Sure && b.unreadUsers(kind) {
		worst = report.Possible // there may be another one
	}
	return list[0].Ref, worst, true
}

// defaultsOf returns the default objects of a kind, the one that is used first.
func defaultsOf(snap *snapshot.Snapshot, kind object.Kind) []*object.Object {
	list := slices.DeleteFunc(slices.Clone(snap.All(kind.GroupResource())), func(o *object.Object) bool { return !o.Protection().Has(object.DefaultClass) })
	slices.SortFunc(list, func(x, y *object.Object) int {
		return cmp.Or(cmp.Compare(y.Created, x.Created), strings.Compare(x.Name, y.Name))
	})
	return list
}
