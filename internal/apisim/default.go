package apisim

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Default is the propagation that a delete without a policy uses.
type Default uint8

// The defaults of the resources.
const (
	// BackgroundDefault leaves the dependents to the collector.
	BackgroundDefault Default = iota
	// OrphanDefault releases the dependents.
	OrphanDefault
	// UnsupportedDefault adds neither finalizer of the garbage collector.
	UnsupportedDefault
)

// DefaultFor returns the default of a resource in the requested version. For versions that no
// supported release serves, it is the default of the releases up to v1.21 that served them.
//
// Upstream: pkg/registry/*/*/strategy.go DefaultGarbageCollectionPolicy.
// Rule: spec §2.8, S001, S005, S006, S045.
func DefaultFor(gr schema.GroupResource, version string) Default {
	switch gr {
	case schema.GroupResource{Resource: "events"}, schema.GroupResource{Group: "events.k8s.io", Resource: "events"}:
		return UnsupportedDefault
	}
	if slices.Contains(orphaning(gr), version) {
		return OrphanDefault
	}
	return BackgroundDefault
}

// orphaning returns the versions of a resource in which a delete orphans the dependents by default.
func orphaning(gr schema.GroupResource) []string {
	switch gr {
	case object.ReplicationController.GroupResource(), object.Job.GroupResource():
		return []string{"v1"}
	case object.CronJob.GroupResource():
		return []string{"v1beta1", "v2alpha1"}
	case object.Deployment.GroupResource(), object.StatefulSet.GroupResource():
		return []string{"v1beta1", "v1beta2"}
	case object.DaemonSet.GroupResource(), object.ReplicaSet.GroupResource():
		return []string{"v1beta2"}
	case schema.GroupResource{Group: "extensions", Resource: "daemonsets"}, schema.GroupResource{Group: "extensions", Resource: "deployments"},
		schema.GroupResource{Group: "extensions", Resource: "replicasets"}:
		return []string{"v1beta1"}
	}
	return nil
}
