package plan

import (
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// StorageOf is what a delete of a claim or volume makes of the storage behind it; false for
// anything else, and for a claim that has no volume.
func StorageOf(snap *snapshot.Snapshot, o *object.Object) (report.Storage, bool) {
	switch all := (storage{snap: snap}).volumes(nil); {
	case o.Is(object.PVC):
		return all.behind(report.RefOf(o.Ref))
	case o.Is(object.PV):
		return all.alone(report.RefOf(o.Ref)), true
	default:
		return report.Storage{}, false
	}
}
