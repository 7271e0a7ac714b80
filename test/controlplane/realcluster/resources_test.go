package realcluster

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A volume that is bound waits for its claim, which waits for its pod. When the
// claim has gone the binder releases the volume, and it goes, as far as its other
// finalizers let it. One that is not bound goes at once.
//
// Shows: S233
func TestBoundVolume(t *testing.T) {
	beside(t)
	const volumes, claims = "/api/v1/persistentvolumes", "/api/v1/namespaces/s233/persistentvolumeclaims"
	post(t, "/api/v1/namespaces", `{"metadata":{"name":"s233"}}`)
	post(t, "/api/v1/nodes", `{"metadata":{"name":"s233-n1"}}`)
	volume := func(name, finalizers, claim string) {
		post(t, volumes, fmt.Sprintf(`{"metadata":{"name":%q,"finalizers":[%s]},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],`+
			`"persistentVolumeReclaimPolicy":"Retain","storageClassName":"s233","hostPath":{"path":"/x"}%s}}`, name, finalizers, claim))
	}
	phase := func(name string) corev1.PersistentVolumePhase {
		return read[corev1.PersistentVolume](t, volumes+"/"+name).Status.Phase
	}
	for name, finalizers := range map[string]string{"disk": "", "kept": `"example.com/driver"`} {
		volume("s233-"+name, finalizers, fmt.Sprintf(`,"claimRef":{"namespace":"s233","name":%q}`, name))
		post(t, claims, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"accessModes":["ReadWriteOnce"],"storageClassName":"s233","volumeName":"s233-%[1]s","resources":{"requests":{"storage":"1Gi"}}}}`, name))
		await(t, func() string {
			if p := phase("s233-" + name); p != corev1.VolumeBound {
				return name + " is " + string(p)
			}
			return ""
		})
	}
	volume("s233-free", "", "")
	post(t, "/api/v1/namespaces/s233/pods", `{"metadata":{"name":"db"},"spec":{"nodeName":"s233-n1","containers":[{"name":"c","image":"i"}],`+
		`"volumes":[{"name":"a","persistentVolumeClaim":{"claimName":"disk"}},{"name":"b","persistentVolumeClaim":{"claimName":"kept"}}]}}`)
	for _, name := range []string{"disk", "free", "kept"} {
		remove(t, volumes+"/s233-"+name, "")
	}
	awaitGone(t, volumes+"/s233-free")
	for _, name := range []string{"disk", "kept"} {
		remove(t, claims+"/"+name, "")
	}
	fence(t)
	for _, path := range []string{volumes + "/s233-disk", volumes + "/s233-kept", claims + "/disk", claims + "/kept"} {
		if o := read[metav1.PartialObjectMetadata](t, path); o.DeletionTimestamp == nil {
			t.Errorf("%s is not being deleted", path)
		}
	}
	if p := phase("s233-disk"); p != corev1.VolumeBound {
		t.Errorf("the volume is %s", p)
	}
	remove(t, "/api/v1/namespaces/s233/pods/db", `{"gracePeriodSeconds":0}`)
	for _, path := range []string{claims + "/disk", claims + "/kept", volumes + "/s233-disk"} {
		awaitGone(t, path)
	}
	await(t, func() string {
		if f := read[metav1.PartialObjectMetadata](t, volumes+"/s233-kept").Finalizers; len(f) != 1 || f[0] != "example.com/driver" {
			return fmt.Sprintf("its finalizers are %s", f)
		}
		return ""
	})
	patch(t, volumes+"/s233-kept", `{"metadata":{"finalizers":null}}`)
	awaitGone(t, volumes+"/s233-kept")
}

// A claim that was allocated to a pod goes after it: the collector deletes it, and
// its controller gives the allocation back and lets go of it.
//
// Shows: S240
func TestResourceClaim(t *testing.T) {
	beside(t)
	const resources, pods = "/apis/resource.k8s.io/v1/namespaces/s240/", "/api/v1/namespaces/s240/pods"
	post(t, "/api/v1/namespaces", `{"metadata":{"name":"s240"}}`)
	post(t, resources+"resourceclaimtemplates", `{"metadata":{"name":"device"},"spec":{"spec":{}}}`)
	post(t, pods, `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}],"resourceClaims":[{"name":"d","resourceClaimTemplateName":"device"}]}}`)
	owner := uidOf(t, pods+"/p")
	var claim metav1.PartialObjectMetadata
	await(t, func() string {
		list := read[metav1.PartialObjectMetadataList](t, resources+"resourceclaims").Items
		if len(list) != 1 {
			return fmt.Sprintf("%d claims", len(list))
		}
		claim = list[0]
		return ""
	})
	if c := metav1.GetControllerOf(&claim); c == nil || c.UID != owner {
		t.Errorf("the claim does not refer to its pod: %v", claim.OwnerReferences)
	}
	path := resources + "resourceclaims/" + claim.Name
	// What a scheduler does, and a finalizer to see the end of it.
	patch(t, path, `{"metadata":{"finalizers":["resource.kubernetes.io/delete-protection","x/y"]}}`)
	patch(t, path+"/status", fmt.Sprintf(`{"status":{"allocation":{"devices":{}},"reservedFor":[{"resource":"pods","name":"p","uid":%q}]}}`, owner))
	remove(t, pods+"/p", "")
	type state struct {
		Metadata metav1.ObjectMeta
		Status   struct {
			Allocation  map[string]any
			ReservedFor []any
		}
	}
	await(t, func() string {
		c := read[state](t, path)
		if c.Metadata.DeletionTimestamp == nil || len(c.Metadata.Finalizers) != 1 || c.Status.Allocation != nil || len(c.Status.ReservedFor) > 0 {
			return fmt.Sprintf("the claim is %v", c)
		}
		return ""
	})
	patch(t, path, `{"metadata":{"finalizers":null}}`)
	awaitGone(t, path)
}

// A ServiceCIDR whose addresses nothing else covers waits for them, and one without
// addresses goes, but not before ten seconds have passed.
//
// Shows: S241
func TestServiceCIDR(t *testing.T) {
	beside(t)
	const cidrs = "/apis/networking.k8s.io/v1/servicecidrs"
	type state struct {
		Metadata metav1.ObjectMeta
		Status   struct{ Conditions []metav1.Condition }
	}
	ready := func(name string) (metav1.ConditionStatus, string) {
		for _, c := range read[state](t, cidrs+"/"+name).Status.Conditions {
			if c.Type == "Ready" {
				return c.Status, c.Reason
			}
		}
		return "", ""
	}
	for name, cidr := range map[string]string{"used": "10.9.0.0/24", "free": "10.8.0.0/24"} {
		post(t, cidrs, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"cidrs":[%q]}}`, name, cidr))
	}
	for _, name := range []string{"used", "free"} {
		await(t, func() string {
			if s, _ := ready(name); s != metav1.ConditionTrue {
				return name + " is not ready"
			}
			return ""
		})
		if f := read[state](t, cidrs+"/"+name).Metadata.Finalizers; len(f) != 1 || f[0] != "networking.k8s.io/service-cidr-finalizer" {
			t.Errorf("%s has the finalizers %s", name, f)
		}
	}
	const services = "/api/v1/namespaces/default/services"
	await(t, func() string { // until the allocator knows of the addresses
		r := ask(t, "", http.MethodPost, services, "application/json", `{"metadata":{"name":"s241"},"spec":{"clusterIP":"10.9.0.7","ports":[{"port":80}]}}`)
		if r.code != http.StatusCreated {
			return r.refusal.Message
		}
		return ""
	})
	for _, name := range []string{"used", "free"} {
		remove(t, cidrs+"/"+name, "")
	}
	await(t, func() string {
		if s, reason := ready("used"); s != metav1.ConditionFalse || reason != "Terminating" {
			return fmt.Sprintf("used is ready: %s %s", s, reason)
		}
		return ""
	})
	began := read[state](t, cidrs+"/free").Metadata.DeletionTimestamp
	awaitGone(t, cidrs+"/free")
	if took := time.Since(began.Time); took < 10*time.Second {
		t.Errorf("the one without addresses was gone after %s", took)
	}
	if !exists(t, cidrs+"/used") {
		t.Error("the one with an address is gone")
	}
	remove(t, services+"/s241", "")
	awaitGone(t, cidrs+"/used")
}
