package controllers

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// KubeletName names the controller that finishes pods.
const KubeletName = "kubelet"

// Kubelet returns the kubelets of all nodes, as far as deletion goes. After the containers of a pod
// that is being deleted have stopped, the kubelet deletes the object without grace, with its UID as
// a precondition and without a policy, so that finalizers of the collector stay. It ignores pods
// that only wait for finalizers. Mirror pods are deleted the same way; their re-creation by the
// kubelet is left out.
//
// Pods on missing nodes are left to PodGC. Pods of a kubelet that is known not to work are left as
// they are.
//
// Upstream: pkg/kubelet/status/status_manager.go manager.syncPod, manager.canBeDeleted.
// Rule: spec §2.9, §11.2, S051, S060–S062, U6.
func Kubelet(h Health) Controller {
	return &kubelet{
		identity: identity{name: KubeletName, assumption: "the kubelet of its node works and stops the containers within the grace period"},
		health:   h,
	}
}

type kubelet struct {
	identity

	lookout
	health Health
}

// Step finishes the pods that wait for their kubelet.
func (k *kubelet) Step(ctx context.Context, w World, send Send) (bool, error) {
	p := k.begin(ctx, w, send)
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
	return p.end()
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
	err := p.delete(pod, metav1.DeleteOptions{GracePeriodSeconds: &noGrace, Preconditions: only})
	p.refused(pod.Ref, object.Pod.Resource(), err)
}

// refused records a failed request. NotFound needs no wait: the object is gone.
func (p *pass) refused(of object.Ref, r object.Resource, err error) {
	if err != nil && !apierrors.IsNotFound(err) {
		p.wait(Wait{Object: of, Reason: Refused, Resource: r, Why: err.Error()})
	}
}

// PodGCName names the controller that removes pods that no kubelet will finish.
const PodGCName = "pod-gc"

// PodGC returns the controller that removes pods that no kubelet will finish: the pods of a missing
// node, and those that are being deleted and are unscheduled or on a node that is out of service. It marks them Failed unless they are finished,
// and deletes them without grace and without a precondition.
//
// A node is missing if it is not there now, and Look recorded a node or the world has one. PodGC
// removes every pod of a node that Look recorded, including those of DaemonSets and static pods. Of
// a node that was never seen, it removes a pod that is not being deleted only if the coverage is
// complete for nodes and for the time at which the pods were read. A pod stays if the real pod GC
// is known not to have removed it (Health.PodGC).
//
// Upstream: pkg/controller/podgc/gc_controller.go gcTerminating, gcOrphaned, gcUnscheduledTerminating.
// Rule: spec §2.9, S063, S064.
func PodGC(c Coverage, h Health) Controller {
	return &podGC{
		identity: identity{name: PodGCName, assumption: "the node stays away for longer than the 40 seconds that pod GC waits"},
		coverage: c,
		health:   h,
	}
}

type podGC struct {
	identity

	lookout
	coverage Coverage
	health   Health
}

// Step removes the pods without a kubelet.
func (g *podGC) Step(ctx context.Context, w World, send Send) (bool, error) {
	p := g.begin(ctx, w, send)
	nodes := g.nodesOf(w)
	all, moments := g.coverage.Covers(object.Node.Resource(), ""), momentsOf(g.coverage)
	withoutKubelet := func(pod *object.Object) bool {
		return pod.BeingDeleted() && (nodes.misses(pod) || waitsForKubelet(pod) && g.outOfService(pod)) || nodes.deleted(pod) || all && nodes.lost(pod) && moments.UnseenNode(pod.Pod().NodeName) == ""
	}
	for _, pod := range podsThat(w, withoutKubelet) {
		if ctx.Err() != nil {
			break
		}
		lost := nodes.lost(pod)
		// Pod GC cannot be late with a node that went in the simulation.
		if why := g.health.PodGC(pod); why != "" && waitsForKubelet(pod) && !nodes.deleted(pod) && (lost || g.outOfService(pod)) {
			p.wait(Wait{Object: pod.Ref, Reason: podGCWaits[lost], Why: why})
			continue
		}
		if p.fail(pod) {
			p.finish(pod, nil)
		}
	}
	return p.end()
}

// podGCWaits is the reason of a wait for pod GC, by whether the node of the pod is missing.
var podGCWaits = map[bool]Reason{true: NodeGone, false: NodeNotReady}

func (g *podGC) outOfService(pod *object.Object) bool {
	return pod.Pod() != nil && g.health.OutOfService(pod.Pod().NodeName)
}

// fail marks a pod Failed unless it is finished, and reports whether the pod may be deleted now.
func (p *pass) fail(pod *object.Object) bool {
	if pod.Pod().Finished() {
		return true
	}
	next := pod.Clone()
	facts := *pod.Pod()
	facts.Phase = "Failed"
	next.Edit().Facts = &facts
	_, err := p.update(next)
	p.refused(pod.Ref, object.Pod.Resource(), err)
	return err == nil
}

// nodes are the nodes in the world, and those that existed before the simulation.
type nodes struct {
	names map[string]bool
	// before are the names of the nodes that Look recorded.
	before map[string]bool
}

// lookout remembers the nodes that existed before the simulation.
type lookout struct{ before map[string]bool }

// Look records the nodes.
func (l *lookout) Look(w World) { l.before = nodeNames(w) }

// nodesOf returns the current nodes.
func (l *lookout) nodesOf(w World) nodes { return nodes{names: nodeNames(w), before: l.before} }

func nodeNames(w World) map[string]bool {
	names := map[string]bool{}
	for _, o := range w.ObjectsOf(object.Node.GroupResource(), "") {
		names[o.Name] = true
	}
	return names
}

// misses reports whether no kubelet can finish the pod: it was never scheduled, or its node is
// lost. A pod without facts is assumed to be on an existing node.
func (n nodes) misses(pod *object.Object) bool {
	facts := pod.Pod()
	return facts != nil && facts.NodeName == "" || n.lost(pod)
}

// lost reports whether the node of the pod is missing. A world that never had a node says nothing
// about nodes, even if it claims to be complete.
func (n nodes) lost(pod *object.Object) bool {
	facts := pod.Pod()
	return facts != nil && facts.NodeName != "" && !n.names[facts.NodeName] && len(n.names)+len(n.before) > 0
}

// deleted reports whether the node of the pod existed before the simulation and is missing now.
func (n nodes) deleted(pod *object.Object) bool {
	return n.lost(pod) && n.before[pod.Pod().NodeName]
}
