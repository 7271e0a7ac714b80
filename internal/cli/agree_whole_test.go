package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// served are the kinds that the clusters of testdata/agree serve: plural, kind and version, with *
// for a cluster-scoped kind.
const served = `namespaces Namespace v1 *
nodes Node v1 *
configmaps ConfigMap v1
secrets Secret v1
pods Pod v1
persistentvolumeclaims PersistentVolumeClaim v1
persistentvolumes PersistentVolume v1 *
services Service v1
deployments Deployment apps/v1
replicasets ReplicaSet apps/v1
leases Lease coordination.k8s.io/v1
poddisruptionbudgets PodDisruptionBudget policy/v1
customresourcedefinitions CustomResourceDefinition apiextensions.k8s.io/v1 *
apiservices APIService apiregistration.k8s.io/v1 *
roles Role rbac.authorization.k8s.io/v1
rolebindings RoleBinding rbac.authorization.k8s.io/v1
clusterroles ClusterRole rbac.authorization.k8s.io/v1 *
clusterrolebindings ClusterRoleBinding rbac.authorization.k8s.io/v1 *
volumeattachments VolumeAttachment storage.k8s.io/v1 *
validatingwebhookconfigurations ValidatingWebhookConfiguration admissionregistration.k8s.io/v1 *
mutatingwebhookconfigurations MutatingWebhookConfiguration admissionregistration.k8s.io/v1 *
validatingadmissionpolicies ValidatingAdmissionPolicy admissionregistration.k8s.io/v1 *
validatingadmissionpolicybindings ValidatingAdmissionPolicyBinding admissionregistration.k8s.io/v1 *`

// wholeOf writes the objects of a file as a complete dump: all served kinds are known, and there is
// a list of each.
func wholeOf(t *testing.T, dump string) string {
	t.Helper()
	raw, err := os.ReadFile(dump)
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Items []map[string]any }
	if err := yaml.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name string, document any) {
		text, err := json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	resources := map[string]*metav1.APIResourceList{}
	groups := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	for line := range strings.Lines(served) {
		words := strings.Fields(line)
		plural, kind, version := words[0], words[1], words[2]
		if resources[version] == nil {
			resources[version] = &metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: version}
			if group, v, ok := strings.Cut(version, "/"); ok {
				of := metav1.GroupVersionForDiscovery{GroupVersion: version, Version: v}
				groups.Groups = append(groups.Groups, metav1.APIGroup{Name: group, Versions: []metav1.GroupVersionForDiscovery{of}, PreferredVersion: of})
			}
		}
		resources[version].APIResources = append(resources[version].APIResources, metav1.APIResource{
			Name: plural, Kind: kind, Namespaced: len(words) == 3, Verbs: metav1.Verbs{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"},
		})
		items := []map[string]any{}
		for _, o := range list.Items {
			if o["kind"] == kind && o["apiVersion"] == version {
				items = append(items, o)
			}
		}
		name := plural
		if group, _, ok := strings.Cut(version, "/"); ok {
			name += "." + group
		}
		write(name+".json", map[string]any{"apiVersion": version, "kind": kind + "List", "metadata": map[string]any{"resourceVersion": "200"}, "items": items})
	}
	for version, list := range resources {
		write("discovery/"+strings.ReplaceAll("api"+map[bool]string{true: "s"}[strings.Contains(version, "/")]+"/"+version, "/", "__")+".json", list)
	}
	write("discovery/api.json", metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}})
	write("discovery/apis.json", groups)
	write("discovery/version.json", map[string]string{"major": "1", "minor": "36", "gitVersion": "v1.36.3"})
	return dir
}
