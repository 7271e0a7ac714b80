package realcluster

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// comesBack waits until there is another object at a path than the one of a uid.
func comesBack(t *testing.T, path string, old types.UID) {
	t.Helper()
	await(t, func() string {
		r := ask(t, "", http.MethodGet, path, "", nil)
		if r.code != http.StatusOK {
			return path + " is not there"
		}
		var o metav1.PartialObjectMetadata
		if err := json.Unmarshal(r.body, &o); err != nil {
			t.Fatal(err)
		}
		if o.UID == old {
			return path + " is the old one"
		}
		return ""
	})
}

// Who keeps an object up creates it again: the ServiceAccount of a namespace, the slice
// of a Service, the current ReplicaSet of a Deployment and not an older one,
// the claim of a pod, the APIService of a definition, with which it goes.
func TestWhatComesBack(t *testing.T) {
	controllers(t, collector, "serviceaccount-controller", "endpointslice-controller", "endpoints-controller", "deployment-controller",
		"replicaset-controller", "ephemeral-volume-controller", "persistentvolumeclaim-protection-controller", "namespace-controller")
	const core, apps = "/api/v1/namespaces/again/", "/apis/apps/v1/namespaces/again/"
	post(t, "/api/v1/namespaces", `{"metadata":{"name":"again"}}`)
	t.Cleanup(func() { // nothing of it is in the graphs of other tests
		controllers(t, collector) // so that nobody makes anything of it again
		var content []string
		for _, resource := range []string{
			"configmaps", "controllerrevisions", "deployments", "endpointslices", "events", "persistentvolumeclaims", "pods", "replicasets",
			"serviceaccounts", "services/endpoints", "services/specs", "statefulsets",
		} {
			content = append(content, resource+"/again/")
		}
		if err := plane.Wipe(content...); err != nil {
			t.Error(err)
		}
	})
	again := func(path string) {
		t.Helper()
		comesBack(t, path, "")
		old := uidOf(t, path)
		remove(t, path, "")
		comesBack(t, path, old)
	}
	again(core + "serviceaccounts/default")

	post(t, core+"services", `{"metadata":{"name":"web"},"spec":{"selector":{"app":"web"},"ports":[{"port":80}]}}`)
	const slices = "/apis/discovery.k8s.io/v1/namespaces/again/endpointslices"
	var slice discoveryv1.EndpointSlice
	one := func(other types.UID) {
		t.Helper()
		await(t, func() string {
			list := read[discoveryv1.EndpointSliceList](t, slices+"?labelSelector=kubernetes.io/service-name%3Dweb").Items
			if len(list) != 1 || list[0].UID == other {
				return fmt.Sprintf("%d slices", len(list))
			}
			slice = list[0]
			return ""
		})
	}
	one("")
	if by := slice.Labels["endpointslice.kubernetes.io/managed-by"]; by != "endpointslice-controller.k8s.io" {
		t.Errorf("the slice is managed by %q", by)
	}
	remove(t, slices+"/"+slice.Name, "")
	one(slice.UID)
	again(core + "endpoints/web")
	if by := read[metav1.PartialObjectMetadata](t, core+"endpoints/web").Labels["endpoints.kubernetes.io/managed-by"]; by != "endpoint-controller" {
		t.Errorf("the Endpoints are managed by %q", by)
	}

	post(t, core+"pods", `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}],"volumes":[{"name":"v","ephemeral":{"volumeClaimTemplate":`+
		`{"spec":{"accessModes":["ReadWriteOnce"],"storageClassName":"none","resources":{"requests":{"storage":"1Gi"}}}}}}]}}`)
	again(core + "persistentvolumeclaims/p-v")

	define(t, "againers.again.example.com", "Againer", "Namespaced")
	const service = "/apis/apiregistration.k8s.io/v1/apiservices/v1.again.example.com"
	again(service)
	if l := read[metav1.PartialObjectMetadata](t, service).Labels["kube-aggregator.kubernetes.io/automanaged"]; l != "true" {
		t.Errorf("the APIService is labelled %q", l)
	}
	remove(t, definitions+"/againers.again.example.com", "")
	awaitGone(t, definitions+"/againers.again.example.com")
	awaitGone(t, service)

	deployment := func(image string) string {
		return fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":1,"selector":{"matchLabels":{"app":"d"}},`+
			`"template":{"metadata":{"labels":{"app":"d"}},"spec":{"containers":[{"name":"c","image":%q}]}}}}`, image)
	}
	sets := func(n int) map[string]appsv1.ReplicaSet {
		t.Helper()
		byRevision := map[string]appsv1.ReplicaSet{}
		await(t, func() string {
			clear(byRevision)
			for _, rs := range read[appsv1.ReplicaSetList](t, apps+"replicasets").Items {
				byRevision[rs.Annotations["deployment.kubernetes.io/revision"]] = rs
			}
			d := read[appsv1.Deployment](t, apps+"deployments/d")
			if _, ok := byRevision[d.Annotations["deployment.kubernetes.io/revision"]]; len(byRevision) != n || !ok || d.Status.ObservedGeneration != d.Generation {
				return fmt.Sprintf("%d ReplicaSets, revision %s", len(byRevision), d.Annotations["deployment.kubernetes.io/revision"])
			}
			return ""
		})
		return byRevision
	}
	post(t, apps+"deployments", deployment("one"))
	sets(1)
	patch(t, apps+"deployments/d", `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"two"}]}}}}`)
	both := sets(2)
	remove(t, apps+"replicasets/"+both["1"].Name, "")
	awaitGone(t, apps+"replicasets/"+both["1"].Name)
	again(apps + "replicasets/" + both["2"].Name)
	if exists(t, apps+"replicasets/"+both["1"].Name) {
		t.Error("the ReplicaSet of an older revision came back")
	}
	remove(t, apps+"deployments/d", `{"propagationPolicy":"Foreground"}`)
}
