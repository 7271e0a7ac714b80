package plan

import (
	"errors"
	"maps"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// newServer returns a simulated API server. Admission costs time on every write. So it is on only
// if a webhook is known that does not answer or may be lost, or a policy that may deny.
func (r *recorder) newServer(world []*object.Object) *apisim.Server {
	options := []apisim.Option{apisim.WithCoverage(r.snap), apisim.WithRules(r.snap.Version().Rules())}
	if r.simHealth.Obstructed() || len(r.lostCallees.callees) > 0 {
		options = append(options, apisim.WithAdmission(r.admit))
	}
	s := apisim.New(world, r.snap.Resources, options...)
	if len(world) < len(r.snap.Objects) {
		s.Follow(r.snap.Objects)
	}
	return s
}

// admit refuses a write that a policy denies, or that needs a webhook that does not
// answer (an internal error). It records the reason in simHealth.
//
// Upstream: apiserver/pkg/admission/plugin/webhook/validating/dispatcher.go validatingDispatcher.Dispatch:
// a call that fails is an internal error, unless its failure is ignored.
func (r *recorder) admit(verb object.Verbs, ref object.Ref) error {
	why, refused := r.refusalOf(verb, ref)
	if !refused {
		return nil
	}
	r.simHealth.Refused[r.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name).Ref] = why
	if why.Denial != nil {
		return r.denied(ref, why)
	}
	return internalError(why)
}

// denied returns the API server's answer to a write that a policy denies. It says "is forbidden" for every reason;
// kubectl replaces that by "is invalid" for the reason Invalid.
//
// Upstream: apiserver/pkg/admission/plugin/policy/validating/dispatcher.go dispatcher.Dispatch.
func (r *recorder) denied(ref object.Ref, why health.Refusal) error {
	gr := schema.GroupResource{Group: ref.Group(), Resource: ref.Kind}
	if known, err := r.snap.Resources.For(ref.APIVersion, ref.Kind); err == nil {
		gr = known.GroupResource()
	}
	err := apierrors.NewForbidden(gr, ref.Name, errors.New(why.Text()))
	err.ErrStatus.Reason, err.ErrStatus.Code = why.Denial.Status()
	return err
}

// refusalOf reports whether a policy denies a write of the current actor, or a webhook that it needs
// does not answer. Deletes by the namespace controller name no object: it deletes collections.
//
// Upstream: pkg/controller/namespace/deletion/namespaced_resources_deleter.go deleteCollection.
func (r *recorder) refusalOf(verb object.Verbs, ref object.Ref) (health.Refusal, bool) {
	w := health.Write{Operation: health.Update, Object: r.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)}
	if verb == object.Delete {
		w.Operation, w.Unnamed = health.Remove, r.actor == controllers.NamespaceName
	}
	w.Ours = r.actor == outcome.ActorUser
	w.First = w.Ours
	if r.simHealth.Assessment == nil || w.Object == nil || verb == object.Create || !r.simHealth.Obstructed() && !r.lostCallees.any() {
		return health.Refusal{}, false
	}
	if verb != object.Delete {
		w.Subresource = r.subresource()
	}
	why, refused := r.simHealth.Assessment.Refuses(w)
	if refused && why.Sure {
		return why, true
	}
	if lost, ok := r.lostCallees.refuses(w); ok && (lost.Sure || !refused) {
		return lost, true
	}
	return why, refused
}

// RefusalOfDelete returns why the API server refuses a user's delete of an object, or may refuse it.
func RefusalOfDelete(h *health.Assessment, o *object.Object) (health.Refusal, bool) {
	if h == nil {
		return health.Refusal{}, false
	}
	return h.Refuses(health.Write{Operation: health.Remove, Object: o, Ours: true, First: true})
}

func internalError(r health.Refusal) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Reason: metav1.StatusReasonInternalError, Message: r.Text(),
	}}
}

// readError returns the error that prevents reads of a definition's stored instances. nil if they
// succeed.
func (r *recorder) readError(gr schema.GroupResource) error {
	o := r.snap.FindKind(object.CRD, "", gr.String())
	if o == nil || !r.simHealth.Obstructed() {
		return nil
	}
	why, fails := r.simHealth.Assessment.Cleanup(o)
	if !fails {
		return nil
	}
	r.simHealth.Refused[o.Ref] = why
	return internalError(why)
}

// subresource returns the subresource that the current actor updates. Empty for the object itself.
//
// Upstream: pkg/controller/namespace/deletion/namespaced_resources_deleter.go updateNamespaceStatusFunc,
// finalizeNamespace.
// Upstream: apiextensions-apiserver/pkg/controller/finalizer/crd_finalizer.go CRDFinalizer.sync.
// Upstream: pkg/controller/podgc/gc_controller.go markFailedAndDeletePodWithCondition.
func (r *recorder) subresource() string {
	switch {
	case r.finalizing:
		return "finalize"
	case slices.Contains([]string{controllers.NamespaceName, controllers.DefinitionName, controllers.PodGCName}, r.actor):
		return "status"
	}
	return ""
}

// withoutRecovery returns the effect on an object that is deleted only in the later future, before that:
// it stays, unless the request that would delete it is refused for a reason that may not apply. refused is
// true if that request is or may be refused.
func (s *simulation) withoutRecovery(out *outcome.Outcome, doubted map[object.Ref]health.Refusal) (e report.Effect, refused bool) {
	o := out.Track.First
	e = report.Effect{Object: o.Ref, Outcome: report.Kept, Reason: string(reason.UntilFinalizerComesOff), Message: "stays"}
	r, refused := s.futures.refused[o.Ref]
	if !refused && slices.ContainsFunc(out.Because, object.Ref.IsContainer) {
		r, refused = doubted[collectionOf(o.Ref)]
	}
	switch {
	case refused && r.Sure:
		e.Reason = string(outcome.RefusedReason(r))
		e.Message = keptSentence(&e) + ": " + r.Text()
	case refused:
		e.Outcome, e.Reason = report.Unknown, string(outcome.RefusedReason(r))
		e.Message = messenger{}.unknownSentence(&e) + ": " + r.Text()
	}
	return e, refused
}

// doubtedCollections returns why a request that deletes all objects of a kind in a namespace may be
// refused, by what all of them have in common:
//
//	the delete of secret/a may be denied → unknown whether the request goes on to secret/b
func (s *simulation) doubtedCollections() map[object.Ref]health.Refusal {
	refusals := map[object.Ref]health.Refusal{}
	for _, ref := range slices.SortedFunc(maps.Keys(s.futures.refused), object.Compare) {
		if r := s.futures.refused[ref]; !r.Sure {
			if _, known := refusals[collectionOf(ref)]; !known {
				refusals[collectionOf(ref)] = r
			}
		}
	}
	return refusals
}

func collectionOf(ref object.Ref) object.Ref {
	return object.Ref{APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace}
}
