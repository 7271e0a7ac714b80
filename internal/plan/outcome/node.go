package outcome

import (
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// nodeOf returns the node that a pod is bound to, without a uid.
func nodeOf(o *object.Object) (object.Ref, bool) {
	if facts := o.Pod(); facts != nil && facts.NodeName != "" {
		return object.Node.Ref("", facts.NodeName), true
	}
	return object.Ref{}, false
}

// addPods adds the pods of nodes with an unknown outcome: pod GC deletes them if the node goes.
func (j *Judge) addPods(all *Outcomes) (added []*Outcome) {
	unknown := map[string]*Outcome{}
	for _, out := range all.All() {
		if out.Track.First.Is(object.Node) && out.Result == report.Unknown {
			unknown[out.Track.First.Name] = out
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	for _, o := range j.Server.ObjectsOf(object.Pod.GroupResource(), "") {
		node, ok := nodeOf(o)
		of, out := unknown[node.Name], j.OfObject(all, o)
		if !ok || of == nil || o.BeingDeleted() || out != nil && (out.Result == report.Unknown || out.Result == report.Deleted || out.Track.Target) {
			continue
		}
		if out == nil {
			out = &Outcome{Track: &Track{First: o, Last: o}, AlreadyHappening: of.AlreadyHappening}
			j.set(all, o, out)
		}
		out.MarkUnknown(reason.NodeUnknown)
		out.Because = []object.Ref{of.Track.First.Ref}
		added = append(added, out)
	}
	return added
}
