package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// rbacCommand is a command that needs permissions. Those of every authenticated user are left out:
// discovery (system:discovery) and questions about the own permissions (system:basic-user).
type rbacCommand string

// The commands.
const (
	// rbacRead is every read-only command: check, explain, graph, dry-run, snapshot.
	rbacRead rbacCommand = "read"
	// rbacStuck is read-only, too. It also reads whole objects: workloads, roles, webhooks and the
	// like, and single objects that are being deleted, to find the clients that added their
	// finalizers.
	rbacStuck rbacCommand = "stuck"
	// rbacLost requests every write of the last minutes.
	rbacLost            rbacCommand = "lost"
	rbacDoctor          rbacCommand = "doctor"
	rbacDelete          rbacCommand = "delete"
	rbacCollect         rbacCommand = "collect"
	rbacController      rbacCommand = "controller"
	rbacRemoveFinalizer rbacCommand = "remove-finalizer"
	rbacUndo            rbacCommand = "undo"
)

// rbacCommands lists the commands.
func rbacCommands() []rbacCommand {
	return []rbacCommand{rbacRead, rbacStuck, rbacLost, rbacDoctor, rbacDelete, rbacCollect, rbacController, rbacRemoveFinalizer, rbacUndo}
}

// parseRBACCommand returns the command with a name. Any other name is an error that lists the commands.
func parseRBACCommand(name string) (rbacCommand, error) {
	if c := rbacCommand(name); slices.Contains(rbacCommands(), c) {
		return c, nil
	}
	names := object.Mapped(rbacCommands(), func(c rbacCommand) string { return string(c) })
	return "", fmt.Errorf("%q is not a command that needs permissions: these are %s", name, strings.Join(names, ", "))
}

// rbacOptions refine the permissions.
type rbacOptions struct {
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

// rbacVerbs returns the RBAC verbs that a command needs on objects.
//
// With the admission plugin OwnerReferencesPermissionEnforcement, changing owner references
// requires delete on the object, which Collect has. Setting blockOwnerDeletion requires update on
// the finalizers of the owner. Undo restores references, and needs both only with this plugin.
func rbacVerbs(c rbacCommand, o rbacOptions) []string {
	switch {
	case c == rbacDelete:
		return []string{"get", "list", "watch", "delete"}
	case c == rbacCollect, c == rbacController && o.Enforce:
		return []string{"get", "list", "watch", "delete", "patch"}
	case c == rbacController, c == rbacLost:
		return []string{"get", "list", "watch"}
	case c == rbacRemoveFinalizer:
		return []string{"get", "list", "watch", "patch"}
	case c == rbacUndo && o.OwnerEnforcement:
		return []string{"get", "list", "create", "patch", "delete"}
	case c == rbacUndo:
		return []string{"get", "list", "create", "patch"}
	default:
		return []string{"get", "list"}
	}
}

// collectorGraphPath is the path of the debug endpoint of kube-controller-manager that shows the
// graph of its collector. It requires this permission, although it is not a path of the API server.
const collectorGraphPath = "/debug/controllers/garbage-collector-controller/graph"

// clusterRole returns the permissions of a command in the whole cluster.
func clusterRole(c rbacCommand, o rbacOptions) *rbacv1.ClusterRole {
	role := &rbacv1.ClusterRole{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"},
		ObjectMeta: metav1.ObjectMeta{Name: "kubectl-gc-" + string(c)},
	}
	if o.Kinds == nil {
		role.Rules = []rbacv1.PolicyRule{rbacRule("*", []string{"*"}, rbacVerbs(c, o)...)}
	} else {
		role.Rules = rbacRulesForKinds(c, o)
	}
	switch {
	case c == rbacDoctor:
		role.Rules = append(role.Rules, rbacv1.PolicyRule{NonResourceURLs: []string{collectorGraphPath}, Verbs: []string{"get"}})
	case c == rbacController:
		role.Rules = append(role.Rules, rbacRule("", []string{"events"}, "create", "patch"))
	case c == rbacRemoveFinalizer:
		role.Rules = append(role.Rules, rbacRule("", []string{"namespaces/finalize"}, "update"))
	case c == rbacUndo && o.OwnerEnforcement && o.Kinds == nil:
		role.Rules = append(role.Rules, rbacRule("*", []string{"*/finalizers"}, "update"))
	}
	return role
}

// namespacedRole returns the permissions of the controller in the namespace of its lease; nil for other
// commands.
func namespacedRole(c rbacCommand, o rbacOptions) *rbacv1.Role {
	if c != rbacController {
		return nil
	}
	lease := rbacRule("coordination.k8s.io", []string{"leases"}, "get", "update")
	lease.ResourceNames = []string{"kubectl-gc"}
	role := &rbacv1.Role{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "Role"},
		ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: "kubectl-gc-" + string(c)},
		// RBAC can't restrict create to a name.
		Rules: []rbacv1.PolicyRule{rbacRule("coordination.k8s.io", []string{"leases"}, "create"), lease},
	}
	if o.Enforce { // --check-collector
		role.Rules = append(role.Rules, rbacRule("", []string{"configmaps"}, "create", "delete", "get"))
	}
	return role
}

func rbacRule(group string, resources []string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: verbs}
}

// rbacRulesForKinds returns rules that name kinds. Kinds of one group with the same verbs share a rule.
// A name does not include subresources such as status or finalizers; these are named, too.
func rbacRulesForKinds(c rbacCommand, o rbacOptions) []rbacv1.PolicyRule {
	wanted := rbacVerbs(c, o)
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
		verbs := object.Filtered(wanted, func(v string) bool { return can.Has(object.VerbsOf([]string{v})) })
		k := key{gr.Group, strings.Join(verbs, ",")}
		resources[k] = append(resources[k], gr.Resource)
		if c == rbacUndo && custom[gr] { // built-in controllers don't recreate this status
			k.verbs = "patch"
			resources[k] = append(resources[k], gr.Resource+"/status")
		}
		if c == rbacUndo && o.OwnerEnforcement {
			k.verbs = "update"
			resources[k] = append(resources[k], gr.Resource+"/finalizers")
		}
	}
	rules := make([]rbacv1.PolicyRule, 0, len(resources))
	for k, names := range resources {
		slices.Sort(names)
		rules = append(rules, rbacRule(k.group, names, strings.Split(k.verbs, ",")...))
	}
	slices.SortFunc(rules, func(a, b rbacv1.PolicyRule) int {
		return cmp.Or(strings.Compare(a.APIGroups[0], b.APIGroups[0]), slices.Compare(a.Resources, b.Resources))
	})
	return rules
}
