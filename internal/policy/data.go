package policy

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// dataKinds are the kinds with data that can't be recreated from the rest of the cluster, or that
// contain such objects. The worst loss comes first.
var dataKinds = []schema.GroupKind{
	object.Namespace.GroupKind,
	object.CRD.GroupKind,
	object.PV.GroupKind,
	object.PVC.GroupKind,
	object.Secret.GroupKind,
	object.StatefulSet.GroupKind,
	object.ConfigMap.GroupKind,
}

// Data reports whether an object holds data, and its rank among the kinds of data. A confirmation
// lists these objects separately. Custom resources are data, too, because their operators may keep
// data for them.
func Data(r object.Ref, custom bool) (place int, ok bool) {
	if custom {
		return slices.Index(dataKinds, object.Secret.GroupKind), true
	}
	place = slices.Index(dataKinds, kindOf(r))
	return place, place >= 0
}
