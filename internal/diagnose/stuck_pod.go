package diagnose

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// pod handles a pod with containers that have to stop.
func (i *inquiry) pod(o *object.Object) []end {
	facts := o.Pod()
	e := endAt(o, reason.UnderWay)
	if facts == nil {
		e.code = reason.EndNotSeen
		e.detail = "whether it is on a node is not shown"
		e.remedy(act(report.ShowNode, o), "shows its node", "")
		return i.sealed(e)
	}
	if facts.Mirror {
		e.prove(reason.StaticPod, nil, "its kubelet makes it anew as long as the manifest is on node "+facts.NodeName)
	}
	node := facts.NodeName
	there := i.snap.FindKind(object.Node, "", node)
	state, ready := i.health.Node(node)
	i.proveEvents(o.Ref, &e)
	switch {
	case node == "":
		return nil
	case state == health.NodeAbsent && i.health.Overdue(o):
		e.code = reason.NodeGone
		e.detail = node
		e.prove(reason.NodeSays, nil, "there is no node "+node+", and pod GC has not removed the pod for minutes")
		i.forceDelete(o, &e, "nothing, if the machine is gone for good; else its containers may still run")
	case state == health.NodeNotReady && i.health.PodGCTakesOver(o):
		return nil
	case state == health.NodeNotReady:
		e.code = reason.NodeNotReady
		e.detail = node
		about := object.Node.Ref("", node)
		if there != nil {
			about = there.Ref
		}
		e.prove(reason.NodeSays, &about, strings.TrimSuffix(fmt.Sprintf("node %s: Ready is %s: %s", node, cmp.Or(ready.Status, "Unknown"), ready.Message), ": "))
		e.remedy(report.Act{Action: report.Describe, Target: object.Node.Ref("", node)}, "shows what is wrong with the node: once it is ready, its kubelet ends the pod", "")
		i.forceDelete(o, &e, "the containers may still run on the node, next to those of a successor")
	case i.now != 0 && i.health.Age(o) < 0:
		e.code = reason.GracePeriod
		e.detail = node
		i.await(o, &e, "waits for it")
	case i.health.Overdue(o):
		e.code = reason.PodNotFinished
		e.detail = node
		if s := i.health.Evidence().CompletenessOf(health.Nodes, ""); state == health.NodeUnknown && !s.Whole {
			e.prove(reason.NotRead, nil, "not read: nodes: "+s.Why)
		}
		e.remedy(act(report.Describe, o), "shows what its kubelet says", "")
		i.forceDelete(o, &e, "the containers may still run on the node, next to those of a successor")
	case i.now == 0 && state != health.NodeReady:
		e.code = reason.EndNotSeen
		e.detail = "whether node " + node + " works, and since when the pod is being deleted, is not known"
		e.remedy(act(report.Describe, o), "shows what its kubelet says", "")
	case facts.Mirror:
		e.detail = "its kubelet makes it anew"
		e.remedy(act(report.Describe, o), "shows the node, on which the manifest of a static pod has to be removed", "")
	default:
		return nil
	}
	return i.sealed(e)
}

// sealed returns the end with its code as the last wait of its chain.
func (i *inquiry) sealed(e end) []end {
	e.chain[len(e.chain)-1].Waits = string(e.code)
	return []end{e}
}

func (i *inquiry) forceDelete(o *object.Object, e *end, cost string) {
	effect := "removes the object without asking the node"
	if names := o.Finalizers(); len(names) > 0 {
		effect = "ends its grace period without asking the node; the object stays until " + strings.Join(names, ", ") + " is removed"
	}
	e.remedy(act(report.ForceDelete, o), effect, cost)
}

// proveEvents adds the last warnings about an object.
func (i *inquiry) proveEvents(ref object.Ref, e *end) {
	const most = 2
	told := 0
	for _, x := range i.events[about{ref.Kind, ref.Namespace, ref.Name}] {
		if x.Warning && (x.About.UID == "" || x.About.UID == ref.UID) && told < most {
			e.prove(reason.EventSays, nil, x.Reason+": "+x.Note)
			told++
		}
	}
}
