package diagnose

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// class is the severity of the loss of an object.
type class uint8

const (
	rest class = iota
	workload
	data
)

// scale has the severity of the loss of each object of a snapshot.
type scale struct {
	resources *object.Resources
	// precious has the custom resources that count as data.
	precious map[object.Ref]bool
}

// newScale finds the custom resources that count as data: those that own storage, directly or not,
// and those with a finalizer that is known to stand for storage. The others are settings, and there
// may be many.
func newScale(snap *snapshot.Snapshot, g *graph.Graph) *scale {
	s := &scale{resources: snap.Resources, precious: map[object.Ref]bool{}}
	above := aboveStorage(snap, g)
	for same := range snap.ByKind() {
		if r, err := snap.Resources.For(same[0].APIVersion, same[0].Kind); err != nil || !r.Custom {
			continue
		}
		for _, o := range same {
			if above[o.UID] || slices.ContainsFunc(o.Finalizers(), finalizer.StandsForStorage) {
				s.precious[o.Ref] = true
			}
		}
	}
	return s
}

// aboveStorage returns the uids of the objects that own storage, directly or not. If objects share a
// uid, the owners of each count.
func aboveStorage(snap *snapshot.Snapshot, g *graph.Graph) map[types.UID]bool {
	twins := map[types.UID][]*object.Object{}
	for _, p := range snap.Problems {
		if p.Kind == snapshot.DuplicateUID {
			twins[p.Object.UID] = nil
		}
	}
	var open []*object.Object
	for same := range snap.ByKind() {
		stored := builtIn(same[0].Ref) == data || same[0].Is(object.StatefulSet)
		for _, o := range same {
			if _, shared := twins[o.UID]; shared && o.Kind != "Event" { // the garbage collector ignores Events
				twins[o.UID] = append(twins[o.UID], o)
			}
			if stored && len(o.Owners) > 0 {
				open = append(open, o)
			}
		}
	}
	above := map[types.UID]bool{}
	for len(open) > 0 {
		o := open[len(open)-1]
		open = open[:len(open)-1]
		for _, ref := range o.Owners {
			if above[ref.UID] {
				continue
			}
			above[ref.UID] = true
			if id, ok := g.Find(ref.UID); ok {
				open = append(append(open, g.Object(id)), twins[ref.UID]...)
			}
		}
	}
	return above
}

// of returns the weight of an object.
func (s *scale) of(r object.Ref) report.Toll { return weigh(s.class(r)) }

func (s *scale) class(r object.Ref) class {
	if s.precious[r] {
		return data
	}
	return builtIn(r)
}

// builtIn returns data for the kinds that cannot be created again from the rest of the cluster.
func builtIn(r object.Ref) class {
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
	return rest
}

// weigh returns the toll of one object.
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
