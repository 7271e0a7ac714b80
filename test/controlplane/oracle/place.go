package oracle

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// place is where a world stands: the beginning of all its names and uids, so that many
// worlds share one control plane and do not meet. Each story is set at two places: one
// for the program, and one for its twin, in which everything else happens.
type place string

func placesOf(slot int) (ours, twin place) {
	return place(fmt.Sprintf("m%d-", slot)), place(fmt.Sprintf("t%d-", slot))
}

func (p place) name(s string) string { return string(p) + s }

// plain is a text of the place as it would be anywhere.
func (p place) plain(s string) string {
	if p == "" {
		return s
	}
	return strings.ReplaceAll(s, string(p), "@")
}

type fields = map[string]any

// stored are the objects of a story as they go into storage at a place.
func (p place) stored(s *story) ([]cluster.Stored, error) {
	var all []cluster.Stored
	for i := range s.things {
		t := &s.things[i]
		k := kindNamed(t.kind)
		o := p.content(s, t)
		o["apiVersion"], o["kind"], o["metadata"] = k.apiVersion, k.name, p.metadata(s, t)
		text, err := json.Marshal(o)
		if err != nil {
			return nil, err
		}
		key := k.key + "/" + p.name(t.name)
		if k.namespaced {
			key = k.key + "/" + p.name(t.namespace) + "/" + p.name(t.name)
		}
		all = append(all, cluster.Stored{Key: key, Manifest: text})
	}
	return all, nil
}

func (p place) uid(name string) string { return p.name("u-" + name) }

func (p place) metadata(s *story, t *thing) fields {
	k := kindNamed(t.kind)
	m := fields{
		"name": p.name(t.name), "uid": p.uid(t.name), "creationTimestamp": "2026-01-01T00:00:00Z",
		"labels": t.labels, "annotations": t.annotations, "finalizers": t.finalizers, "generation": 1,
	}
	if k.namespaced {
		m["namespace"] = p.name(t.namespace)
	}
	if t.deleting {
		m["deletionTimestamp"], m["deletionGracePeriodSeconds"] = "2026-01-02T00:00:00Z", 0
	}
	annotations := fields{}
	for key, value := range t.annotations {
		annotations[key] = value
	}
	if t.kind == "Secret" && t.with != "" {
		annotations["kubernetes.io/service-account.name"], annotations["kubernetes.io/service-account.uid"] = p.name(t.with), p.uid(t.with)
	}
	if t.kind == "PersistentVolumeClaim" && t.with != "" {
		annotations["pv.kubernetes.io/bind-completed"] = "yes"
	}
	m["annotations"] = annotations
	var owners []fields
	for _, o := range t.owners {
		of := o.kind
		if !o.ghost {
			of = s.thing(o.name).kind
		}
		owners = append(owners, fields{
			"apiVersion": kindNamed(of).apiVersion, "kind": of, "name": p.name(o.name), "uid": p.uid(o.name), "controller": o.controller, "blockOwnerDeletion": o.blocks,
		})
	}
	if owners != nil {
		m["ownerReferences"] = owners
	}
	return m
}

// content is what an object has beside its metadata.
func (p place) content(s *story, t *thing) fields {
	selector := fields{"matchLabels": fields{"app": t.name}}
	template := fields{
		"metadata": fields{"labels": fields{"app": t.name}},
		"spec":     fields{"containers": []fields{{"name": "c", "image": "i"}}},
	}
	size := fields{"storage": "1Gi"}
	switch t.kind {
	case "Namespace":
		return fields{"spec": fields{"finalizers": []string{"kubernetes"}}, "status": fields{"phase": "Active"}}
	case "ConfigMap":
		return fields{"data": fields{"of": t.name}}
	case "Secret":
		if t.with != "" {
			return fields{"type": "kubernetes.io/service-account-token", "data": fields{"of": "AAAA", "token": "AAAA", "ca.crt": "AAAA", "namespace": "AAAA"}}
		}
		return fields{"type": "Opaque", "data": fields{"of": "AAAA"}}
	case "Pod":
		// With what admission would have given it.
		spec := fields{
			"containers": []fields{{"name": "c", "image": "i"}}, "terminationGracePeriodSeconds": 0, "priority": 0, "preemptionPolicy": "PreemptLowerPriority",
			"tolerations": []fields{tolerates("not-ready"), tolerates("unreachable")},
		}
		if t.with != "" {
			spec["volumes"] = []fields{{"name": "v", "persistentVolumeClaim": fields{"claimName": p.name(t.with)}}}
		}
		return fields{"spec": spec, "status": fields{"phase": "Pending"}}
	case "PersistentVolumeClaim":
		spec := fields{"accessModes": []string{"ReadWriteOnce"}, "storageClassName": "none", "resources": fields{"requests": size}}
		if t.with == "" {
			return fields{"spec": spec, "status": fields{"phase": "Pending"}}
		}
		spec["volumeName"] = p.name(t.with)
		return fields{"spec": spec, "status": fields{"phase": "Bound", "accessModes": []string{"ReadWriteOnce"}, "capacity": size}}
	case "PersistentVolume":
		spec := fields{
			"capacity": size, "accessModes": []string{"ReadWriteOnce"}, "persistentVolumeReclaimPolicy": "Retain", "storageClassName": "none", "hostPath": fields{"path": "/x"},
		}
		if claim := s.thing(t.with); claim != nil {
			spec["claimRef"] = fields{
				"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": p.name(claim.namespace), "name": p.name(claim.name), "uid": p.uid(claim.name),
			}
		}
		return fields{"spec": spec, "status": fields{"phase": "Bound"}}
	case "Service":
		return fields{"spec": fields{"clusterIP": "None", "clusterIPs": []string{"None"}, "ipFamilies": []string{"IPv4"}, "ipFamilyPolicy": "SingleStack", "ports": []fields{{"port": 80}}}}
	case "Deployment", "ReplicaSet":
		return fields{"spec": fields{"replicas": 0, "selector": selector, "template": template}}
	case "StatefulSet":
		return fields{"spec": fields{"replicas": 0, "serviceName": "none", "selector": selector, "template": template}}
	case "Role", "ClusterRole":
		return fields{"rules": []fields{{"apiGroups": []string{""}, "resources": []string{"configmaps"}, "verbs": []string{"get"}}}}
	case "Database", "Widget", "Gadget":
		return fields{"spec": fields{"of": t.name}, "status": fields{"ready": true}}
	}
	return fields{}
}

func tolerates(what string) fields {
	return fields{"key": "node.kubernetes.io/" + what, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
}

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
