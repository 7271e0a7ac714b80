package stuck

import (
	"fmt"
	"strings"
)

// clusterScoped are the kinds of Kubernetes without namespace that situations use.
var clusterScoped = map[string]bool{
	"Namespace": true, "Node": true, "PersistentVolume": true, "CustomResourceDefinition": true, "APIService": true,
	"ClusterRole": true, "ClusterRoleBinding": true, "ValidatingWebhookConfiguration": true, "VolumeAttachment": true,
}

// collection is the path of the objects of a kind.
func collection(apiVersion, kind, namespace string) string {
	path := "/apis/" + apiVersion
	if !strings.Contains(apiVersion, "/") {
		path = "/api/" + apiVersion
	}
	if namespace != "" {
		path += "/namespaces/" + namespace
	}
	return path + "/" + strings.ToLower(kind) + "s"
}

// place is where an object of a manifest is, and remembers that under its kind and
// name.
func (s *situation) place(o map[string]any) (all, one string) {
	m := o["metadata"].(map[string]any)
	kind, name := fmt.Sprint(o["kind"]), fmt.Sprint(m["name"])
	namespace, given := m["namespace"].(string)
	switch {
	case clusterScoped[kind]:
		namespace = ""
	case !given:
		namespace = s.Name
	}
	all = collection(fmt.Sprint(o["apiVersion"]), kind, namespace)
	s.places[kind+"/"+name] = all + "/" + name
	return all, all + "/" + name
}

// at is the path of an object of the situation, by kind and name.
func (s *situation) at(name string) (string, error) {
	if path, ok := s.places[name]; ok {
		return path, nil
	}
	kind, rest, _ := strings.Cut(name, "/")
	switch kind {
	case "Namespace":
		return "/api/v1/namespaces/" + rest, nil
	case "CustomResourceDefinition":
		return definitions + "/" + rest, nil
	}
	return "", fmt.Errorf("%s: the situation has not made %s", s.Name, name)
}

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// definition is the manifest of a kind, by the name of its definition.
func definition(name string) map[string]any {
	plural, group, _ := strings.Cut(name, ".")
	kind := strings.ToUpper(plural[:1]) + strings.TrimSuffix(plural[1:], "s")
	return map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": name, "annotations": map[string]any{"api-approved.kubernetes.io": "unapproved, a test"}},
		"spec": map[string]any{
			"group": group, "scope": "Namespaced",
			"names":    map[string]any{"plural": plural, "singular": strings.ToLower(kind), "kind": kind, "listKind": kind + "List"},
			"versions": []any{version("v1", true, true)},
		},
	}
}

func version(name string, served, storage bool) map[string]any {
	return map[string]any{"name": name, "served": served, "storage": storage, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}}}
}
