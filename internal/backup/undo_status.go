package backup

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/backup/undo"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// attempts is how often a write is sent if the object changes meanwhile.
const attempts = 5

// errNotMade reports that an object has no references or status to restore, because it does not
// exist.
var errNotMade = errors.New("the object was not made")

// restoreOwners adds references to an object that existed when the undo was planned or that an
// earlier step created. It retries if the object is written meanwhile, for example by a Deployment
// controller that adopts its ReplicaSets. It gives up if the object was protected since, or its
// owners differ from those seen in planning.
func (r *undoRun) restoreOwners(ctx context.Context, s *undo.Step, out *report.UndoStep) {
	live, last := s.Live(), ""
	for n := range attempts {
		if live == nil || n > 0 {
			var err error
			if live, err = r.readCurrent(ctx, s); err != nil {
				out.State, out.Message = report.StepRefused, err.Error()
				return
			}
		}
		if live.ResourceVersion == last {
			return // the refusal had another cause than a newer version
		}
		last = live.ResourceVersion
		patch, late, needless, err := s.PatchOf(&r.mapping, live)
		if n == 0 {
			out.Dropped = append(out.Dropped, dropped(s.Object, late)...)
		}
		switch {
		case err == nil && len(late) == len(s.References):
			out.State, out.Message = report.StepRefused, "none of its owners is there any more"
			return
		case err != nil:
			out.State, out.Message = report.StepRefused, err.Error()
			return
		case needless:
			out.State, out.Message = report.StepRestored, "it has them already"
			return
		case s.Live() != nil && !sameOwners(s, live.Owners, s.Live().Owners):
			out.State, out.Message = report.StepContended, "its owners are others than were seen"
			return
		case s.Live() != nil && live.Protection() != s.Live().Protection():
			out.State, out.Message = report.StepContended, "it has been protected since it was read"
			return
		}
		place := s.Object
		place.UID = live.UID
		i := Intent{Object: place, Verb: http.MethodPatch, ResourceVersion: patch.ResourceVersion, Body: patch.Body()}
		result, err := r.sendJournalled(i, func() (string, error) { return "", r.client.Patch(ctx, place, patch) })
		out.State, out.Message = stateOf(result, report.StepRestored), ""
		if err == nil {
			return
		}
		out.Message = err.Error()
		if out.State == report.StepUnknown {
			now, err := r.client.Get(ctx, place)
			if err == nil && now.UID == patch.UID && patch.Owners != nil && slices.Equal(now.Owners, *patch.Owners) {
				out.State, out.Message = report.StepRestored, "the request was not answered, but the references are there"
			}
			return
		}
		if result.Code != http.StatusConflict && result.Code != http.StatusUnprocessableEntity {
			return
		}
		out.State = report.StepContended
	}
}

// sameOwners compares owners. It ignores those that the step replaces, since the collector removes
// them itself.
func sameOwners(s *undo.Step, a, b []object.OwnerReference) bool {
	return slices.Equal(slices.DeleteFunc(slices.Clone(a), s.Replaces), slices.DeleteFunc(slices.Clone(b), s.Replaces))
}

// readCurrent reads the object of a step: the one seen in planning, or the one that an earlier step
// created.
func (r *undoRun) readCurrent(ctx context.Context, s *undo.Step) (*object.Object, error) {
	uid := r.mapping.Of(s.Object)
	if live := s.Live(); live != nil {
		uid = live.UID
	}
	if uid == "" {
		return nil, errNotMade
	}
	place := s.Object
	place.UID = uid
	live, err := r.client.Get(ctx, place)
	if err == nil && live.UID != uid {
		err = errors.New("another object has its name by now")
	}
	return live, err
}

// status restores a status unless one was written since: a running controller knows more than a
// backup.
func (r *undoRun) status(ctx context.Context, s *undo.Step, out *report.UndoStep) {
	place := s.Object
	place.UID = r.mapping.Of(s.Object)
	if live := s.Live(); live != nil {
		place.UID = live.UID
	}
	if place.UID == "" {
		out.State, out.Message = report.StepRefused, errNotMade.Error()
		return
	}
	last := ""
	for range attempts {
		raw, live, err := r.client.Raw(ctx, place)
		if err == nil && live.UID != place.UID {
			err = errors.New("another object has its name by now")
		}
		if err != nil {
			out.State, out.Message = report.StepRefused, err.Error()
			return
		}
		if live.ResourceVersion == last {
			return // the refusal had another cause than a newer version
		}
		last = live.ResourceVersion
		if content, err := undo.ContentOf(raw); err != nil || !undo.CanWrite(content) {
			out.State, out.Message = report.StepSuperseded, "a controller has written a status since; it stays"
			return
		}
		patch, err := statusPatch(s, live)
		if err != nil {
			out.State, out.Message = report.StepRefused, err.Error()
			return
		}
		i := Intent{Object: place, Verb: http.MethodPatch, ResourceVersion: live.ResourceVersion, Body: journalBody(s, patch)}
		result, err := r.sendJournalled(i, func() (string, error) {
			return "", r.client.PatchRaw(ctx, place, "status", types.JSONPatchType, patch, false)
		})
		out.State, out.Message = stateOf(result, report.StepRestored), ""
		if err == nil {
			return
		}
		out.Message = err.Error()
		if result.Code != http.StatusConflict && result.Code != http.StatusUnprocessableEntity {
			return
		}
	}
}

// statusPatch returns a patch that writes a status to exactly the version read. It is a JSON patch,
// since a merge patch would take a null for a removal.
func statusPatch(s *undo.Step, live *object.Object) ([]byte, error) {
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}
	return json.Marshal([]operation{
		{"test", "/metadata/uid", live.UID}, {"test", "/metadata/resourceVersion", live.ResourceVersion}, {"add", "/status", s.Status()},
	})
}

// clusterOf returns what an undo reads from a cluster.
func clusterOf(ctx context.Context, client *kube.Client, look undo.Lookup) undo.Cluster {
	return undo.Cluster{
		Lookup: look,
		Status: func(apiVersion, kind string) undo.StatusAt {
			r, err := client.Resource(apiVersion, kind)
			switch {
			case err != nil:
				return undo.StatusUnknown
			case client.Discovered().StatusApart(r):
				return undo.StatusApart
			default:
				return undo.StatusInside
			}
		},
		Content: func(ref object.Ref) ([]byte, error) {
			raw, _, err := client.Raw(ctx, ref)
			return raw, err
		},
	}
}
