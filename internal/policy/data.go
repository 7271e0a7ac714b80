package policy

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// dataKinds are the kinds whose deletion loses what nobody can make again from
// the rest of the cluster, or takes such objects with it: the worst loss first.
var dataKinds = []schema.GroupKind{
	object.Namespace.GroupKind,
	object.CRD.GroupKind,
	object.PV.GroupKind,
	object.PVC.GroupKind,
	object.Secret.GroupKind,
	object.StatefulSet.GroupKind,
	object.ConfigMap.GroupKind,
}

// Data reports whether an object belongs to the block of data, which a question shows
// apart from everything else, and its place there. Custom resources are data, too: they
// stand for whatever their operator makes of them.
func Data(r object.Ref, custom bool) (place int, ok bool) {
	if custom {
		return slices.Index(dataKinds, object.Secret.GroupKind), true
	}
	place = slices.Index(dataKinds, kindOf(r))
	return place, place >= 0
}
