package backup

import (
	"cmp"
	"context"
	"net/http"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/backup/undo"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// giveManagers restores the managedFields of an object that this run has written, after the last
// other write to it. A server attributes all fields of a new object to its creator, whatever its
// managedFields say, since each of them has changed. It accepts them in a patch that changes
// nothing else.
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
	var there []byte // nil right after the creation: nothing else has written to it
	known := s.Verb == undo.Create
	for range attempts {
		if !known {
			var err error
			if there, live, err = r.client.Raw(ctx, s.Object); err != nil || live.UID != uid {
				return // it was deleted or replaced
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
