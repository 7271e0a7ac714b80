// Package uses knows which fields of which kinds refer to other objects, and what happens to an object
// that stays when the other one is deleted. Owner references are not among them.
//
// The rules are one table: table.go for Kubernetes, table_custom.go for other projects, table_keys.go for
// annotations and parameters of both, table_volumes.go for the data of volumes, table_operators.go for fields without a usual name, and for
// kinds of unknown projects a rule by the names of fields
// (guess.go).
package uses

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// Rule says that a field of a kind refers to objects of another kind.
type Rule struct {
	// User is the kind with the field.
	User object.Kind
	// Path is the field. [] stands for each entry of a list: spec.tls[].secretName. A key with dots is in
	// brackets: metadata.annotations['example.com/secret'].
	Path string
	// Name is the key of the name, if the value is a mapping. Empty if the value is the name.
	Name string
	// To is the kind that is referred to. Or are the other kinds that the value usually names, with kind,
	// and apiVersion, apiGroup or group. nil if it names none.
	To object.Kind
	Or []object.Kind
	// Any is true if the value often names a kind of another project. To may be empty then.
	Any bool
	// Names are the names for which a value stands, of which one is needed; those of "" for any other value.
	// nil if the value is the name.
	Names map[string][]string
	// Several returns the names in a value, each as NAME or NAMESPACE/NAME. own is the namespace of the user. nil
	// if the value is one name.
	Several func(own string, value any) []string
	// Inexact is true if the value may mean something else than the object of that name, or nothing: any controller
	// may serve an Ingress, and each reads its own annotations.
	Inexact bool
	// In is the field with the namespace of the target. Empty if it is that of the user, or in the value.
	In string
	// Elsewhere is true if the name may be NAMESPACE/NAME.
	Elsewhere bool
	// Selects is true if the value is a label selector, or a mapping of labels, for objects of To in the
	// namespace of the user.
	Selects bool
	// SelectsAll is true if an empty selector, or a kind without a name, selects everything. Otherwise it selects
	// nothing.
	SelectsAll bool
	// Reserved is a value that names no object.
	Reserved string
	// Default is the name if there is no value, but one in the field With. Empty if the field may be absent.
	Default, With string
	// Implied is true if a mapping without the key Name uses the default object of To. It is that of a claim.
	Implied bool
	// Created is true if the controller of the user creates a target that is missing.
	Created bool
	// Defaults is true if the user works on with defaults, which may not be what it needs.
	Defaults bool
	// Granted is true if a ReferenceGrant must allow a target in another namespace.
	Granted bool
	// Backend is true if the target is a Service that must have pods.
	Backend bool
	// Host is true if the name is a DNS name of a Service: web, web.shop or web.shop.svc.cluster.local.
	Host bool
	// While is PATH=VALUE: without that value in that field, the user no longer needs the object. PATH= is for a field
	// that has no value. If Only is true, the value then names no such object.
	While string
	Only  bool
	// Label is a short name of the field.
	Label string
	// When is when the user stops working. Effect says how.
	When   report.BreakageTime
	Effect string

	whileValue string
}

// Reference is what a field of an object refers to.
type Reference struct {
	// Field is the Path of the rule.
	Field string `json:"field"`
	// Group and Kind are those of the target. Namespace is empty for a cluster-scoped one.
	Group     string `json:"group,omitzero"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitzero"`
	Name      string `json:"name,omitzero"`
	// Selector is a label selector in place of a name. nil without one.
	Selector *string `json:"selector,omitzero"`
	// Default is true if the reference is to the default object of the kind. Name is empty then.
	Default bool `json:"default,omitzero"`
	// Optional is true if the user works without the target, Idle if it no longer needs it.
	Optional bool `json:"optional,omitzero"`
	Idle     bool `json:"idle,omitzero"`
}

// Target returns the coordinates of a target with a name.
func (r *Reference) Target() object.Coordinates {
	return object.Coordinates{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
}

// Rule returns the rule of a field of a kind: of several, the one for the kind that is referred to. For a field that
// no rule has it returns one of a guess.
func (r *Reference) Rule(user schema.GroupKind) *Rule {
	found := &guess
	if r.Field == providerConfigField {
		found = &providerConfig
	}
	for _, rule := range byUser[user] {
		if rule.Path != r.Field {
			continue
		}
		if rule.To.Kind == r.Kind && rule.To.Group == r.Group {
			return rule
		}
		found = rule
	}
	return found
}

// Anywhere reports whether the field may name an object of another namespace than that of its user.
func (r *Rule) Anywhere() bool {
	return r.Host || r.Elsewhere || r.User.Group == gatewayAPI || r.User.Group == istio || strings.HasSuffix(r.To.Group, ".toolkit.fluxcd.io") || !r.User.Namespaced
}

// Guessed reports whether no project documents the reference: only the name of the field says so.
func (r *Rule) Guessed() bool { return r == &guess }

// Kinds returns the kinds with rules, in the order of the table, without those that package health
// reads by itself.
func Kinds() []object.Kind { return slices.Clone(kinds) }

// Users returns the rules for references to a kind, or that need one of the kind.
func Users(to schema.GroupKind) []*Rule {
	var list []*Rule
	for _, k := range kinds {
		for _, r := range byUser[k.GroupKind] {
			if r.To.GroupKind == to || r.Granted && to == ReferenceGrant.GroupKind || slices.ContainsFunc(r.Or, func(k object.Kind) bool { return k.GroupKind == to }) {
				list = append(list, r)
			}
		}
	}
	return list
}

// SeldomUsers returns the rules for references that may be to a kind, and usually are to others.
func SeldomUsers(to schema.GroupKind) []*Rule {
	var list []*Rule
	for _, k := range kinds {
		for _, r := range byUser[k.GroupKind] {
			if r.Any && object.MayBeCustom(to.Group) {
				list = append(list, r)
			}
		}
	}
	return list
}

// Covers reports whether an object with that controller has the references of its controller, which is
// read itself: a pod those of its ReplicaSet.
func Covers(user, controller schema.GroupKind) bool {
	switch user {
	case object.Pod.GroupKind:
		return slices.Contains(podControllers, controller)
	case object.ReplicaSet.GroupKind:
		return controller == object.Deployment.GroupKind
	case object.Job.GroupKind:
		return controller == object.CronJob.GroupKind
	default:
		return false
	}
}

// podControllers are the kinds that create pods from a template.
var podControllers = []schema.GroupKind{
	object.ReplicaSet.GroupKind, object.StatefulSet.GroupKind, object.DaemonSet.GroupKind, object.Job.GroupKind, replicationController.GroupKind,
}

// FieldsOf returns the fields that hold the references of an object. nil if it has none.
func FieldsOf(kind schema.GroupKind) *manifest.Fields { return fieldsOf[kind] }

var (
	kinds    []object.Kind
	byUser   = map[schema.GroupKind][]*Rule{}
	fieldsOf = map[schema.GroupKind]*manifest.Fields{}
)

func init() {
	for _, r := range slices.Concat(workloadRules(), coreRules, customRules(), keyRules(), volumeRules()) {
		if byUser[r.User.GroupKind] == nil {
			kinds = append(kinds, r.User)
			fieldTrees[r.User.GroupKind] = &fieldTree{}
		}
		tree, index := fieldTrees[r.User.GroupKind], len(byUser[r.User.GroupKind])
		f := tree.at(stepsOf(r.Path))
		f.rules = append(f.rules, index)
		if path, value, ok := strings.Cut(r.While, "="); ok {
			r.whileValue = value
			f := tree.at(stepsOf(path))
			f.conditions = append(f.conditions, index)
		}
		for _, path := range []string{r.With, r.In} {
			if path != "" {
				f := tree.at(stepsOf(path))
				f.conditions = append(f.conditions, index)
			}
		}
		byUser[r.User.GroupKind] = append(byUser[r.User.GroupKind], &r)
		for _, k := range append([]object.Kind{r.User, r.To}, r.Or...) {
			if k.Kind != "" {
				scopes[k.GroupKind] = k
			}
		}
	}
	for kind, rules := range byUser {
		var paths []string
		for _, r := range rules {
			paths = append(paths, r.paths()...)
		}
		if object.MayBeCustom(kind.Group) { // for guesses beside the table
			paths = append(paths, "spec.*")
		}
		fieldsOf[kind] = manifest.FieldsAt(paths...)
	}
}
