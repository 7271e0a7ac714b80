package past

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// reactionSeconds is the time, in seconds, within which a controller is assumed to react to a
// change of its spec.
const reactionSeconds = 60

// addOwnController adds the controller of an object, which may delete it for reasons that metadata
// does not show. Built-in controllers name no policy or Background.
func (t *tracer) addOwnController(s *candidates, o *object.Object, left trace, revision uint64) {
	ref, ok := o.Controller()
	made, builtIn := createdKinds[schema.GroupKind{Group: object.GroupOf(ref.APIVersion), Kind: ref.Kind}]
	if !ok || builtIn && !t.mayLeave(o, left, noPolicy, background) {
		return
	}
	code := reason.Controller
	mayDelete := !builtIn || slices.ContainsFunc(made, o.Is)
	if changed, ok := t.specChanged[ref.UID]; ok && mayDelete && !t.replaced[o.UID] {
		was, now := t.past.Clock.Earliest(changed).Time, t.past.Clock.Earliest(revision).Time
		if was == 0 || now-was <= reactionSeconds {
			code = reason.ControllerChanged
		}
	}
	s.addPossible(code, t.resolve(ref.In(o.Namespace)))
}

// createdKinds has the kinds that built-in controllers create, and may delete when their own spec
// changes.
var createdKinds = map[schema.GroupKind][]object.Kind{
	object.ReplicaSet.GroupKind:            {object.Pod},
	object.ReplicationController.GroupKind: {object.Pod},
	object.Deployment.GroupKind:            {object.ReplicaSet},
	object.StatefulSet.GroupKind:           {object.Pod, object.ControllerRevision, object.PVC},
	object.DaemonSet.GroupKind:             {object.Pod, object.ControllerRevision},
	object.Job.GroupKind:                   {object.Pod},
	object.CronJob.GroupKind:               {object.Job},
	object.Service.GroupKind:               {object.EndpointSlice},
	object.Endpoints.GroupKind:             {object.EndpointSlice},
}

// findReplaced returns the pods that a ReplicaSet replaced with another one. A ReplicaSet with too
// many pods does not do that, so it did not delete these itself. Each new pod replaces the last one
// that was lost. Pods around a change of the ReplicaSet's spec are skipped.
func (t *tracer) findReplaced() map[types.UID]bool {
	replaced, gone := map[types.UID]bool{}, map[types.UID]bool{}
	type pod struct {
		uid      types.UID
		revision uint64
	}
	lost := map[types.UID][]pod{}
	generation, told := map[types.UID]int64{}, map[types.UID]uint64{}
	for i := range t.changes {
		c := &t.changes[i]
		if c.Unseen {
			continue
		}
		o := c.Object
		if o.Is(object.ReplicaSet) || o.Is(object.ReplicationController) {
			if generation[o.UID] != o.Generation {
				delete(lost, o.UID)
				told[o.UID] = c.Revision
			}
			generation[o.UID] = o.Generation
			continue
		}
		ref, controlled := o.Controller()
		if !controlled || !o.Is(object.Pod) || !ref.Is(object.ReplicaSet) && !ref.Is(object.ReplicationController) {
			continue
		}
		list := lost[ref.UID]
		switch {
		case o.BeingDeleted() || c.Type == object.Deleted:
			if !gone[o.UID] {
				gone[o.UID] = true
				if at := told[ref.UID]; at == 0 || !t.isShortlyAfter(at, c.Revision) {
					lost[ref.UID] = append(list, pod{o.UID, c.Revision})
				}
			}
		case c.Type == object.Added && len(list) > 0:
			last := list[len(list)-1]
			lost[ref.UID] = list[:len(list)-1]
			replaced[last.uid] = t.isShortlyAfter(last.revision, c.Revision)
		}
	}
	return replaced
}

// addCleanup adds that Kubernetes deletes some objects when they are finished or expired, or when a
// node needs it.
func (t *tracer) addCleanup(s *candidates, o *object.Object, left trace) {
	switch {
	case o.Is(object.Pod):
		left.customGrace = false // an eviction may name a grace period
		if facts := o.Pod(); (facts == nil || facts.NodeName != "" || facts.Finished()) && t.mayLeave(o, left, noPolicy, background) {
			s.addPossible(reason.Evicted, object.Ref{})
		}
	case o.Is(object.Job):
		if facts := o.Job(); (facts == nil || facts.Finished) && t.mayLeave(o, left, foreground, background) {
			s.addPossible(reason.CleanedUp, object.Ref{})
		}
	case mayBeCleanedUp(o) && t.mayLeave(o, left, noPolicy, background):
		s.addPossible(reason.CleanedUp, object.Ref{})
	}
}

// mayBeCleanedUp reports whether Kubernetes may delete the object for a reason that metadata does
// not show.
func mayBeCleanedUp(o *object.Object) bool {
	switch {
	case o.Is(object.Secret):
		return o.Token() != nil || o.Namespace == "kube-system" && strings.HasPrefix(o.Name, "bootstrap-token-")
	case o.Is(object.PV):
		v := o.Volume()
		return v == nil || v.ReclaimPolicy != controllers.ReclaimRetain && !v.Bound()
	case o.Is(object.EndpointSlice):
		return o.Labels.Has("endpointslice.kubernetes.io/managed-by")
	case o.Is(object.APIService):
		return o.RegisteredForCRDs()
	case o.Is(object.ResourceClaim):
		_, controlled := o.Controller()
		return controlled
	}
	return shortLivedKinds[o.GroupKind()]
}

// shortLivedKinds are the kinds with objects that are created and deleted routinely.
var shortLivedKinds = map[schema.GroupKind]bool{
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

// isUsuallyCleanedUp reports whether Kubernetes usually deletes such objects, and a client rarely
// does.
func isUsuallyCleanedUp(code reason.Code, o *object.Object) bool {
	if code != reason.CleanedUp {
		return false
	}
	switch {
	case o.Is(object.Job):
		ref, ok := o.Controller()
		return ok && ref.Is(object.CronJob) && o.Job() != nil && o.Job().Finished
	case o.Is(object.Node), o.Is(object.PV), o.Is(object.Secret), o.Is(object.APIService):
		return false
	}
	return mayBeCleanedUp(o)
}

// groupInName returns the group in the name of an APIService or a CRD.
func groupInName(name string) string {
	_, group, _ := strings.Cut(name, ".")
	return group
}
