package history

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// shortly is how many seconds after a change of its spec a controller has acted on it, at
// least as far as anybody would bet.
const shortly = 60

// byController: who controls an object may delete it, for reasons that its metadata does not
// tell. Those of Kubernetes itself ask for nothing about dependents.
func (t *tracer) byController(s *suspects, o *object.Object, left trace, revision uint64) {
	ref, ok := o.Controller()
	if !ok || builtIn[schema.GroupKind{Group: object.GroupOf(ref.APIVersion), Kind: ref.Kind}] && !t.leaves(o, left, unnamed, background) {
		return
	}
	code := Controller
	if changed, ok := t.respecified[ref.UID]; ok {
		was, now := t.past.Clock.At(changed).Time, t.past.Clock.At(revision).Time
		if was == 0 || now-was <= shortly {
			code = ControllerChanged
		}
	}
	s.suspect(code, t.named(ref.In(o.Namespace)))
}

// builtIn are the controllers of Kubernetes itself.
var builtIn = map[schema.GroupKind]bool{
	object.ReplicaSet.GroupKind: true, object.ReplicationController.GroupKind: true, object.Deployment.GroupKind: true,
	object.StatefulSet.GroupKind: true, object.DaemonSet.GroupKind: true, object.Job.GroupKind: true,
	object.CronJob.GroupKind: true, object.Service.GroupKind: true, object.Endpoints.GroupKind: true,
}

// byItself: Kubernetes deletes some objects of its own when they have served, when they have
// expired, or when something on a node asks for it.
func (t *tracer) byItself(s *suspects, o *object.Object, left trace) {
	switch {
	case o.Is(object.Pod):
		if facts := o.Pod(); (facts == nil || facts.NodeName != "" || facts.Finished()) && t.leaves(o, left, unnamed, background) {
			s.suspect(Evicted, object.Ref{})
		}
	case o.Is(object.Job):
		if facts := o.Job(); (facts == nil || facts.Finished) && t.leaves(o, left, foreground, background) {
			s.suspect(CleanedUp, object.Ref{})
		}
	case cleanedUp(o) && t.leaves(o, left, unnamed, background):
		s.suspect(CleanedUp, object.Ref{})
	}
}

// cleanedUp reports whether Kubernetes may delete the object over what no metadata shows.
func cleanedUp(o *object.Object) bool {
	switch {
	case o.Is(object.Secret):
		return o.Token() != nil || o.Namespace == "kube-system" && strings.HasPrefix(o.Name, "bootstrap-token-")
	case o.Is(object.PV):
		v := o.Volume()
		return v == nil || v.ReclaimPolicy != controllers.ReclaimRetain && !v.Bound()
	case o.Is(object.EndpointSlice):
		return o.Labels.Has("endpointslice.kubernetes.io/managed-by")
	case o.Is(object.APIService):
		return controllers.Registered(o)
	case o.Is(object.ResourceClaim):
		_, controlled := o.Controller()
		return controlled
	}
	return shortLived[schema.GroupKind{Group: o.Group(), Kind: o.Kind}]
}

// shortLived are the kinds whose objects come and go.
var shortLived = map[schema.GroupKind]bool{
	{Kind: "Event"}:                                                             true,
	{Group: "events.k8s.io", Kind: "Event"}:                                     true,
	object.Lease.GroupKind:                                                      true,
	object.Node.GroupKind:                                                       true,
	object.IPAddress.GroupKind:                                                  true,
	object.ResourceSlice.GroupKind:                                              true,
	object.VolumeAttachment.GroupKind:                                           true,
	object.CertificateSigningRequest.GroupKind:                                  true,
	object.PodCertificateRequest.GroupKind:                                      true,
	{Group: "certificates.k8s.io", Kind: "ClusterTrustBundle"}:                  true,
	{Group: "coordination.k8s.io", Kind: "LeaseCandidate"}:                      true,
	{Group: "flowcontrol.apiserver.k8s.io", Kind: "FlowSchema"}:                 true,
	{Group: "flowcontrol.apiserver.k8s.io", Kind: "PriorityLevelConfiguration"}: true,
	{Group: "internal.apiserver.k8s.io", Kind: "StorageVersion"}:                true,
	{Group: "resource.k8s.io", Kind: "ResourcePoolStatusRequest"}:               true,
}

// passing reports whether it is the rule for such objects that Kubernetes deletes them, and a
// delete by somebody the exception.
func passing(code Code, o *object.Object) bool {
	if code != CleanedUp {
		return false
	}
	switch {
	case o.Is(object.Job):
		ref, ok := o.Controller()
		return ok && ref.Is(object.CronJob) && o.Job() != nil && o.Job().Finished
	case o.Is(object.Node), o.Is(object.PV), o.Is(object.Secret), o.Is(object.APIService):
		return false
	}
	return cleanedUp(o)
}

// groupOfName is the group in the name of an APIService or a definition.
func groupOfName(name string) string {
	_, group, _ := strings.Cut(name, ".")
	return group
}
