package apply

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// Upstream: apimachinery/pkg/apis/meta/v1/types.go NamespaceSystem, NamespacePublic,
// NamespaceDefault.
// Upstream: api/core/v1/types.go NamespaceNodeLease.
var protectedNamespaces = []string{"kube-system", "kube-public", "kube-node-lease", "default"}

// protectedKind is a kind that is protected unless it is unlocked, because a delete affects more
// than the object itself: all objects of a namespace or type, a machine, a disk, or the admission
// of every request.
type protectedKind struct {
	object.Kind
	// name is the word that unlocks it, alias another name that kubectl accepts.
	name, alias string
}

var protectedKinds = []protectedKind{
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

// ProtectedKinds lists the protected kinds.
func ProtectedKinds() []schema.GroupKind {
	return object.Mapped(protectedKinds, func(k protectedKind) schema.GroupKind { return k.GroupKind })
}

// UnlockHelm is the name that unlocks objects with Helm's keep annotation.
const UnlockHelm = "helm"

// UnlockUnseen is the name that unlocks unread content of a namespace or a CRD, and what a controller
// deletes that a plan does not list.
const UnlockUnseen = "unseen"

// UnlockBreaks is the name that unlocks a plan that breaks requests of the whole cluster.
const UnlockBreaks = "breaks"

// UnlockOutside is the name that unlocks data outside of the cluster.
const UnlockOutside = "cloud"

// ProtectedKindNames returns the names that unlock the protected kinds.
func ProtectedKindNames() []string {
	return object.Mapped(protectedKinds, func(k protectedKind) string { return k.name })
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
	kind := o.GroupKind()
	switch {
	case kind == schema.GroupKind{Kind: "Namespace"} && slices.Contains(protectedNamespaces, o.Name):
		return reason.ProtectedNamespace, true
	case o.Protection().Has(object.Protect):
		return reason.ProtectedByAnnotation, true
	case o.Protection().Has(object.HelmKeep) && !p.Helm:
		return reason.ProtectedByHelm, true
	case UnlockName(kind) != "" && !p.Allow[kind]:
		return reason.ProtectedKind, true
	default:
		return "", false
	}
}

// UnlockName returns the name that unlocks a kind; empty if it is not protected.
func UnlockName(kind schema.GroupKind) string {
	if i := slices.IndexFunc(protectedKinds, func(k protectedKind) bool { return k.GroupKind == kind }); i >= 0 {
		return protectedKinds[i].name
	}
	return ""
}

// ParseProtectedKinds returns the protected kinds with the names.
func ParseProtectedKinds(names []string) (map[schema.GroupKind]bool, error) {
	parsed := map[schema.GroupKind]bool{}
	for _, name := range names {
		kind, ok := parseProtectedKind(name)
		if !ok {
			return nil, fmt.Errorf("%q is not a protected kind: these are %s", name, strings.Join(ProtectedKindNames(), ", "))
		}
		parsed[kind] = true
	}
	return parsed, nil
}

// IsProtectedKind reports whether a protected kind has the name.
func IsProtectedKind(name string) bool {
	_, ok := parseProtectedKind(name)
	return ok
}

// parseProtectedKind parses the name of a protected kind as kubectl does, in any case: the kind,
// its plural or its short name, with or without the group.
func parseProtectedKind(name string) (schema.GroupKind, bool) {
	for _, k := range protectedKinds {
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

// DefaultMaxDeletes is the default of the number of objects that one run may delete.
const DefaultMaxDeletes = 1000

// RefusalReason is the rule that refuses a plan.
type RefusalReason string

// The reasons for refusing a plan.
const (
	// TooManyDeletes: the plan deletes more objects than are allowed.
	TooManyDeletes RefusalReason = "TooManyDeletes"
	// ProtectedObject: the plan deletes an object that is protected.
	ProtectedObject RefusalReason = "ProtectedObject"
	// UnseenObject: the plan deletes an object that was not read, so an annotation may protect it.
	UnseenObject RefusalReason = "UnseenObject"
	// UnseenContent: the plan deletes a namespace or a CRD, and some of its content was not read, or an
	// object whose controller deletes others that are not known.
	UnseenContent RefusalReason = "UnseenContent"
	// BreaksCluster: requests of the whole cluster fail at once: a webhook that must admit them, or the
	// server of an API, loses its Service.
	BreaksCluster RefusalReason = "BreaksCluster"
)

// Refusal is the error of a plan that must not be executed.
type Refusal struct {
	Reason RefusalReason
	// Planned and Limit are set for TooManyDeletes.
	Planned, Limit int
	// Object is set for ProtectedObject and UnseenObject; Why only for the former.
	Object object.Ref
	Why    reason.Code
}

// Error names the rule and what violates it.
func (r *Refusal) Error() string {
	switch r.Reason {
	case TooManyDeletes:
		return fmt.Sprintf("the plan deletes %d objects, at most %d are allowed", r.Planned, r.Limit)
	case ProtectedObject:
		return fmt.Sprintf("the plan deletes %s, which is protected: %s", r.Object, r.Why)
	default:
		return fmt.Sprintf("the plan deletes %s, and it is unknown whether an annotation protects it", r.Object)
	}
}

// DeletedObjects returns the objects that the plan deletes or may delete.
func DeletedObjects(p *report.Plan) iter.Seq[object.Ref] {
	return func(yield func(object.Ref) bool) {
		for e := range p.Account() {
			if e.IsDeleted() && !yield(e.Object) {
				return
			}
		}
	}
}

// CheckMaxDeletes refuses a plan that may delete more objects than most; nil if it does not. The
// plan is refused as a whole and before any write, since half of it would be another plan.
func CheckMaxDeletes(plan *report.Plan, most int) *Refusal {
	n := 0
	for range DeletedObjects(plan) {
		n++
	}
	if n <= most {
		return nil
	}
	return &Refusal{Reason: TooManyDeletes, Planned: n, Limit: most}
}

// CheckDeletes returns a refusal for each object that the policy forbids to delete, in the order of
// the account. find returns an object as it was read, nil if it was not.
func (p Policy) CheckDeletes(plan *report.Plan, find func(object.Ref) *object.Object) []Refusal {
	var list []Refusal
	for ref := range DeletedObjects(plan) {
		seen := find(ref)
		if seen == nil {
			seen = &object.Object{Ref: ref}
			if _, protected := p.Check(seen); !protected {
				list = append(list, Refusal{Reason: UnseenObject, Object: ref})
				continue
			}
		}
		if why, protected := p.Check(seen); protected {
			list = append(list, Refusal{Reason: ProtectedObject, Object: ref, Why: why})
		}
	}
	return list
}

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

// DataRank reports whether an object holds data, and its rank among the kinds of data. A
// confirmation lists these objects separately. Custom resources are data, too, because their
// operators may keep data for them.
func DataRank(r object.Ref, custom bool) (rank int, ok bool) {
	if custom {
		return slices.Index(dataKinds, object.Secret.GroupKind), true
	}
	rank = slices.Index(dataKinds, r.GroupKind())
	return rank, rank >= 0
}

// OutsideDataRank is the rank of objects with which data outside of the cluster is lost: that of
// volumes.
func OutsideDataRank() int { return slices.Index(dataKinds, object.PV.GroupKind) }
