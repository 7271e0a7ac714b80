package controllers

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// AdoptionAssumption is the assumption that no controller adopts an orphaned object. Selectors are
// not read, so it is unknown which controllers select the object.
const AdoptionAssumption = "no other controller selects what is orphaned; one that does takes it over, and deletes what it then has too many of"

var adopters = map[schema.GroupKind][]object.Resource{
	object.Pod.GroupKind: {
		object.DaemonSet.Resource(), object.ReplicaSet.Resource(), object.StatefulSet.Resource(),
		object.Job.Resource(), object.ReplicationController.Resource(),
	},
	object.ReplicaSet.GroupKind: {object.Deployment.Resource()},
	object.ControllerRevision.GroupKind: {
		object.DaemonSet.Resource(), object.StatefulSet.Resource(),
	},
}

// Adopters lists the resources of the controllers that adopt an object of their namespace without a
// controller, if their selector matches it and neither is being deleted. It returns nil for an
// object that no built-in controller adopts.
//
// Upstream: pkg/controller/controller_ref_manager.go ClaimObject.
// Rule: spec §8, §9, S243.
func Adopters(o *object.Object) []object.Resource {
	if _, controlled := o.Controller(); controlled || o.BeingDeleted() {
		return nil
	}
	return adopters[schema.GroupKind{Group: o.Group(), Kind: o.Kind}]
}
