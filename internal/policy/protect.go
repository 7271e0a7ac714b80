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

// guarded is a kind that is protected unless it is unlocked, because a delete affects more than the
// object itself: all objects of a namespace or type, a machine, a disk, or the admission of every
// request.
type guarded struct {
	object.Kind
	// name is the word that unlocks it, alias another name that kubectl accepts.
	name, alias string
}

var kinds = []guarded{
	{object.Namespace, "namespace", "ns"},
	{object.Node, "node", "no"},
	{object.PV, "pv", "pv"},
	{object.PVC, "pvc", "pvc"},
	{object.CRD, "crd", "crds"},
	{object.APIService, "apiservice", ""},
	{object.StorageClass, "storageclass", "sc"},
	{object.MutatingAdmissionPolicy, "mutatingadmissionpolicy", ""},
	{object.MutatingAdmissionPolicyBinding, "mutatingadmissionpolicybinding", ""},
	{object.MutatingWebhookConfiguration, "mutatingwebhookconfiguration", ""},
	{object.ValidatingAdmissionPolicy, "validatingadmissionpolicy", ""},
	{object.ValidatingAdmissionPolicyBinding, "validatingadmissionpolicybinding", ""},
	{object.ValidatingWebhookConfiguration, "validatingwebhookconfiguration", ""},
}

// Kinds lists the protected kinds.
func Kinds() []schema.GroupKind {
	list := make([]schema.GroupKind, len(kinds))
	for i, k := range kinds {
		list[i] = k.GroupKind
	}
	return list
}

// UnlockHelm is the name that unlocks objects with Helm's keep annotation.
const UnlockHelm = "helm"

// UnlockUnseen is the name that unlocks unread content of a namespace or a CRD.
const UnlockUnseen = "unseen"

// KindNames returns the names that unlock the protected kinds.
func KindNames() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}

// Policy is the set of protections that a user has lifted. The zero value protects everything that
// is protected by default.
type Policy struct {
	// Allow holds the unlocked kinds.
	Allow map[schema.GroupKind]bool
	// Helm allows to delete objects with Helm's keep annotation.
	Helm bool
}

// Check reports whether the object is protected, and why. Among several reasons, it returns the one
// that is hardest to lift.
func (p Policy) Check(o *object.Object) (reason.Code, bool) {
	kind := kindOf(o.Ref)
	switch {
	case kind == schema.GroupKind{Kind: "Namespace"} && slices.Contains(namespaces, o.Name):
		return reason.ProtectedNamespace, true
	case o.Protection().Has(object.Protect):
		return reason.ProtectedByAnnotation, true
	case o.Protection().Has(object.HelmKeep) && !p.Helm:
		return reason.ProtectedByHelm, true
	case UnlockKind(kind) != "" && !p.Allow[kind]:
		return reason.ProtectedKind, true
	default:
		return "", false
	}
}

// UnlockKind returns the name that unlocks a kind; empty if it is not protected.
func UnlockKind(kind schema.GroupKind) string {
	if i := slices.IndexFunc(kinds, func(k guarded) bool { return k.GroupKind == kind }); i >= 0 {
		return kinds[i].name
	}
	return ""
}

// ParseKinds returns the protected kinds with the names.
func ParseKinds(names []string) (map[schema.GroupKind]bool, error) {
	parsed := map[schema.GroupKind]bool{}
	for _, name := range names {
		kind, ok := parseKind(name)
		if !ok {
			return nil, fmt.Errorf("%q is no protected kind: these are %s", name, strings.Join(KindNames(), ", "))
		}
		parsed[kind] = true
	}
	return parsed, nil
}

// IsKind reports whether a protected kind has the name.
func IsKind(name string) bool {
	_, ok := parseKind(name)
	return ok
}

// parseKind parses the name of a protected kind as kubectl does, in any case: the kind, its plural
// or its short name, with or without the group.
func parseKind(name string) (schema.GroupKind, bool) {
	for _, k := range kinds {
		bare := strings.ToLower(name)
		if k.Group != "" {
			bare = strings.TrimSuffix(bare, "."+k.Group)
		}
		if bare != "" && slices.Contains([]string{k.name, k.alias, strings.ToLower(k.Kind.Kind), k.Plural}, bare) {
			return k.GroupKind, true
		}
	}
	return schema.GroupKind{}, false
}

func kindOf(r object.Ref) schema.GroupKind {
	return schema.GroupKind{Group: r.Group(), Kind: r.Kind}
}
