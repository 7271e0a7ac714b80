package oracle

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kind is a kind of drawn objects.
type kind struct {
	apiVersion, name, plural string
	// key is where its objects are stored, below /registry.
	key        string
	namespaced bool
	// weight is how often it is drawn.
	weight int
}

// group is that of the definitions that all worlds share.
const group = "oracle.example.com"

var kinds = []kind{
	{"v1", "ConfigMap", "configmaps", "configmaps", true, 8},
	{"v1", "Secret", "secrets", "secrets", true, 4},
	{"v1", "Pod", "pods", "pods", true, 3},
	{"v1", "PersistentVolumeClaim", "persistentvolumeclaims", "persistentvolumeclaims", true, 3},
	{"v1", "PersistentVolume", "persistentvolumes", "persistentvolumes", false, 0},
	{"v1", "ServiceAccount", "serviceaccounts", "serviceaccounts", true, 2},
	{"v1", "Service", "services", "services/specs", true, 1},
	{"apps/v1", "Deployment", "deployments", "deployments", true, 2},
	{"apps/v1", "ReplicaSet", "replicasets", "replicasets", true, 1},
	{"apps/v1", "ControllerRevision", "controllerrevisions", "controllerrevisions", true, 0},
	{"apps/v1", "StatefulSet", "statefulsets", "statefulsets", true, 2},
	{"rbac.authorization.k8s.io/v1", "Role", "roles", "roles", true, 1},
	{"rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", "clusterroles", false, 1},
	{group + "/v1", "Database", "databases", group + "/databases", true, 6},
	{group + "/v1", "Widget", "widgets", group + "/widgets", true, 3},
	{group + "/v1", "Gadget", "gadgets", group + "/gadgets", false, 2},
	{"v1", "Namespace", "namespaces", "namespaces", false, 0},
}

func kindNamed(name string) kind {
	for _, k := range kinds {
		if k.name == name {
			return k
		}
	}
	panic("oracle: no kind " + name)
}

func (k kind) resource() schema.GroupVersionResource {
	gv, err := schema.ParseGroupVersion(k.apiVersion)
	if err != nil {
		panic(err)
	}
	return gv.WithResource(k.plural)
}

// path is where an object is served.
func (k kind) path(namespace, name string) string {
	at := "/apis/" + k.apiVersion
	if !strings.Contains(k.apiVersion, "/") {
		at = "/api/" + k.apiVersion
	}
	if k.namespaced {
		at += "/namespaces/" + namespace
	}
	return strings.TrimSuffix(at+"/"+k.plural+"/"+name, "/")
}

// argument is the kind as a person names it.
func (k kind) argument() string {
	if g := k.resource().Group; g != "" {
		return strings.ToLower(k.name) + "." + g
	}
	return strings.ToLower(k.name)
}

// definitions are those of the kinds of the group: databases have a status of their
// own, widgets have one that is content as any other.
var definitions = []string{
	definition("databases", "Database", "Namespaced", `,"subresources":{"status":{}}`),
	definition("widgets", "Widget", "Namespaced", ""),
	definition("gadgets", "Gadget", "Cluster", ""),
}

func definition(plural, kind, scope, more string) string {
	return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"` + plural + "." + group + `"},"spec":{"group":"` + group +
		`","scope":"` + scope + `","names":{"plural":"` + plural + `","singular":"` + strings.ToLower(kind) + `","kind":"` + kind + `","listKind":"` + kind +
		`List"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}` + more + `}]}}`
}
