package realcluster

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The slices that mirror Endpoints go with these although they were orphaned, for the
// controller that has made them asks for no owner.
//
// Shows: S249
func TestMirroredSlices(t *testing.T) {
	beside(t)
	const core, slices = "/api/v1/namespaces/s249/", "/apis/discovery.k8s.io/v1/namespaces/s249/endpointslices"
	post(t, "/api/v1/namespaces", `{"metadata":{"name":"s249"}}`)
	post(t, core+"services", `{"metadata":{"name":"web"},"spec":{"clusterIP":"None","ports":[{"port":80}]}}`)
	post(t, core+"endpoints", `{"metadata":{"name":"web"},"subsets":[{"addresses":[{"ip":"192.0.2.7"}],"ports":[{"port":80}]}]}`)
	var mirror metav1.PartialObjectMetadata
	await(t, func() string {
		list := read[metav1.PartialObjectMetadataList](t, slices).Items
		if len(list) != 1 {
			return fmt.Sprintf("%d slices", len(list))
		}
		mirror = list[0]
		return ""
	})
	if c := metav1.GetControllerOf(&mirror); c == nil || c.Kind != "Endpoints" || mirror.Labels["kubernetes.io/service-name"] != "web" ||
		mirror.Labels["endpointslice.kubernetes.io/managed-by"] != "endpointslicemirroring-controller.k8s.io" {
		t.Errorf("the mirror is %+v", mirror)
	}
	// What refers to nobody is not the collector's.
	patch(t, slices+"/"+mirror.Name, `{"metadata":{"ownerReferences":null,"labels":{"seen":"yes"}}}`)
	remove(t, core+"endpoints/web", `{"propagationPolicy":"Orphan"}`)
	awaitGone(t, slices+"/"+mirror.Name)
	if !exists(t, core+"services/web") {
		t.Error("the Service is gone")
	}
}
