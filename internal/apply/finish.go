package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// lastLook is the timeout for reading the state at the end of a run.
const lastLook = time.Minute

// finish closes the backup, reads all objects with a prediction and reports the results. cause is
// why the run ended.
func (r *run) finish(ctx context.Context, cause error) (*report.Run, error) {
	looking, stop := context.WithTimeout(context.WithoutCancel(ctx), lastLook)
	defer stop()
	now := look(looking, r.client, r.watched(), r.definition)
	after := r.after()
	out := r.report(now, after)
	done := out.Summary.Confirmed+out.Summary.AlreadyDone == len(r.order)
	switch {
	case done && (errors.Is(cause, errDone) || errors.Is(cause, errNoProgress)):
	case errors.Is(cause, errDone):
		out.State, out.Message = report.Partial, "not everything that was planned is done"
	case errors.Is(cause, context.Canceled):
		out.State, out.Message = report.Interrupted, "interrupted; what was under way was finished"
	default:
		out.State, out.Message = report.Partial, cause.Error()
	}
	if out.State != report.Complete && out.State != report.Interrupted && out.Summary.Confirmed+out.Summary.Unknown == 0 {
		out.State = report.NothingWritten
	}
	for i := range out.Writes {
		if w := &out.Writes[i]; w.State == report.NotDone && w.Message == "" {
			w.Message = "the run ended before it: " + cmp.Or(out.Message, cause.Error())
		}
	}
	compare(out, r.expected, now, after)
	if unseen := r.unseen(now); unseen != "" && out.State == report.Complete {
		out.State, out.Message = report.Unseen, unseen
	}
	return out, r.backup.writer.Close(r.o.Now())
}

// unseen describes the awaited objects that cannot be read; empty if all can.
func (r *run) unseen(now map[object.Ref]sight) string {
	var why error
	n := 0
	for _, ref := range r.awaited() {
		if s := now[ref]; s.err != nil {
			n++
			why = cmp.Or(why, s.err)
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("whether %d of the objects are as predicted is not known: %s", n, why)
}

// definition returns the CustomResourceDefinition of an object's kind if the plan deletes it and
// thus all its instances first. Removing a finalizer from a CRD is excluded: it may leave instances
// behind.
func (r *run) definition(ref object.Ref) (object.Ref, bool) {
	kind, err := r.snap.Resources.For(ref.APIVersion, ref.Kind)
	if err != nil || r.result.Plan.Seed.Verb == string(plan.RemoveFinalizer) {
		return object.Ref{}, false
	}
	for _, e := range r.expected {
		if e.takes() && e.Object.Is(object.CRD) && e.Object.Name == kind.GroupResource().String() {
			return object.Ref(e.Object), true
		}
	}
	return object.Ref{}, false
}

// watched returns the objects with a certain prediction and those that are written to.
func (r *run) watched() []object.Ref {
	var refs []object.Ref
	have := map[object.Ref]bool{}
	for _, e := range r.expected {
		if ref := object.Ref(e.Object); e.predicted() && !have[ref] {
			have[ref] = true
			refs = append(refs, ref)
		}
	}
	for _, p := range r.order {
		if !have[p.write.Object] {
			have[p.write.Object] = true
			refs = append(refs, p.write.Object)
		}
	}
	return refs
}

// after returns the predicted state of the expected objects.
func (r *run) after() map[object.Ref]*object.Object {
	wanted := map[object.Ref]bool{}
	for _, e := range r.expected {
		wanted[object.Ref(e.Object)] = true
	}
	world := map[object.Ref]*object.Object{}
	for _, o := range r.result.After() {
		if wanted[o.Ref] {
			world[o.Ref] = o
		}
	}
	return world
}

// report converts the results of all planned writes.
func (r *run) report(now map[object.Ref]sight, after map[object.Ref]*object.Object) *report.Run {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.result.Plan
	out := &report.Run{
		APIVersion: report.APIVersion, Kind: "Run", Source: p.Source, Seed: p.Seed, Digest: p.Digest,
		Bundle: r.backup.writer.Path(), State: report.Complete,
		Writes: make([]report.RunWrite, len(r.order)), Surprises: r.surprises, Differences: []report.Difference{},
	}
	for i, w := range r.order {
		state, why := r.stateOf(w, now[w.write.Object], after[w.write.Object])
		verb := verbPatch
		if w.write.Deletes {
			verb = verbDelete
		}
		out.Writes[i] = report.RunWrite{Object: report.RefOf(w.write.Object), Verb: verb, State: state, Message: why}
		*out.Summary.Of(state)++
	}
	return out
}

// stateOf returns the state of a planned write: the answer of the server, or if that is
// inconclusive, what a new read shows.
func (r *run) stateOf(p *planned, now sight, want *object.Object) (report.WriteState, string) {
	ref := p.write.Object
	switch {
	case p.last != nil && p.last.Outcome == backup.Confirmed:
		return report.Confirmed, ""
	case now.gone() && p.last != nil && p.last.Outcome == backup.Unknown:
		return report.Confirmed, "the request was not answered, and the object is gone"
	case p.last != nil && p.last.Outcome == backup.Unknown && !p.write.Deletes && want != nil && now.o != nil && alike(now.o, want):
		return report.Confirmed, "the request was not answered, and the object is as it should be"
	case now.gone() && p.write.Deletes && r.confirmed(plannedKey{ref: ref}):
		return report.Confirmed, "it went with its last finalizer"
	case now.gone():
		return report.AlreadyDone, "it was already gone"
	case p.last != nil && p.last.Outcome == backup.Refused && backup.ResultOf(p.last.Err).Code != 409:
		return report.Refused, p.last.Err.Error()
	case p.write.Deletes && now.o != nil && now.o.BeingDeleted() && p.last == nil:
		return report.AlreadyDone, "another client deleted it"
	case !p.write.Deletes && want != nil && now.o != nil && alike(now.o, want):
		return report.AlreadyDone, "another client made the same change"
	case p.last == nil && p.kept:
		return report.NotDone, p.why
	case r.backup.changed[ref]:
		return report.Contended, "it has changed since the plan was made; left alone"
	case p.last == nil:
		return report.NotDone, p.why
	case p.last.Outcome == backup.Unknown:
		return report.UnknownWrite, p.last.Err.Error()
	case backup.ResultOf(p.last.Err).Code == 409 && p.kept:
		return report.Contended, p.why
	case backup.ResultOf(p.last.Err).Code == 409:
		return report.Contended, p.last.Err.Error()
	default:
		return report.Refused, p.last.Err.Error()
	}
}

// confirmed reports whether the server has confirmed a planned write.
func (r *run) confirmed(key plannedKey) bool {
	p := r.byKey[key]
	return p != nil && p.last != nil && p.last.Outcome == backup.Confirmed
}

// alike reports whether two objects have the same owners and finalizers.
func alike(a, b *object.Object) bool {
	return slices.Equal(owners(a), owners(b)) && slices.Equal(sorted(a.Finalizers()), sorted(b.Finalizers()))
}
