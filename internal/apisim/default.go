package apisim

import (
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

// DefaultFor is the default of a resource in the version that a request names.
//
// Upstream: pkg/registry/*/*/strategy.go DefaultGarbageCollectionPolicy.
// Rule: spec §2.8, S001, S005, S006, S045.
func DefaultFor(gr schema.GroupResource, version string) Default {
	switch gr {
	case object.ReplicationController.GroupResource(), object.Job.GroupResource():
		if version == "v1" {
			return OrphanDefault
		}
	case object.CronJob.GroupResource():
		if version == "v1beta1" {
			return OrphanDefault
		}
	case schema.GroupResource{Resource: "events"}, schema.GroupResource{Group: "events.k8s.io", Resource: "events"}:
		return UnsupportedDefault
	}
	return BackgroundDefault
}
