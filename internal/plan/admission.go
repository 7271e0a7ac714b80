package plan

import (
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// newServer makes a simulated API server. That webhooks are asked costs time with every
// write, so that they are only where one is known not to answer.
func (r *recorder) newServer(world []*object.Object) *apisim.Server {
	options := []apisim.Option{apisim.WithCoverage(r.snap), apisim.WithRules(r.snap.Version().Rules())}
	if r.beside.Obstructed() {
		options = append(options, apisim.WithAdmission(r.admit))
	}
	s := apisim.New(world, r.snap.Resources, options...)
	if len(world) < len(r.snap.Objects) {
		s.Follow(r.snap.Objects)
	}
	return s
}

// admit refuses a write that needs a webhook which does not answer.
//
// Upstream: apiserver/pkg/admission/plugin/webhook/validating/dispatcher.go validatingDispatcher.Dispatch:
// a call that fails is an internal error, unless its failure is ignored.
func (r *recorder) admit(verb object.Verbs, ref object.Ref) error {
	why, refused := r.refuses(verb, ref)
	if !refused {
		return nil
	}
	r.beside.Refused[r.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name).Ref] = why
	return internalError(why)
}

// refuses tells of a write of the actor at work whether it needs such a webhook.
func (r *recorder) refuses(verb object.Verbs, ref object.Ref) (evidence.Refusal, bool) {
	w := evidence.Write{Operation: evidence.Update, Object: r.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)}
	if verb == object.Delete {
		w.Operation = evidence.Remove
	}
	if r.beside.Around == nil || w.Object == nil || verb == object.Create {
		return evidence.Refusal{}, false
	}
	if verb != object.Delete {
		w.Subresource = r.subresource()
	}
	return r.beside.Around.Refuses(w)
}

func internalError(r evidence.Refusal) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Reason: metav1.StatusReasonInternalError, Message: r.Text(),
	}}
}

// unreadable says why the stored instances of a definition cannot be read.
func (r *recorder) unreadable(gr schema.GroupResource) error {
	o := r.snap.FindKind(object.CRD, "", gr.String())
	if o == nil || !r.beside.Obstructed() {
		return nil
	}
	why, fails := r.beside.Around.Cleanup(o)
	if !fails {
		return nil
	}
	r.beside.Refused[o.Ref] = why
	return internalError(why)
}

// subresource is the part of an object that the actor at work updates.
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
