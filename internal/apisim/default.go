package apisim

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Default is what a delete does with dependents when it does not say so itself.
type Default uint8

// The defaults that resources have.
const (
	// BackgroundDefault leaves the dependents to the collector.
	BackgroundDefault Default = iota
	// OrphanDefault releases the dependents.
	OrphanDefault
	// UnsupportedDefault never takes the collector's finalizers.
	UnsupportedDefault
)

// DefaultFor is the default of a resource in the version that a request names. Of versions
// that no supported release serves any more it is what those did that served them, up to v1.21.
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

// orphaning are the versions of a resource in which a delete releases the dependents.
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
