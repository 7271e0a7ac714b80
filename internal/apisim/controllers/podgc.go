package controllers

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// PodGCName names the controller that removes pods without a kubelet.
const PodGCName = "pod-gc"

// podGCAssumption must hold for the deletion of a pod without a node.
const podGCAssumption = "the node stays away for longer than the 40 seconds that pod GC waits"

// PodGC returns the controller that removes pods that no kubelet will finish: the pods of a missing
// node, and unscheduled pods that are being deleted. It marks them Failed unless they are finished,
// and deletes them without grace and without a precondition.
//
// A node is missing if Look recorded it and it is gone now, or if the world has other nodes. PodGC
// removes every pod of a node that Look recorded, including those of DaemonSets and static pods. Of
// a node that was never seen, it removes a pod that is not being deleted only if the coverage is
// complete for nodes and for the time at which the pods were read. A nil coverage means that the
// snapshot is complete. A pod that PodGC is known not to have removed stays; a nil health knows of
// none.
//
// Upstream: pkg/controller/podgc/gc_controller.go gcOrphaned, gcUnscheduledTerminating.
// Rule: spec §2.9, S063, S064.
func PodGC(c Coverage, h Health) Controller {
	return &podGC{coverage: orComplete(c), health: orHealthy(h)}
}

type podGC struct {
	lookout
	coverage Coverage
	health   Health
	waits    []Wait
}

func (*podGC) Name() string       { return PodGCName }
func (*podGC) Assumption() string { return podGCAssumption }
func (g *podGC) Waiting() []Wait  { return g.waits }

// Step removes the pods without a kubelet.
func (g *podGC) Step(ctx context.Context, w World) (bool, error) {
	p := begin(ctx, w, PodGCName)
	nodes := g.nodesOf(w)
	all, moments := g.coverage.Covers(object.Node.Resource(), ""), momentsOf(g.coverage)
	alone := func(pod *object.Object) bool {
		return pod.BeingDeleted() && nodes.misses(pod) || nodes.deleted(pod) || all && nodes.lost(pod) && moments.UnseenNode(pod.Pod().NodeName) == ""
	}
	for _, pod := range podsThat(w, alone) {
		if ctx.Err() != nil {
			break
		}
		if why := g.health.PodGC(pod); why != "" && waitsForKubelet(pod) && nodes.lost(pod) {
			p.wait(Wait{Object: pod.Ref, Reason: NodeGone, Why: why})
			continue
		}
		if p.fail(pod) {
			p.finish(pod, nil)
		}
	}
	return p.end(&g.waits)
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
	_, err := p.w.Update(p.ctx, next)
	p.refused(pod.Ref, object.Pod.Resource(), err)
	return err == nil
}
