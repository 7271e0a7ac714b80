package controllers

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// KubeletName names the controller that finishes pods.
const KubeletName = "kubelet"

// kubeletAssumption must hold for the deletion of a pod on a node that is not known to have
// stopped. (spec §11.2, U6)
const kubeletAssumption = "the kubelet of its node works and stops the containers within the grace period"

// Kubelet returns the kubelets of all nodes, as far as deletion goes. After the containers of a pod
// that is being deleted have stopped, the kubelet deletes the object without grace, with its UID as
// a precondition and without a policy, so that finalizers of the collector stay. It ignores pods
// that only wait for finalizers. Mirror pods are deleted the same way; their re-creation by the
// kubelet is left out.
//
// Pods on missing nodes are left to PodGC. Pods of a kubelet that is known not to work are left as
// they are. A nil health means that all kubelets work.
//
// Upstream: pkg/kubelet/status/status_manager.go manager.syncPod, manager.canBeDeleted.
// Rule: spec §2.9, S051, S060–S062.
func Kubelet(h Health) Controller { return &kubelet{health: orHealthy(h)} }

type kubelet struct {
	lookout
	health Health
	waits  []Wait
}

func (*kubelet) Name() string       { return KubeletName }
func (*kubelet) Assumption() string { return kubeletAssumption }
func (k *kubelet) Waiting() []Wait  { return k.waits }

// Step finishes the pods that wait for their kubelet.
func (k *kubelet) Step(ctx context.Context, w World) (bool, error) {
	p := begin(ctx, w, KubeletName)
	nodes, failing := k.nodesOf(w), map[string]string{}
	unfinished := func(pod *object.Object) bool { return waitsForKubelet(pod) && !nodes.misses(pod) }
	for _, pod := range podsThat(w, unfinished) {
		if ctx.Err() != nil {
			break
		}
		if why := k.fails(pod, failing); why != "" {
			p.wait(Wait{Object: pod.Ref, Reason: NodeNotReady, Why: why})
			continue
		}
		p.finish(pod, &metav1.Preconditions{UID: &pod.UID})
	}
	return p.end(&k.waits)
}

// fails returns why the kubelet of a pod doesn't finish it, "" if it does. It asks once per node
// and caches the answer in known.
func (k *kubelet) fails(pod *object.Object, known map[string]string) string {
	facts := pod.Pod()
	if facts == nil {
		return ""
	}
	why, ok := known[facts.NodeName]
	if !ok {
		why = k.health.Kubelet(facts.NodeName)
		known[facts.NodeName] = why
	}
	return why
}

// waitsForKubelet reports whether a delete without grace changes anything: the pod has grace left,
// or no finalizer.
func waitsForKubelet(pod *object.Object) bool {
	if !pod.BeingDeleted() {
		return false
	}
	grace := pod.GracePeriod()
	return grace != nil && *grace != 0 || len(pod.Finalizers()) == 0
}

// noGrace is a zero that delete options point to. It must not be written.
var noGrace int64

// finish deletes a pod without grace.
func (p *pass) finish(pod *object.Object, only *metav1.Preconditions) {
	err := p.w.Delete(p.ctx, pod.Ref, metav1.DeleteOptions{GracePeriodSeconds: &noGrace, Preconditions: only})
	p.refused(pod.Ref, object.Pod.Resource(), err)
}

// refused records a failed request. NotFound needs no wait: the object is gone.
func (p *pass) refused(of object.Ref, r object.Resource, err error) {
	if err != nil && !apierrors.IsNotFound(err) {
		p.wait(Wait{Object: of, Reason: Refused, Resource: r, Why: err.Error()})
	}
}
