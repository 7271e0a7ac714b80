package plan

import (
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// StorageOf is what a delete of a claim or volume makes of the storage behind it; false for
// anything else, and for a claim that has no volume.
func StorageOf(snap *snapshot.Snapshot, o *object.Object) (report.Storage, bool) {
	ref := report.RefOf(o.Ref)
	switch s := (storage{snap: snap}); {
	case o.Is(object.PVC):
		return s.volumes(nil, ref).behind(ref)
	case o.Is(object.PV):
		return s.volumes(nil).alone(ref), true
	default:
		return report.Storage{}, false
	}
}
