package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// finalReadTimeout is the timeout for reading the state at the end of a run.
const finalReadTimeout = time.Minute

// finish closes the backup, reads all objects with a prediction and reports the results. cause is
// why the run ended.
func (r *run) finish(ctx context.Context, cause error) (*report.Run, error) {
	looking, stop := context.WithTimeout(context.WithoutCancel(ctx), finalReadTimeout)
	defer stop()
	now := readStates(looking, r.client, r.comparedObjects(), r.deletedCRD)
	after := r.predictedObjects()
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
	if unseen := r.unreadableObjects(now); unseen != "" && out.State == report.Complete {
		out.State, out.Message = report.Unseen, unseen
	}
	return out, r.backup.writer.Close(r.o.Now())
}

// unreadableObjects describes the awaited objects that cannot be read; empty if all can.
func (r *run) unreadableObjects(now map[object.Ref]currentState) string {
	var why error
	n := 0
	for _, ref := range r.awaitedObjects() {
		if s := now[ref]; s.err != nil {
			n++
			why = cmp.Or(why, s.err)
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("the outcome of %s is unknown: %s", report.Plural(n, "object"), why)
}

// deletedCRD returns the CustomResourceDefinition of an object's kind if the plan deletes it and
// thus all its instances first. Removing a finalizer from a CRD is excluded: it may leave instances
// behind.
func (r *run) deletedCRD(ref object.Ref) (object.Ref, bool) {
	kind, err := r.snap.Resources.For(ref.APIVersion, ref.Kind)
	if err != nil || r.result.Plan.Seed.Verb == string(plan.RemoveFinalizer) {
		return object.Ref{}, false
	}
	for _, e := range r.expected {
		if e.startsDeletion() && e.Object.Is(object.CRD) && e.Object.Name == kind.GroupResource().String() {
			return e.Object, true
		}
	}
	return object.Ref{}, false
}

// comparedObjects returns the objects with a certain prediction and those that are written to.
func (r *run) comparedObjects() []object.Ref {
	var refs []object.Ref
	have := map[object.Ref]bool{}
	for _, e := range r.expected {
		if ref := e.Object; e.isCertain() && !have[ref] {
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

// predictedObjects returns the predicted state of the expected objects.
func (r *run) predictedObjects() map[object.Ref]*object.Object {
	wanted := map[object.Ref]bool{}
	for _, e := range r.expected {
		wanted[e.Object] = true
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
func (r *run) report(now map[object.Ref]currentState, after map[object.Ref]*object.Object) *report.Run {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.result.Plan
	out := &report.Run{
		Header: report.HeaderOf("Run"), Source: p.Source, Seed: p.Seed, Digest: p.Digest,
		Bundle: r.backup.writer.Path(), State: report.Complete,
		Writes: make([]report.RunWrite, len(r.order)), Surprises: r.surprises, Differences: []report.Difference{},
	}
	for i, w := range r.order {
		state, why := r.stateOf(w, now[w.write.Object], after[w.write.Object])
		verb := http.MethodPatch
		if w.write.Deletes {
			verb = http.MethodDelete
		}
		out.Writes[i] = report.RunWrite{Object: w.write.Object, Verb: verb, State: state, Message: why}
		*out.Summary.Of(state)++
	}
	return out
}

// stateOf returns the state of a planned write: the answer of the server, or if that is
// inconclusive, what a new read shows.
func (r *run) stateOf(p *planned, now currentState, want *object.Object) (report.WriteState, string) {
	ref := p.write.Object
	switch {
	case p.confirmed():
		return report.Confirmed, ""
	case now.gone() && p.last != nil && p.last.Outcome == backup.Unknown:
		return report.Confirmed, "the request was not answered, and the object is gone"
	case p.last != nil && p.last.Outcome == backup.Unknown && !p.write.Deletes && want != nil && now.o != nil && sameOwnersAndFinalizers(now.o, want):
		return report.Confirmed, "the request was not answered, and the object is as it should be"
	case now.gone() && p.write.Deletes && r.byKey[plannedKey{ref: ref}] != nil && r.byKey[plannedKey{ref: ref}].confirmed():
		return report.Confirmed, "it went with its last finalizer"
	case now.gone():
		return report.AlreadyDone, "it was already gone"
	case p.last != nil && p.last.Outcome == backup.Refused && backup.ResultOf(p.last.Err).Code != 409:
		return report.Refused, p.last.Err.Error()
	case p.write.Deletes && now.o != nil && now.o.BeingDeleted() && p.last == nil:
		return report.AlreadyDone, "another client deleted it"
	case !p.write.Deletes && want != nil && now.o != nil && sameOwnersAndFinalizers(now.o, want):
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

// sameOwnersAndFinalizers reports whether two objects have the same owners and finalizers.
func sameOwnersAndFinalizers(a, b *object.Object) bool {
	return slices.Equal(owners(a), owners(b)) && slices.Equal(sorted(a.Finalizers()), sorted(b.Finalizers()))
}

// compare reports where the cluster differs from the prediction. after is the predicted state. An
// object that is still being deleted is pending, which is no drift. An object that was not written
// to is no drift either, since the writes report it already. If the run was interrupted or not all
// was written, missing consequences are no drift.
func compare(run *report.Run, all []expectation, now map[object.Ref]currentState, after map[object.Ref]*object.Object) {
	unsent := notDone(run)
	for _, e := range all {
		ref := e.Object
		s, looked := now[ref]
		if !looked || s.err != nil || !e.isCertain() || unsent[e.Object] {
			continue
		}
		reason, text := report.DifferenceReason(""), ""
		if !s.gone() || e.Outcome != report.Deleted {
			reason, text = differs(e, s, after[ref])
		}
		if (run.State == report.Interrupted || len(unsent) > 0) && reason != "" && reason != report.GoneInstead {
			continue
		}
		run.Summary.Compared++
		if e.mayBeDeleted() && s.gone() {
			if run.Summary.Gone++; s.again && e.Recreator == "" {
				run.Differences = append(run.Differences, report.Difference{Object: ref, Predicted: e.Outcome, Reason: report.CreatedAgain, Message: "it is gone, and another object has its name"})
			}
			continue
		}
		if s.o != nil && s.o.BeingDeleted() && e.startsDeletion() {
			run.Pending = append(run.Pending, pending(e, s.o))
		}
		if reason != "" {
			run.Differences = append(run.Differences, report.Difference{Object: e.Object, Predicted: e.Outcome, Reason: reason, Message: text})
		}
	}
	run.Summary.Pending, run.Summary.Differing = len(run.Pending), len(run.Differences)
}

// notDone returns the objects of planned writes that were not done.
func notDone(run *report.Run) map[object.Ref]bool {
	refs := map[object.Ref]bool{}
	for _, w := range run.Writes {
		if w.State != report.Confirmed && w.State != report.AlreadyDone {
			refs[w.Object] = true
		}
	}
	return refs
}

func pending(e expectation, o *object.Object) report.Pending {
	p := report.Pending{Object: e.Object, Finalizers: slices.Clone(o.Finalizers())}
	named := map[object.Ref]bool{e.Object: true}
	for _, r := range e.Once {
		if !named[r.Object] {
			named[r.Object] = true
			p.Dependents = append(p.Dependents, r.Object)
		}
	}
	return p
}

// differs compares one object with its prediction.
func differs(e expectation, s currentState, want *object.Object) (report.DifferenceReason, string) {
	switch {
	case e.Outcome == report.Deleted:
		if s.o.BeingDeleted() {
			return "", ""
		}
		return report.Survived, "it exists, and is not being deleted" + blockedByText(s.o)
	case s.gone():
		return report.GoneInstead, "it is gone"
	case e.staysTerminating() && !s.o.BeingDeleted():
		return report.Survived, "it exists, and is not being deleted" + blockedByText(s.o)
	case !e.staysTerminating() && s.o.BeingDeleted():
		return report.GoneInstead, "it is being deleted" + blockedByText(s.o)
	case want == nil:
		return "", ""
	case e.staysTerminating() && !slices.Equal(e.remainingFinalizers(s.o), e.remainingFinalizers(want)):
		return report.OtherFinalizers, fmt.Sprintf("it has the finalizers %s, predicted were %s", words(s.o.Finalizers()), words(want.Finalizers()))
	case !slices.Equal(owners(s.o), owners(want)):
		return report.OtherReferences, fmt.Sprintf("it refers to %s, predicted was %s", ownerNames(s.o), ownerNames(want))
	}
	return "", ""
}

func blockedByText(o *object.Object) string {
	if len(o.Finalizers()) == 0 {
		return ""
	}
	return " (finalizers " + words(o.Finalizers()) + ")"
}

// remainingFinalizers returns the finalizers that are not predicted to be removed. The time when
// other controllers remove theirs is not predicted.
func (e expectation) remainingFinalizers(o *object.Object) []string {
	return sorted(slices.DeleteFunc(slices.Clone(o.Finalizers()), func(name string) bool {
		return slices.ContainsFunc(e.Once, func(r report.Release) bool { return r.Object == e.Object && r.Finalizer == name })
	}))
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

func words(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

func owners(o *object.Object) []types.UID {
	list := object.Mapped(o.Owners, func(ref object.OwnerReference) types.UID { return ref.UID })
	slices.Sort(list)
	return list
}

func ownerNames(o *object.Object) string {
	return words(object.Mapped(o.Owners, func(ref object.OwnerReference) string { return ref.Kind + " " + ref.Name }))
}

// expectation is the expected outcome of one object: its effect in the account, or that it is kept. It always
// has a Consequence.
type expectation struct{ *report.Effect }

func expectationsOf(result *plan.Result) []expectation {
	var list []expectation
	for e := range result.Plan.Account() {
		list = append(list, expectation{e})
	}
	for _, ref := range result.Stays() {
		list = append(list, expectation{&report.Effect{Object: ref, Outcome: report.Kept, Consequence: &report.Consequence{Certainty: report.Sure}}})
	}
	return list
}

// mayBeDeleted reports whether the plan predicts the deletion of the object, now or later.
func (e expectation) mayBeDeleted() bool { return e.IsDeleted() }

// startsDeletion reports whether the object will be deleted or being deleted.
func (e expectation) startsDeletion() bool {
	return e.Outcome == report.Deleted || e.staysTerminating()
}

// staysTerminating reports whether the object will be being deleted, but blocked.
func (e expectation) staysTerminating() bool { return e.Outcome == report.Blocked }

// changes reports whether the object remains and will be modified.
func (e expectation) changes() bool {
	return e.Outcome == report.Orphaned || e.Outcome == report.Pruned
}

// isCertain reports whether the prediction is certain enough for a comparison.
func (e expectation) isCertain() bool { return e.Consequence.Certainty == report.Sure }
