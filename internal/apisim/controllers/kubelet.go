package controllers

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// KubeletName is the name of the controller that finishes pods.
const KubeletName = "kubelet"

// kubeletAssumption is what the end of a pod on a node rests on: the snapshot
// does not tell whether a node is ready. (spec §11.2, U6)
const kubeletAssumption = "the kubelet of its node works and stops the containers within the grace period"

// Kubelet returns the kubelets of all nodes, as far as deletion goes: a pod that
// is being deleted has its containers stopped, and then the kubelet deletes the
// object with no grace left, pinned to its UID and without a policy, so that a
// finalizer of the collector stays. Pods that only finalizers hold are not its
// business. Mirror pods end the same way; that the kubelet creates them anew is
// left out.
//
// Pods whose node is known to be missing are left to PodGC, and those whose kubelet is
// known not to work are left as they are. A nil health stands for kubelets that work.
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

// Step finishes the pods that are waiting for their kubelet.
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

// fails says why the kubelet of a pod does not end it. What is known of a node is asked for once.
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

// waitsForKubelet reports whether a delete without grace changes anything: there is
// a grace period to end, or nothing at all holds the pod.
func waitsForKubelet(pod *object.Object) bool {
	if !pod.BeingDeleted() {
		return false
	}
	grace := pod.GracePeriod()
	return grace != nil && *grace != 0 || len(pod.Finalizers()) == 0
}

// noGrace is for options, which nobody writes to.
var noGrace int64

// finish deletes a pod with no grace left.
func (p *pass) finish(pod *object.Object, only *metav1.Preconditions) {
	err := p.w.Delete(p.ctx, pod.Ref, metav1.DeleteOptions{GracePeriodSeconds: &noGrace, Preconditions: only})
	p.refused(pod.Ref, object.Pod.Resource(), err)
}

// refused notes a request that failed. An object that has gone needs no more.
func (p *pass) refused(of object.Ref, r object.Resource, err error) {
	if err != nil && !apierrors.IsNotFound(err) {
		p.wait(Wait{Object: of, Reason: Refused, Resource: r, Why: err.Error()})
	}
}
