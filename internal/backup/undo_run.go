package backup

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/backup/undo"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// The verbs of intents.
const (
	verbPost  = "POST"
	verbPatch = "PATCH"
)

// UndoOptions say how an undo is carried out.
type UndoOptions struct {
	// Tool is the version of the program.
	Tool string
	// Now is the clock of the records.
	Now func() time.Time
	// Wait waits for a time, and reports whether the context is still alive. Nil: nothing is
	// waited for.
	Wait func(context.Context, time.Duration) bool
	// Between is called before every request; an error ends the run as a kill would.
	// Nil for nothing.
	Between func(step int) error
}

// running is an undo under way.
type running struct {
	*Undo
	o       UndoOptions
	writer  *Writer
	mapping undo.Mapping
	proven  *kube.Proven
	// defined are the kinds whose definitions were made, with what became of the wait for
	// them to be served.
	defined map[string]*serving
	// interrupted ends that wait with its own end.
	interrupted context.Context
	// differing are the objects that exist again with other content.
	differing map[object.Ref]bool
	// wrote are the objects that this run has made, or whose content it has overwritten, as they were
	// then.
	wrote map[object.Ref]*object.Object
	// stop is why no further step is taken.
	stop error
}

// Run takes the steps. What the server refuses is left, and what refers to it is made
// without that reference. The document says what became of every step; the error is
// about the journal alone, without which nothing is sent.
func (u *Undo) Run(ctx context.Context, o UndoOptions) (*report.Undo, error) {
	w, err := Create(filepath.Join(u.path, journals), Head{
		Tool: o.Tool, Command: "undo", PlanDigest: u.out.Digest, Cluster: u.head.Cluster, Created: o.Now(),
	})
	if err != nil {
		return nil, err
	}
	if err := w.Seal(); err != nil {
		return nil, errors.Join(err, w.Close(o.Now()))
	}
	u.out.Journal = w.Path()
	r := &running{Undo: u, o: o, writer: w, proven: u.client.Proven(kube.ProofOptions{}), defined: map[string]*serving{}, differing: map[object.Ref]bool{}, wrote: map[object.Ref]*object.Object{}, interrupted: ctx}
	for i := range u.plan.Steps {
		if r.stop == nil && ctx.Err() != nil {
			r.stop = ctx.Err()
		}
		if r.stop == nil && o.Between != nil {
			if r.stop = o.Between(i + 1); r.stop != nil {
				return nil, r.stop // killed: no end is written
			}
		}
		if r.stop != nil {
			u.out.Steps[i].State, u.out.Steps[i].Message = report.StepNotDone, "the run ended before it"
			continue
		}
		// What was begun is finished: an undo that is interrupted knows what it made.
		r.take(context.WithoutCancel(ctx), &u.plan.Steps[i], &u.out.Steps[i])
	}
	return u.out, r.end(w.Close(o.Now()))
}

// end says how it went.
func (r *running) end(closing error) error {
	out := r.out
	count(out)
	sum := out.Summary
	broken, isBroken := errors.AsType[*JournalError](r.stop)
	switch {
	case isBroken:
		out.State, out.Message = report.Partial, r.stop.Error()
		return errors.Join(broken, closing)
	case r.stop != nil:
		out.State, out.Message = report.Interrupted, "interrupted; requests in progress were finished, and the same command continues"
	case sum.Failed+sum.Unknown > 0 && sum.Made+sum.Restored == 0 && sum.Unknown == 0:
		out.State, out.Message = report.Partial, "nothing was made"
	case sum.Failed+sum.Unknown > 0:
		out.State, out.Message = report.Partial, "not everything was made; the same command tries the rest once more"
	case sum.Differs > 0:
		out.State = report.Partial // what differs is named
	default:
		out.State = report.Complete
	}
	return closing
}

// take takes one step.
func (r *running) take(ctx context.Context, s *undo.Step, out *report.UndoStep) {
	if r.differing[s.Object] { // its references and status are those of another object
		out.State, out.Message = report.StepNotDone, "another object has its name and differs from what was saved"
		return
	}
	r.ownersNow(ctx, s, out)
	switch s.Verb {
	case undo.Create:
		r.create(ctx, s, out)
	case undo.Restore:
		r.restore(ctx, s, out)
	case undo.Status:
		r.status(ctx, s, out)
	case undo.Overwrite:
		r.overwrite(ctx, s, out)
	case undo.Secrets:
		r.secrets(ctx, s, out)
	case undo.Manage:
		out.State, out.UID = report.StepRestored, s.Live().UID
	}
	r.giveManagers(ctx, s, out)
}

// ownersNow drops the references to owners that were there when the undo was planned
// and are not any more: the collector would take the object right away. (W16, N32)
func (r *running) ownersNow(ctx context.Context, s *undo.Step, out *report.UndoStep) {
	look := lookup{ctx: ctx, from: r.proven}
	s.References = slices.DeleteFunc(slices.Clone(s.References), func(ref undo.Reference) bool {
		if ref.Made {
			return false
		}
		why := undo.Missing(look.find, ref.In(s.Object.Namespace))
		if why != "" {
			out.Dropped = append(out.Dropped, dropped(s.Object, []undo.Dropped{{Reference: ref.OwnerReference, Reason: why}})...)
		}
		return why != ""
	})
}

func (r *running) create(ctx context.Context, s *undo.Step, out *report.UndoStep) {
	_, late, err := s.Body(&r.mapping)
	out.Dropped = append(out.Dropped, dropped(s.Object, late)...)
	if err == nil {
		err = r.awaitServed(ctx, s.Object)
	}
	if err != nil {
		out.State, out.Message = report.StepRefused, err.Error()
		r.mapping.Failed(s)
		return
	}
	r.post(ctx, s, out)
}

// post makes the object of a step. A Service whose addresses are taken gets others.
func (r *running) post(ctx context.Context, s *undo.Step, out *report.UndoStep) {
	body, err := bodyOf(s, &r.mapping)
	if err != nil {
		out.State, out.Message = report.StepRefused, err.Error()
		r.mapping.Failed(s)
		return
	}
	instead := ""
	result, err := r.journalled(Intent{Object: s.Object, Verb: verbPost, Body: journalBody(s, body)}, func() (string, error) {
		made, err := r.client.Create(ctx, s.Object, body, false)
		if err == nil {
			out.UID = made.UID
			r.wrote[s.Object] = made
			r.mapping.Made(s, made.UID)
			return madeAs + string(made.UID), nil
		}
		if !apierrors.IsAlreadyExists(err) {
			return "", err
		}
		there, why, differs := r.inPlace(ctx, s)
		if there == nil {
			instead, out.Differences = why, r.values.of(s.Object, differs)
			return "", err
		}
		out.UID, out.Message = there.UID, why
		r.mapping.Made(s, there.UID)
		return thereAs + string(there.UID), nil
	})
	out.State = stateOf(result, report.StepMade)
	switch {
	case err == nil:
		r.define(s)
		return
	case r.stop == nil && s.DropAddresses(refusedFields(err)):
		describe(s, out)
		r.post(ctx, s, out)
		return
	}
	out.Message = err.Error()
	switch {
	case len(out.Differences) > 0:
		out.State, out.Message = report.StepDiffers, instead
		r.differing[s.Object] = true
	case apierrors.IsAlreadyExists(err):
		out.State = report.StepTaken
	}
	if out.State == report.StepUnknown {
		r.settle(ctx, s, out)
	}
	if out.State != report.StepMade {
		r.mapping.Failed(s)
	}
}

// settle looks whether a creation that was not answered was carried out.
func (r *running) settle(ctx context.Context, s *undo.Step, out *report.UndoStep) {
	uid, err := restoredAs(ctx, r.client, s.Object)
	if err != nil || uid == "" {
		return
	}
	out.State, out.UID, out.Message = report.StepMade, uid, "the request was not answered, but the object is there"
	r.mapping.Made(s, uid)
}

// journalBody is what the journal keeps of a creation: of a Secret only that there
// was one, for the journal is no place for its content.
func journalBody(s *undo.Step, body []byte) []byte {
	const most = 1 << 20
	if s.Object.Is(object.Secret) || len(body) > most {
		return nil
	}
	return body
}

// journalled writes the intent down, sends, and writes down what became of it.
func (r *running) journalled(i Intent, send func() (string, error)) (Result, error) {
	i.Time = r.o.Now()
	seq, err := r.writer.Intent(i)
	if err != nil {
		r.stop = &JournalError{Err: err}
		return Result{Outcome: Refused}, r.stop
	}
	message, err := send()
	result := ResultOf(err)
	result.Time = r.o.Now()
	if err == nil {
		result.Message = message
	}
	if failed := r.writer.Result(seq, result); failed != nil {
		r.stop = &JournalError{Err: failed}
	}
	return result, err
}

func stateOf(result Result, confirmed report.StepState) report.StepState {
	switch result.Outcome {
	case Confirmed:
		return confirmed
	case Unknown:
		return report.StepUnknown
	default:
		return report.StepRefused
	}
}
