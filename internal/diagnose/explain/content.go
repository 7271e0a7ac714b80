package explain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// surround adds the content of a namespace, the users of a claim, and the storage behind it.
func (q *question) surround(e *report.Explanation) {
	switch {
	case q.target.Is(object.Namespace):
		e.Content = contentOf(q.snap, q.target.Name)
	case q.target.Is(object.PVC):
		e.UsedBy = podsOf(q.snap, q.target)
	}
	if s, ok := plan.StorageOf(q.snap, q.target); ok {
		e.Storage = &s
	}
}

// podsOf returns the pods that use a claim.
func podsOf(snap *snapshot.Snapshot, claim *object.Object) []report.Ref {
	var pods []report.Ref
	for _, o := range snap.Objects {
		if facts := o.Pod(); facts != nil && o.Namespace == claim.Namespace &&
			slices.ContainsFunc(facts.Claims, func(c object.Claim) bool { return c.Name == claim.Name }) {
			pods = append(pods, report.RefOf(o.Ref))
		}
	}
	return pods
}

// contentOf counts the objects in a namespace by kind.
func contentOf(snap *snapshot.Snapshot, namespace string) []report.ContentCount {
	counts := map[report.ContentCount]int{}
	for _, o := range snap.Objects {
		if o.Namespace == namespace {
			counts[report.ContentCount{APIVersion: o.APIVersion, Kind: o.Kind, Role: roleOf(snap, o)}]++
		}
	}
	var list []report.ContentCount
	for c, n := range counts {
		c.Count = n
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b report.ContentCount) int {
		return cmp.Or(slices.Index(report.Roles(), a.Role)-slices.Index(report.Roles(), b.Role),
			strings.Compare(a.Kind, b.Kind), strings.Compare(a.APIVersion, b.APIVersion))
	})
	return list
}

// workloads are the kinds that run something, and Pod.
var workloads = []object.Kind{
	object.Pod, object.Deployment, object.StatefulSet, object.DaemonSet, object.ReplicaSet, object.ReplicationController, object.Job, object.CronJob,
}

// roleOf returns the role of an object in its namespace.
func roleOf(snap *snapshot.Snapshot, o *object.Object) report.Role {
	isOne := func(kinds []object.Kind) bool { return slices.ContainsFunc(kinds, o.Is) }
	_, controlled := o.Controller()
	r, err := snap.Resources.For(o.APIVersion, o.Kind)
	switch {
	case o.IsEvent(), o.Generated(), o.Token() != nil, controlled && o.Is(object.ReplicaSet):
		return report.GeneratedRole
	case isOne(workloads):
		return report.WorkloadRole
	case o.Is(object.PVC), o.Is(object.Secret), err == nil && r.Custom:
		return report.DataRole
	default:
		return report.OtherRole
	}
}
