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
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// neighbours are those who act beside the collector, as far as the surroundings show
// whether they do their part. It is the coverage, the health and the admission of a
// simulated world. Without surroundings nothing is known of them, and all is assumed.
type neighbours struct {
	*snapshot.Snapshot
	around   *evidence.Surroundings
	recorder *recorder
	// refused are the objects to which a write was refused, with the last reason.
	refused map[object.Ref]evidence.Refusal
	// asked and runs remember whether kube-controller-manager was seen to run.
	asked, runs bool
}

var (
	_ controllers.Coverage  = (*neighbours)(nil)
	_ controllers.Discovery = (*neighbours)(nil)
	_ controllers.Health    = (*neighbours)(nil)
)

func newNeighbours(snap *snapshot.Snapshot, around *evidence.Surroundings) *neighbours {
	return &neighbours{Snapshot: snap, around: around, refused: map[object.Ref]evidence.Refusal{}}
}

// server is a simulated API server with these neighbours. That webhooks are asked costs
// time with every write, so that they are only where one is known not to answer.
func (n *neighbours) server() *apisim.Server {
	options := []apisim.Option{apisim.WithCoverage(n.Snapshot)}
	if n.around != nil && n.around.Obstructed() {
		options = append(options, apisim.WithAdmission(n.admit))
	}
	return apisim.New(n.Objects, n.Resources, options...)
}

// admit refuses a write that needs a webhook which does not answer.
//
// Upstream: apiserver/pkg/admission/plugin/webhook/validating/dispatcher.go validatingDispatcher.Dispatch:
// a call that fails is an internal error, unless its failure is ignored.
func (n *neighbours) admit(verb object.Verbs, ref object.Ref) error {
	r, refused := n.refuses(verb, ref)
	if !refused {
		return nil
	}
	n.refused[n.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name).Ref] = r
	return internalError(r)
}

// refuses tells of a write of the actor at work whether it needs such a webhook.
func (n *neighbours) refuses(verb object.Verbs, ref object.Ref) (evidence.Refusal, bool) {
	w := evidence.Write{Operation: evidence.Update, Object: n.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)}
	if verb == object.Delete {
		w.Operation = evidence.Remove
	}
	if n.around == nil || w.Object == nil || verb == object.Create {
		return evidence.Refusal{}, false
	}
	if verb != object.Delete {
		w.Subresource = n.recorder.subresource()
	}
	return n.around.Refuses(w)
}

func internalError(r evidence.Refusal) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Reason: metav1.StatusReasonInternalError, Message: r.Text(),
	}}
}

// watch takes note of who asks.
func (n *neighbours) watch(r *recorder) {
	n.recorder = r
	if n.around != nil && n.around.Obstructed() {
		r.unreadable = n.unreadable
	}
}

// unreadable says why the stored instances of a definition cannot be read.
func (n *neighbours) unreadable(gr schema.GroupResource) error {
	o := n.FindKind(object.CRD, "", gr.String())
	if o == nil || n.around == nil {
		return nil
	}
	r, fails := n.around.Cleanup(o)
	if !fails {
		return nil
	}
	n.refused[o.Ref] = r
	return internalError(r)
}

// hidden is why the content of a namespace or a definition could not be listed, where
// that keeps it: its conversion fails for whoever asks.
func (n *neighbours) hidden(o *object.Object) (evidence.Refusal, bool) {
	switch {
	case n.around == nil:
	case o.Is(object.Namespace):
		return n.around.Unreadable(o.Name)
	case o.Definition() != nil:
		return n.around.Cleanup(o)
	}
	return evidence.Refusal{}, false
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

// Kubelet says why the kubelet of a node does not end pods.
func (n *neighbours) Kubelet(node string) string {
	if n.around == nil {
		return ""
	}
	state, ready := n.around.Node(node)
	if state != evidence.NodeNotReady {
		return ""
	}
	text := "Ready is " + ready.Status
	if ready.Message != "" {
		text += ": " + evidence.Clip(ready.Message)
	}
	return text
}

// PodGC says why pod GC has not removed a pod whose node is missing.
func (n *neighbours) PodGC(pod *object.Object) string {
	if n.around == nil || !n.around.Overdue(pod) {
		return ""
	}
	return "pod GC has not removed it for minutes"
}

// Undiscovered lists the API versions that the server cannot name: those of the
// snapshot, and those behind an APIService that does not answer.
func (n *neighbours) Undiscovered() []object.Undiscovered {
	list := n.Snapshot.Undiscovered()
	if n.around == nil {
		return list
	}
	for _, a := range n.around.APIServices() {
		version := object.Resource{Group: a.Group, Version: a.Version}.APIVersion()
		list = slices.DeleteFunc(slices.Clone(list), func(u object.Undiscovered) bool { return u.APIVersion == version })
		list = append(list, object.Undiscovered{APIVersion: version, Why: "APIService " + a.Name + " does not answer: " + evidence.Clip(a.Available.Message)})
	}
	return list
}

// unanswered tells whether discovery fails because of an APIService that was seen.
func (n *neighbours) unanswered() bool { return n.around != nil && len(n.around.APIServices()) > 0 }

// managed tells whether kube-controller-manager was seen to run.
func (n *neighbours) managed() bool {
	if !n.asked && n.around != nil {
		n.runs = n.around.ManagerRuns()
	}
	n.asked = true
	return n.runs
}

// namespaceRuns is what is left to assume of the namespace controller where it was seen
// what it needs, or that it has not got it.
const namespaceRuns = "the namespace controller runs"

// rest is what is left of the assumption on which a controller's part in the end of an
// object rests; empty where all of it was seen.
func (n *neighbours) rest(actor, assumption string, o *object.Object) string {
	seen := false
	switch {
	case n.around == nil:
	case actor == controllers.KubeletName:
		if pod := o.Pod(); pod != nil {
			state, _ := n.around.Node(pod.NodeName)
			seen = state == evidence.NodeReady
		}
	case actor == controllers.NamespaceName:
		if n.unanswered() || n.around.Obstructed() || n.around.Discovered() && n.around.Admitted() && n.around.Converted() {
			assumption, seen = namespaceRuns, n.managed()
		}
	case actor == controllers.DefinitionName:
		seen = n.around.Converted()
	case actor == controllers.JobName, actor == controllers.EndpointsName:
		seen = n.managed()
	}
	if seen {
		return ""
	}
	return assumption
}

// refusedReason is the reason of a write that was refused.
func refusedReason(r evidence.Refusal) Reason {
	switch {
	case !r.Sure:
		return WebhookUnknown
	case r.Webhook == nil:
		return ConversionFails
	}
	return WebhookUnreachable
}

// refusedWrite is about an object that the collector has not managed to write to.
func (s *simulation) refusedWrite(f *fate) bool {
	ref, j := f.track.first.Ref, f.track.decision
	r, refused := s.neighbours.refused[ref]
	if !refused {
		err := s.recorder.refused[ref]
		if err != nil {
			f.outcome, f.reason, f.because, f.detail = report.Kept, string(RequestRefused), s.owners(j, j.dangling, j.waiting), err.Error()
		}
		return err != nil
	}
	f.outcome, f.reason, f.because, f.detail = report.Kept, string(refusedReason(r)), s.owners(j, j.dangling, j.waiting), r.Text()
	if !r.Sure {
		f.doubt(WebhookUnknown)
	}
	return true
}

// blockedByRefusal names the webhook that keeps an object, or what is in it, from
// going. Who else holds the object has been said.
func (s *simulation) blockedByRefusal(f *fate, o *object.Object) {
	r, refused := s.neighbours.refused[o.Ref]
	switch Reason(f.reason) {
	case OrphaningFails:
		if x, ok := s.refusedOf(f.blocked.Dependents); ok {
			f.detail = x.Text()
		}
		return
	case ContentRemains, "":
		if !refused {
			r, refused = s.refusedOf(f.blocked.Dependents)
		}
	case GracePeriodRuns:
	case ContentNotCovered:
		if r, refused = s.neighbours.hidden(o); refused && r.Sure {
			f.outcome = report.Blocked
			if o.Definition() == nil { // a list that fails is as good as a delete that is refused
				f.blocked.Conditions = slices.Compact(slices.Sorted(slices.Values(append(controllers.Wait{
					Controller: controllers.NamespaceName, Reason: controllers.Refused,
					Resource: object.Resource{Group: r.Definition.Group, Name: r.Definition.Plural},
				}.Conditions(), f.blocked.Conditions...))))
			}
		}
	case FinalizerRemains:
		w, ok := s.rest.waits(o.Ref)
		refused = refused && ok && w.holds != "" && len(f.blocked.Finalizers) == 1
	default:
		return
	}
	if !refused {
		return
	}
	f.reason, f.detail = string(refusedReason(r)), r.Text()
	if !r.Sure {
		f.doubt(WebhookUnknown)
	}
}

// refusedOf is why a write was refused to one of the objects that stand.
func (s *simulation) refusedOf(list []report.Ref) (evidence.Refusal, bool) {
	for _, d := range list {
		if r, ok := s.neighbours.refused[object.Ref(d)]; ok && s.stands(object.Ref(d)) {
			return r, true
		}
	}
	return evidence.Refusal{}, false
}

// stands tells whether nobody has deleted an object.
func (s *simulation) stands(ref object.Ref) bool {
	tr := s.tracks.byUID[ref.UID]
	return tr == nil || tr.last != nil && !tr.last.BeingDeleted()
}
