package backup

import (
	"cmp"
	"context"
	"net/http"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/backup/undo"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// giveManagers gives the fields of an object that this run has written back to those that they
// belonged to, once nothing else of it is written. A server takes all fields of a new object for
// those of its creator, whatever managedFields say, as each of them has changed. In a patch that
// changes nothing else it takes them.
//
// Upstream: apimachinery/pkg/util/managedfields/internal/fieldmanager.go FieldManager.Update.
func (r *running) giveManagers(ctx context.Context, s *undo.Step, out *report.UndoStep) {
	live := r.wrote[s.Object]
	if left := s.ManagersLeft(); live == nil && left != nil {
		live = left
	}
	if live == nil || r.stop != nil {
		return
	}
	uid := live.UID
	var there []byte // all that is there is of the creation
	known := s.Verb == undo.Create
	for range attempts {
		if !known {
			var err error
			if there, live, err = r.client.Raw(ctx, s.Object); err != nil || live.UID != uid {
				return // it has gone again, and another one may have come
			}
		}
		known = false
		patch, err := s.Managers(&r.mapping, live, there)
		if err != nil || patch == nil {
			return
		}
		place := s.Object
		place.UID = live.UID
		i := Intent{Object: place, Verb: verbPatch, ResourceVersion: live.ResourceVersion, Body: patch}
		result, err := r.journalled(i, func() (string, error) {
			return "", r.client.PatchRaw(ctx, place, "", types.MergePatchType, patch, false)
		})
		if err == nil {
			return
		}
		if result.Code != http.StatusConflict {
			out.Message = cmp.Or(out.Message, "its fields stay those of "+undo.Manager+": "+err.Error())
			return
		}
	}
	out.Message = cmp.Or(out.Message, "its fields stay those of "+undo.Manager+": it is written all the time")
}
