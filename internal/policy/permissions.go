// Package policy defines what this program may do (protect.go). Some objects are protected unless
// the user unlocks their kind by name. Some kinds hold data. One run deletes no more than a limit.
// This applies to our own writes. Predictions ignore it, as Kubernetes does.
//
// It also defines the RBAC permissions that each command needs (permissions.go). Those of every
// authenticated user are left out: discovery (system:discovery) and questions about the own
// permissions (system:basic-user).
package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	rbac "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Command is a command that needs permissions.
type Command string

// The commands.
const (
	// Read is every read-only command: check, explain, graph, dry-run, snapshot.
	Read Command = "read"
	// Stuck is read-only, too. It also reads whole objects: workloads, roles, webhooks and the
	// like, and single objects that are being deleted, to find the clients that added their
	// finalizers.
	Stuck Command = "stuck"
	// Lost requests every write of the last minutes.
	Lost            Command = "lost"
	Doctor          Command = "doctor"
	Delete          Command = "delete"
	Collect         Command = "collect"
	Controller      Command = "controller"
	RemoveFinalizer Command = "remove-finalizer"
	Undo            Command = "undo"
)

// Commands lists the commands.
func Commands() []Command {
	return []Command{Read, Stuck, Lost, Doctor, Delete, Collect, Controller, RemoveFinalizer, Undo}
}

// ParseCommand returns the command with a name. Any other name is an error that lists the commands.
func ParseCommand(name string) (Command, error) {
	if c := Command(name); slices.Contains(Commands(), c) {
		return c, nil
	}
	names := make([]string, len(Commands()))
	for i, c := range Commands() {
		names[i] = string(c)
	}
	return "", fmt.Errorf("%q is not a command that needs permissions: these are %s", name, strings.Join(names, ", "))
}

// Options refine the permissions.
type Options struct {
	// Enforce lets the Controller write.
	Enforce bool
	// Namespace is the namespace of the controller's lease.
	Namespace string
	// OwnerEnforcement reports that the cluster has the admission plugin
	// OwnerReferencesPermissionEnforcement, as OpenShift has.
	OwnerEnforcement bool
	// Kinds are the kinds to name; nil for all, including future ones.
	Kinds []object.Resource
}

// verbs returns the RBAC verbs that a command needs on objects.
//
// With the admission plugin OwnerReferencesPermissionEnforcement, changing owner references
// requires delete on the object, which Collect has. Setting blockOwnerDeletion requires update on
// the finalizers of the owner. Undo restores references, and needs both only with this plugin.
func verbs(c Command, o Options) []string {
	switch {
	case c == Delete:
		return []string{"get", "list", "watch", "delete"}
	case c == Collect, c == Controller && o.Enforce:
		return []string{"get", "list", "watch", "delete", "patch"}
	case c == Controller, c == Lost:
		return []string{"get", "list", "watch"}
	case c == RemoveFinalizer:
		return []string{"get", "list", "watch", "patch"}
	case c == Undo && o.OwnerEnforcement:
		return []string{"get", "list", "create", "patch", "delete"}
	case c == Undo:
		return []string{"get", "list", "create", "patch"}
	default:
		return []string{"get", "list"}
	}
}

// collectorGraphPath is the path of the debug endpoint of kube-controller-manager that shows the
// graph of its collector. It requires this permission, although it is not a path of the API server.
const collectorGraphPath = "/debug/controllers/garbage-collector-controller/graph"

// ClusterRole returns the permissions of a command in the whole cluster.
func ClusterRole(c Command, o Options) *rbac.ClusterRole {
	role := &rbac.ClusterRole{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbac.SchemeGroupVersion.String(), Kind: "ClusterRole"},
		ObjectMeta: metav1.ObjectMeta{Name: "kubectl-gc-" + string(c)},
	}
	if o.Kinds == nil {
		role.Rules = []rbac.PolicyRule{rule("*", []string{"*"}, verbs(c, o)...)}
	} else {
		role.Rules = rulesForKinds(c, o)
	}
	switch {
	case c == Doctor:
		role.Rules = append(role.Rules, rbac.PolicyRule{NonResourceURLs: []string{collectorGraphPath}, Verbs: []string{"get"}})
	case c == Controller:
		role.Rules = append(role.Rules, rule("", []string{"events"}, "create", "patch"))
	case c == RemoveFinalizer:
		role.Rules = append(role.Rules, rule("", []string{"namespaces/finalize"}, "update"))
	case c == Undo && o.OwnerEnforcement && o.Kinds == nil:
		role.Rules = append(role.Rules, rule("*", []string{"*/finalizers"}, "update"))
	}
	return role
}

// Role returns the permissions of the controller in the namespace of its lease; nil for other
// commands.
func Role(c Command, o Options) *rbac.Role {
	if c != Controller {
		return nil
	}
	lease := rule("coordination.k8s.io", []string{"leases"}, "get", "update")
	lease.ResourceNames = []string{"kubectl-gc"}
	role := &rbac.Role{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbac.SchemeGroupVersion.String(), Kind: "Role"},
		ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: "kubectl-gc-" + string(c)},
		// RBAC can't restrict create to a name.
		Rules: []rbac.PolicyRule{rule("coordination.k8s.io", []string{"leases"}, "create"), lease},
	}
	if o.Enforce { // --check-collector
		role.Rules = append(role.Rules, rule("", []string{"configmaps"}, "create", "delete", "get"))
	}
	return role
}

func rule(group string, resources []string, verbs ...string) rbac.PolicyRule {
	return rbac.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: verbs}
}

// rulesForKinds returns rules that name kinds. Kinds of one group with the same verbs share a rule.
// A name does not include subresources such as status or finalizers; these are named, too.
func rulesForKinds(c Command, o Options) []rbac.PolicyRule {
	wanted := verbs(c, o)
	known, custom := map[schema.GroupResource]object.Verbs{}, map[schema.GroupResource]bool{}
	for _, k := range o.Kinds {
		known[k.GroupResource()] |= k.Verbs
		custom[k.GroupResource()] = custom[k.GroupResource()] || k.Custom || k.Guessed
	}
	type key struct{ group, verbs string }
	resources := map[key][]string{}
	for gr, can := range known {
		if !can.Has(object.List) {
			continue
		}
		var verbs []string
		for _, v := range wanted {
			if can.Has(object.VerbsOf([]string{v})) {
				verbs = append(verbs, v)
			}
		}
		k := key{gr.Group, strings.Join(verbs, ",")}
		resources[k] = append(resources[k], gr.Resource)
		if c == Undo && custom[gr] { // built-in controllers don't recreate this status
			k.verbs = "patch"
			resources[k] = append(resources[k], gr.Resource+"/status")
		}
		if c == Undo && o.OwnerEnforcement {
			k.verbs = "update"
			resources[k] = append(resources[k], gr.Resource+"/finalizers")
		}
	}
	rules := make([]rbac.PolicyRule, 0, len(resources))
	for k, names := range resources {
		slices.Sort(names)
		rules = append(rules, rule(k.group, names, strings.Split(k.verbs, ",")...))
	}
	slices.SortFunc(rules, func(a, b rbac.PolicyRule) int {
		return cmp.Or(strings.Compare(a.APIGroups[0], b.APIGroups[0]), slices.Compare(a.Resources, b.Resources))
	})
	return rules
}
