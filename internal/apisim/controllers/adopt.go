package controllers

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// AdoptionAssumption is what has to hold for an object that loses its controller to stay
// what it is. Selectors are not read, so that who selects it is not known.
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

// Adopters lists the resources whose objects take over an object of their namespace
// that has no controller, if their selector matches it and neither is being deleted;
// none for an object that nobody adopts.
//
// Upstream: pkg/controller/controller_ref_manager.go ClaimObject.
// Rule: spec §8, §9, S243.
func Adopters(o *object.Object) []object.Resource {
	if _, controlled := o.Controller(); controlled || o.BeingDeleted() {
		return nil
	}
	return adopters[schema.GroupKind{Group: o.Group(), Kind: o.Kind}]
}
