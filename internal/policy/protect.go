package policy

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// Upstream: apimachinery/pkg/apis/meta/v1/types.go NamespaceSystem, NamespacePublic,
// NamespaceDefault.
// Upstream: api/core/v1/types.go NamespaceNodeLease.
var namespaces = []string{"kube-system", "kube-public", "kube-node-lease", "default"}

// kinds are protected unless they are allowed: each stands for more than itself,
// be it all objects of a namespace or type, a machine, a disk, or the admission
// of every other request.
var kinds = []schema.GroupKind{
	object.Namespace.GroupKind,
	object.Node.GroupKind,
	object.PV.GroupKind,
	object.PVC.GroupKind,
	object.MutatingAdmissionPolicy.GroupKind,
	object.MutatingAdmissionPolicyBinding.GroupKind,
	object.MutatingWebhookConfiguration.GroupKind,
	object.ValidatingAdmissionPolicy.GroupKind,
	object.ValidatingAdmissionPolicyBinding.GroupKind,
	object.ValidatingWebhookConfiguration.GroupKind,
	object.CRD.GroupKind,
	object.APIService.GroupKind,
	object.StorageClass.GroupKind,
}

// KindNames lists the protected kinds.
func KindNames() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.Kind
	}
	return names
}

// Policy is what a user has lifted. The zero value protects everything that is
// protected by default.
type Policy struct {
	// Allow holds the kinds whose objects may be deleted all the same.
	Allow map[schema.GroupKind]bool
}

// Check reports whether the object is protected, and why. Where several reasons
// hold it is the one that is hardest to lift.
func (p Policy) Check(o *object.Object) (reason.Code, bool) {
	kind := kindOf(o.Ref)
	switch {
	case kind == schema.GroupKind{Kind: "Namespace"} && slices.Contains(namespaces, o.Name):
		return reason.ProtectedNamespace, true
	case o.Protection().Has(object.Protect):
		return reason.ProtectedByAnnotation, true
	case o.Protection().Has(object.HelmKeep):
		return reason.ProtectedByHelm, true
	case slices.Contains(kinds, kind) && !p.Allow[kind]:
		return reason.ProtectedKind, true
	default:
		return "", false
	}
}

// ParseKinds reads the names of protected kinds.
func ParseKinds(names []string) (map[schema.GroupKind]bool, error) {
	parsed := map[schema.GroupKind]bool{}
	for _, name := range names {
		kind, err := parseKind(name)
		if err != nil {
			return nil, err
		}
		parsed[kind] = true
	}
	return parsed, nil
}

// parseKind reads the name of a protected kind as kubectl takes it: the kind in
// any case, with its group or without. Any other name is an error, because it
// would allow nothing.
func parseKind(name string) (schema.GroupKind, error) {
	for _, k := range kinds {
		if strings.EqualFold(name, k.Kind) || strings.EqualFold(name, k.String()) {
			return k, nil
		}
	}
	return schema.GroupKind{}, fmt.Errorf("%q is no protected kind: these are %s", name, strings.Join(KindNames(), ", "))
}

func kindOf(r object.Ref) schema.GroupKind {
	return schema.GroupKind{Group: r.Group(), Kind: r.Kind}
}
