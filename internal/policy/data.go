package policy

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// dataKinds are the kinds whose deletion loses what nobody can make again from
// the rest of the cluster, or takes such objects with it.
var dataKinds = []schema.GroupKind{
	object.ConfigMap.GroupKind,
	object.Namespace.GroupKind,
	object.PV.GroupKind,
	object.PVC.GroupKind,
	object.Secret.GroupKind,
	object.CRD.GroupKind,
	object.StatefulSet.GroupKind,
}

// Data reports whether an object belongs to the block of data, which a plan shows
// apart from everything else and which takes more than a `y` to delete.
func Data(r object.Ref) bool { return slices.Contains(dataKinds, kindOf(r)) }
