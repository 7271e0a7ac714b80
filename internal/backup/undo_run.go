package backup

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/backup/undo"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// UndoOptions are the options of Undo.Run.
type UndoOptions struct {
	// Tool is the version of the program.
	Tool string
	// Now returns the time for records.
	Now func() time.Time
	// Wait sleeps, and reports false if the context has ended. Nil: Run never waits.
	Wait func(context.Context, time.Duration) bool
	// Between is called before every step. Its error ends the run as a kill would. It may be nil.
	Between func(step int) error
}

// undoRun is an undo in progress.
type undoRun struct {
	*Undo
	o       UndoOptions
	writer  *Writer
	mapping undo.Mapping
	proven  *kube.Proven
	// defined are the kinds of the CRDs that were created, with the result of waiting until they
	// are served.
	defined map[string]*crdServing
	// interrupted cancels that wait when it is done.
	interrupted context.Context
	// differing are objects that exist again with other content.
	differing map[object.Ref]bool
	// wrote are the objects that this run has created, as created, or overwritten, as they were
	// before.
	wrote map[object.Ref]*object.Object
	// stop is why no further step runs; nil while the run continues.
	stop error
}

// Run executes the steps. Refused objects are left out, and their dependents are created without
// the reference to them. The document contains the result of every step. The error is about the
// journal only; without a journal, nothing is sent.
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
	r := &undoRun{Undo: u, o: o, writer: w, proven: u.client.Proven(kube.ProofOptions{}), defined: map[string]*crdServing{}, differing: map[object.Ref]bool{}, wrote: map[object.Ref]*object.Object{}, interrupted: ctx}
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
		// A step in progress is finished, so that an interrupted undo knows what it created.
		r.runStep(context.WithoutCancel(ctx), &u.plan.Steps[i], &u.out.Steps[i])
	}
	return u.out, r.finish(w.Close(o.Now()))
}

// finish sets the final state and message of the document.
func (r *undoRun) finish(closing error) error {
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
	case sum.Differs+sum.Changed > 0:
		out.State = report.Partial // what differs is named
	default:
		out.State = report.Complete
	}
	return closing
}

// runStep executes one step.
func (r *undoRun) runStep(ctx context.Context, s *undo.Step, out *report.UndoStep) {
	if r.differing[s.Object] { // its references and status would go to another object
		out.State, out.Message = report.StepNotDone, "another object has its name and differs from what was saved"
		return
	}
	r.readOwners(ctx, s, out)
	switch s.Verb {
	case undo.Create:
		r.create(ctx, s, out)
	case undo.Restore:
		r.restoreOwners(ctx, s, out)
	case undo.Status:
		r.status(ctx, s, out)
	case undo.Overwrite:
		r.overwrite(ctx, s, out)
	case undo.Secrets:
		r.restoreSecretReferences(ctx, s, out)
	case undo.Manage:
		out.State, out.UID = report.StepRestored, s.Live().UID
	}
	r.giveManagers(ctx, s, out)
}

// readOwners drops references to owners that were deleted since the undo was planned. With such a
// reference, the collector would delete the object immediately. (W16, N32)
func (r *undoRun) readOwners(ctx context.Context, s *undo.Step, out *report.UndoStep) {
	look := lookupIn(ctx, r.proven)
	s.References = slices.DeleteFunc(slices.Clone(s.References), func(ref undo.Reference) bool {
		if ref.Made {
			return false
		}
		why := undo.Missing(look, ref.In(s.Object.Namespace))
		if why != "" {
			out.Dropped = append(out.Dropped, dropped(s.Object, []undo.Dropped{{Reference: ref.OwnerReference, Reason: why}})...)
		}
		return why != ""
	})
}

func (r *undoRun) create(ctx context.Context, s *undo.Step, out *report.UndoStep) {
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

// post creates the object of a step. A Service gets new addresses if its own are taken.
func (r *undoRun) post(ctx context.Context, s *undo.Step, out *report.UndoStep) {
	body, err := bodyOf(s, &r.mapping)
	if err != nil {
		out.State, out.Message = report.StepRefused, err.Error()
		r.mapping.Failed(s)
		return
	}
	instead := ""
	result, err := r.sendJournalled(Intent{Object: s.Object, Verb: http.MethodPost, Body: journalBody(s, body)}, func() (string, error) {
		answer, made, err := r.client.Create(ctx, s.Object, body, false)
		if err == nil {
			out.UID = made.UID
			out.Differences = r.changedBy(s, answer)
			r.wrote[s.Object] = made
			r.mapping.Made(s, made.UID)
			return madeAs + string(made.UID), nil
		}
		if !apierrors.IsAlreadyExists(err) {
			return "", err
		}
		there, why, differs := r.adoptExisting(ctx, s)
		if there == nil {
			instead, out.Differences = why, r.values.differences(s.Object, differs)
			return "", err
		}
		out.UID, out.Message = there.UID, why
		r.mapping.Made(s, there.UID)
		return thereAs + string(there.UID), nil
	})
	out.State = stateOf(result, report.StepMade)
	switch {
	case err == nil:
		if group, kind, ok := s.Defines(); ok {
			r.defined[group+"/"+kind] = &crdServing{}
		}
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
		if uid, err := findRestored(ctx, r.client, s.Object); err == nil && uid != "" {
			out.State, out.UID, out.Message = report.StepMade, uid, "the request was not answered, but the object is there"
			r.mapping.Made(s, uid)
		}
	}
	if out.State != report.StepMade {
		r.mapping.Failed(s)
	}
}

// journalBody returns the body for the journal. It is nil for Secrets, because their content must
// not get into the journal, and for bodies of more than 1 MiB.
func journalBody(s *undo.Step, body []byte) []byte {
	const most = 1 << 20
	if s.Object.Is(object.Secret) || len(body) > most {
		return nil
	}
	return body
}

// sendJournalled writes the intent, calls send and writes the result.
func (r *undoRun) sendJournalled(i Intent, send func() (string, error)) (Result, error) {
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

// crdServing is the result of waiting until a kind is served.
type crdServing struct {
	over bool
	err  error
}

const (
	// servedWithin is how long a server may take to serve a new CRD. One of several API servers
	// waits five seconds for the others.
	//
	// Upstream: apiextensions-apiserver/pkg/apiserver/customresource_handler.go updateCustomResourceDefinition.
	// Upstream: apiextensions-apiserver/pkg/controller/establish/establishing_controller.go EstablishingController.sync.
	servedWithin = 30 * time.Second
	firstLook    = 20 * time.Millisecond
	latestLook   = time.Second
)

// awaitServed blocks until objects of a kind can be created, if this run has created its CRD.
func (r *undoRun) awaitServed(ctx context.Context, ref object.Ref) error {
	kind := r.defined[ref.Group()+"/"+ref.Kind]
	if kind == nil {
		return nil
	}
	if !kind.over {
		kind.over, kind.err = true, r.isServed(ctx, ref)
	}
	return kind.err
}

func (r *undoRun) isServed(ctx context.Context, ref object.Ref) error {
	ctx, cancel := context.WithTimeout(ctx, servedWithin)
	defer cancel()
	defer context.AfterFunc(r.interrupted, cancel)()
	look := lookupIn(ctx, r.proven)
	var last error
	for pause := firstLook; ; pause = min(2*pause, latestLook) {
		if _, last = r.client.Resource(ref.APIVersion, ref.Kind); last != nil {
			_, last = r.client.Discover(ctx)
		}
		if last == nil {
			// Its absence is proven only once its path is served.
			if _, last = look(ref); last == nil {
				return nil
			}
		}
		if r.o.Wait == nil || !r.o.Wait(ctx, pause) {
			return fmt.Errorf("its CRD was made, and it is not served yet: %w", last)
		}
	}
}
