package backup

import (
	"cmp"
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
func (r *undoRun) overwrite(ctx context.Context, s *undo.Step, out *report.UndoStep) {
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
		i := Intent{Object: place, Verb: http.MethodPatch, ResourceVersion: live.ResourceVersion, Body: journalBody(s, patch)}
		var answer []byte
		result, err := r.sendJournalled(i, func() (string, error) {
			var err error
			answer, err = r.client.Overwrite(ctx, place, patch)
			return "", err
		})
		out.State, out.Message = stateOf(result, report.StepRestored), ""
		if err == nil {
			out.UID = place.UID
			if s.Verb == undo.Overwrite {
				r.wrote[s.Object] = live
				if changed := r.changedBy(s, answer); len(changed) > 0 {
					out.State, out.Message, out.Differences = report.StepDiffers, "the server, such as a webhook, changed what was written", changed
				}
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

// changedBy returns the fields that the server, such as a webhook, stored otherwise than a step wrote them.
// answer is what it stored. What was saved has its defaults, so what the server adds is a difference, too.
func (r *undoRun) changedBy(s *undo.Step, answer []byte) []report.FieldDifference {
	list, err := s.Differs(answer)
	if err != nil {
		return nil
	}
	return r.values.differences(s.Object, list)
}

// restoreSecretReferences adds the names of existing Secrets to a ServiceAccount.
func (r *undoRun) restoreSecretReferences(ctx context.Context, s *undo.Step, out *report.UndoStep) {
	look := lookupIn(ctx, r.proven)
	s.Secrets = slices.DeleteFunc(slices.Clone(s.Secrets), func(name string) bool {
		return !undo.HasSecret(look, object.Secret.Ref(s.Object.Namespace, name))
	})
	if len(s.Secrets) == 0 {
		out.State, out.Message = report.StepRefused, "none of its Secrets is there"
		return
	}
	r.overwrite(ctx, s, out)
}

// shownValues reports whether a document contains the values of differences.
type shownValues bool

// differences converts differences to their report. The content of Secrets is never shown.
func (shown shownValues) differences(ref object.Ref, list []undo.Difference) []report.FieldDifference {
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

// adoptExisting returns the object that was created concurrently under the name of a step's object,
// and why it counts as that; nil if it does not. differs lists its differences in content.
//
// Controllers are faster than an undo: a ReplicaSet exists as soon as its Deployment does, and the
// default ServiceAccount as soon as its namespace.
func (r *undoRun) adoptExisting(ctx context.Context, s *undo.Step) (there *object.Object, why string, differs []undo.Difference) {
	raw, there, err := r.client.Raw(ctx, s.Object)
	switch {
	case err != nil:
		return nil, "", nil // it was deleted again or cannot be read
	case r.isMadeByController(s, there):
		return there, "its controller made it meanwhile", nil
	case s.Fills():
		there, why = r.fillIn(ctx, s, raw, there)
		return there, why, nil
	}
	differs, err = s.Differs(raw)
	switch {
	case err != nil:
		return nil, "", nil
	case len(differs) > 0:
		return nil, "it was created in the meantime, with other content", differs
	case s.LacksOwner(&r.mapping, there):
		return nil, "", nil
	}
	return there, "it was created in the meantime, with the same content", nil
}

// fillIn adds the saved content that a controller-made object lacks. It returns nil if the object
// conflicts with the saved content.
func (r *undoRun) fillIn(ctx context.Context, s *undo.Step, raw []byte, there *object.Object) (filled *object.Object, why string) {
	for range attempts {
		patch, other, err := s.Lacks(&r.mapping, raw)
		switch {
		case err != nil || other:
			return nil, ""
		case patch == nil:
			return there, "it was created in the meantime, with the same content"
		}
		place := s.Object
		place.UID = there.UID
		_, err = r.sendJournalled(Intent{Object: place, Verb: http.MethodPatch, ResourceVersion: there.ResourceVersion, Body: patch}, func() (string, error) {
			return "", r.client.PatchRaw(ctx, place, "", types.MergePatchType, patch, false)
		})
		if err == nil {
			return there, "a controller made it meanwhile; the content that it lacked was added"
		}
		if raw, there, err = r.client.Raw(ctx, s.Object); err != nil {
			return nil, ""
		}
	}
	return nil, ""
}

// isMadeByController reports whether the object's own built-in controller was faster. The undo has
// recreated its owner, and the controller gives the dependent its former name, as with every
// ReplicaSet of a Deployment. Operators are excluded: their objects may have other content, such as
// a new password.
func (r *undoRun) isMadeByController(s *undo.Step, there *object.Object) bool {
	return slices.ContainsFunc(s.References, func(ref undo.Reference) bool {
		owner := r.mapping.Now(ref.UID)
		return ref.Made && ref.Controller == object.True && owner != "" && object.BuiltIn(object.GroupOf(ref.APIVersion)) &&
			slices.ContainsFunc(there.Owners, func(o object.OwnerReference) bool { return o.UID == owner && o.Controller == object.True })
	})
}

// giveManagers restores the managedFields of an object that this run has written, after the last
// other write to it. A server attributes all fields of a new object to its creator, whatever its
// managedFields say, since each of them has changed. It accepts them in a patch that changes
// nothing else.
//
// Upstream: apimachinery/pkg/util/managedfields/internal/fieldmanager.go FieldManager.Update.
func (r *undoRun) giveManagers(ctx context.Context, s *undo.Step, out *report.UndoStep) {
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
		i := Intent{Object: place, Verb: http.MethodPatch, ResourceVersion: live.ResourceVersion, Body: patch}
		result, err := r.sendJournalled(i, func() (string, error) {
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
