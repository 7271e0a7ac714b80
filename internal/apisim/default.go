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
	switch {
	case slices.Contains(orphaning[gr], version):
		return OrphanDefault
	case gr.Resource == "events" && (gr.Group == "" || gr.Group == "events.k8s.io"):
		return UnsupportedDefault
	default:
		return BackgroundDefault
	}
}

// orphaning are the versions of resources in which a delete releases the dependents.
var orphaning = map[schema.GroupResource][]string{
	object.ReplicationController.GroupResource():   {"v1"},
	object.Job.GroupResource():                     {"v1"},
	object.CronJob.GroupResource():                 {"v1beta1", "v2alpha1"},
	object.DaemonSet.GroupResource():               {"v1beta2"},
	object.Deployment.GroupResource():              {"v1beta1", "v1beta2"},
	object.ReplicaSet.GroupResource():              {"v1beta2"},
	object.StatefulSet.GroupResource():             {"v1beta1", "v1beta2"},
	{Group: "extensions", Resource: "daemonsets"}:  {"v1beta1"},
	{Group: "extensions", Resource: "deployments"}: {"v1beta1"},
	{Group: "extensions", Resource: "replicasets"}: {"v1beta1"},
}
