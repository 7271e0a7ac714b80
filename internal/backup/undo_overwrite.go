package backup

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/backup/undo"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// overwrite writes the saved content to an object that exists again. It refuses (StepContended) if
// the object no longer differs exactly as it did when the undo was planned. Changes of the status
// are ignored.
func (r *running) overwrite(ctx context.Context, s *undo.Step, out *report.UndoStep) {
	place := placeOf(s)
	live, raw := s.Live(), s.Now()
	for range attempts {
		patch, other, err := s.OverwriteOf(&r.mapping, live, raw)
		switch {
		case err != nil:
			out.State, out.Message = report.StepRefused, err.Error()
			return
		case other || live.UID != place.UID || live.Protection() != s.Live().Protection():
			out.State, out.Message = report.StepContended, ""
			return
		}
		i := Intent{Object: place, Verb: verbPatch, ResourceVersion: live.ResourceVersion, Body: journalBody(s, patch)}
		result, err := r.journalled(i, func() (string, error) {
			return "", r.client.PatchRaw(ctx, place, "", types.MergePatchType, patch, false)
		})
		out.State, out.Message = stateOf(result, report.StepRestored), ""
		if err == nil {
			out.UID = place.UID
			if s.Verb == undo.Overwrite {
				r.wrote[s.Object] = live
			}
			return
		}
		out.Message = err.Error()
		if result.Code != http.StatusConflict {
			return
		}
		out.State = report.StepContended
		if raw, live, err = r.client.Raw(ctx, s.Object); err != nil {
			if apierrors.IsNotFound(err) {
				out.Message = "it is gone again"
			}
			return
		}
	}
}

// secrets adds the names of existing Secrets to a ServiceAccount.
func (r *running) secrets(ctx context.Context, s *undo.Step, out *report.UndoStep) {
	look := lookup{ctx: ctx, from: r.proven}
	s.Secrets = slices.DeleteFunc(slices.Clone(s.Secrets), func(name string) bool {
		return !undo.HasSecret(look.find, object.Secret.Ref(s.Object.Namespace, name))
	})
	if len(s.Secrets) == 0 {
		out.State, out.Message = report.StepRefused, "none of its Secrets is there"
		return
	}
	r.overwrite(ctx, s, out)
}

// shownValues reports whether a document contains the values of differences.
type shownValues bool

// of converts differences to their report. The content of Secrets is never shown.
func (shown shownValues) of(ref object.Ref, list []undo.Difference) []report.FieldDifference {
	var all []report.FieldDifference
	for _, d := range list {
		f := report.FieldDifference{Path: d.Path}
		if f.Hidden = !bool(shown) || ref.Is(object.Secret); !f.Hidden {
			f.Saved, f.Now = valueText(d.Saved), valueText(d.Now)
		}
		all = append(all, f)
	}
	return all
}

// valueText formats a value for people: strings as they are, all else as JSON; nil for none.
func valueText(value any) *string {
	if value == nil {
		return nil
	}
	text, is := value.(string)
	if !is {
		written, err := json.MarshalIndent(value, "", "  ")
		if err != nil {
			return nil
		}
		text = string(written)
	}
	return &text
}
