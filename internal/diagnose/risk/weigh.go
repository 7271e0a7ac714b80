package risk

import (
	"cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// class is how much it hurts to lose an object.
type class uint8

const (
	rest class = iota
	workload
	data
)

// classOf puts first what nobody can make again from the rest of the cluster.
func classOf(r object.Ref, rs *object.Resources) class {
	switch r.Group() {
	case "":
		switch r.Kind {
		case "PersistentVolumeClaim", "PersistentVolume", "Secret":
			return data
		case "Pod", "ReplicationController":
			return workload
		}
	case "apps":
		switch r.Kind {
		case "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet":
			return workload
		}
	case "batch":
		switch r.Kind {
		case "CronJob", "Job":
			return workload
		}
	}
	if resource, err := rs.For(r.APIVersion, r.Kind); err == nil && resource.Custom {
		return data
	}
	return rest
}

// weigh counts one object.
func weigh(c class) report.Toll {
	t := report.Toll{Objects: 1}
	switch c {
	case data:
		t.Data = 1
	case workload:
		t.Workloads = 1
	default:
		t.Rest = 1
	}
	return t
}

func add(a *report.Toll, b report.Toll) {
	a.Objects += b.Objects
	a.Data += b.Data
	a.Workloads += b.Workloads
	a.Rest += b.Rest
}

// compare orders tolls by data, then workloads, then the rest.
func compare(a, b report.Toll) int {
	return cmp.Or(cmp.Compare(a.Data, b.Data), cmp.Compare(a.Workloads, b.Workloads), cmp.Compare(a.Rest, b.Rest))
}
