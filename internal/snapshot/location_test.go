package snapshot

import "testing"

func TestLocate(t *testing.T) {
	tests := []struct {
		path string
		want location
	}{
		// sonobuoy
		{"resources/cluster/core_v1_nodes.json", location{role: objects, scope: inCluster, resource: "nodes", version: "v1", grouped: true, directory: "resources/cluster", sonobuoy: "."}},
		{"t/resources/ns/shop/apps_v1_deployments.json", location{role: objects, scope: inNamespace, resource: "deployments", group: "apps", version: "v1", grouped: true, namespace: "shop", directory: "t/resources/ns/shop", sonobuoy: "t"}},
		{"resources/ns/shop/Pods.json", location{role: objects, scope: inNamespace, resource: "pods", namespace: "shop", directory: "resources/ns/shop", sonobuoy: "."}},
		{"meta/query-time.json", location{role: queries, directory: "meta", sonobuoy: "."}},
		{"t/meta/config.json", location{role: settings, directory: "t/meta", sonobuoy: "t"}},
		{"resources/non-ns/Nodes.json", location{role: objects, scope: inCluster, resource: "nodes", directory: "resources/non-ns", sonobuoy: "."}},
		{"servergroups.json", location{role: discovery}},
		{"plugins/e2e/results/pods.json", location{role: foreign, directory: "plugins/e2e/results"}},
		{"podlogs/shop/web/logs.json", location{role: foreign, directory: "podlogs/shop/web"}},
		// support bundle
		{"b/cluster-resources/pods/shop.json", location{role: objects, scope: inNamespace, resource: "pods", namespace: "shop", directory: "b/cluster-resources/pods", bundle: "b/cluster-resources"}},
		{"cluster-resources/pvs.json", location{role: objects, scope: inCluster, resource: "pvs", directory: "cluster-resources", bundle: "cluster-resources"}},
		{"cluster-resources/jobs-errors.json", location{role: failures, resource: "jobs", directory: "cluster-resources"}},
		{"cluster-resources/custom-resources/carts.example.com/shop.yaml", location{role: objects, scope: inNamespace, resource: "carts", group: "example.com", grouped: true, namespace: "shop", directory: "cluster-resources/custom-resources/carts.example.com", bundle: "cluster-resources", custom: true}},
		{"cluster-resources/custom-resources/carts.example.com.yaml", location{role: objects, scope: inCluster, resource: "carts", group: "example.com", grouped: true, directory: "cluster-resources/custom-resources", bundle: "cluster-resources", custom: true}},
		{"cluster-resources/auth-cani-list/shop.json", location{role: foreign, directory: "cluster-resources/auth-cani-list"}},
		{"cluster-resources/pods/logs/shop/web.json", location{role: foreign, directory: "cluster-resources/pods/logs/shop"}},
		{"cluster-info/cluster_version.json", location{role: discovery, directory: "cluster-info"}},
		// must-gather
		{"q/cluster-scoped-resources/core/nodes.yaml", location{role: objects, scope: inCluster, resource: "nodes", grouped: true, directory: "q/cluster-scoped-resources/core"}},
		{"cluster-scoped-resources/config.openshift.io/dnses/cluster.yaml", location{role: objects, scope: shown, resource: "dnses", group: "config.openshift.io", grouped: true, directory: "cluster-scoped-resources/config.openshift.io/dnses"}},
		{"namespaces/shop/apps/deployments.yaml", location{role: objects, scope: inNamespace, resource: "deployments", group: "apps", grouped: true, namespace: "shop", directory: "namespaces/shop/apps"}},
		{"namespaces/all/core/pods.yaml", location{role: objects, scope: shown, resource: "pods", grouped: true, directory: "namespaces/all/core"}},
		{"namespaces/shop/pods/web/web.yaml", location{role: objects, scope: shown, resource: "pods", grouped: true, namespace: "shop", directory: "namespaces/shop/pods/web"}},
		{"namespaces/shop/shop.yaml", location{role: perhapsObjects, directory: "namespaces/shop"}},
		// cluster-info dump and directories of lists
		{"shop/pods.json", location{role: objects, scope: byDirectory, resource: "pods", directory: "shop"}},
		{"shop/replication-controllers.json", location{role: objects, scope: byDirectory, resource: "replication-controllers", directory: "shop"}},
		{"deployments.apps.json", location{role: objects, scope: byDirectory, resource: "deployments", group: "apps", grouped: true}},
		{"deployments.v1.apps.yaml", location{role: objects, scope: byDirectory, resource: "deployments", group: "apps", version: "v1", grouped: true}},
		{"carts.example.com.json.gz", location{role: objects, scope: byDirectory, resource: "carts", group: "example.com", grouped: true}},
		{"network-attachment-definitions.k8s.cni.cncf.io.yaml", location{role: objects, scope: byDirectory, resource: "network-attachment-definitions", group: "k8s.cni.cncf.io", grouped: true}},
		{"discovery/apis.json", location{role: discovery, directory: "."}},
		{"d/discovery/apis.json", location{role: discovery, directory: "d"}},
		{"groups.json", location{role: perhapsDiscovery}},
		// everything else
		{"po.json", location{role: perhapsObjects}},
		{"my.notes.yaml", location{role: perhapsObjects}},
		{"all.yaml", location{role: perhapsObjects}},
		{"pods.log", location{}},
		{"._pods.json", location{}},
		{".json", location{}},
	}
	for _, test := range tests {
		got := locate(test.path)
		got.layout = ""
		if got != test.want {
			t.Errorf("%s:\n got %+v\nwant %+v", test.path, got, test.want)
		}
	}
}

// The names of resources in dump formats.
func TestNameTable(t *testing.T) {
	for name, kind := range map[string]string{
		"pods": "Pod", "pvcs": "PersistentVolumeClaim", "pvs": "PersistentVolume", "ingress": "Ingress",
		"storage-classes": "StorageClass", "custom-resource-definitions": "CustomResourceDefinition",
		"network-policy": "NetworkPolicy", "resource-quota": "ResourceQuota", "pod-disruption-budgets": "PodDisruptionBudget",
		"replication-controllers": "ReplicationController", "PodSecurityPolicies": "PodSecurityPolicy",
		"events": "Event", "service-accounts": "ServiceAccount", "componentstatuses": "ComponentStatus",
	} {
		if r, ok := builtinNames().resource(location{resource: name}); !ok || r.Kind != kind {
			t.Errorf("%s is %q, want %q", name, r.Kind, kind)
		}
	}
	if r, ok := builtinNames().resource(location{resource: "ingresses"}); !ok || r.Group != "networking.k8s.io" {
		t.Errorf("ingresses are in group %q", r.Group)
	}
	if r, ok := builtinNames().resource(location{resource: "nodes", group: "longhorn.io", grouped: true}); ok {
		t.Errorf("nodes.longhorn.io is the built-in %+v", r)
	}
}

func TestFormatOf(t *testing.T) {
	oldTar := tarOf(t, nil)
	if f := formatOf(oldTar[:tarBlock]); f != tarred {
		t.Errorf("an empty tar is %v", f)
	}
	for content, want := range map[string]format{
		podList: text, "": text, "\x1f\x8b\x08": gzipped, "\x28\xb5\x2f\xfd": zstandard, "PK\x03\x04": zipped, "PK\x05\x06": zipped, "PK": text,
	} {
		if got := formatOf([]byte(content)); got != want {
			t.Errorf("%q is %v, want %v", content, got, want)
		}
	}
}
