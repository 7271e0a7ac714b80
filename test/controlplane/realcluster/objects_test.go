package realcluster

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

const (
	podTemplate = `"template":{"metadata":{"labels":{"from":"template"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`
	// tolerations are what admission gives every pod: in storage they are there.
	tolerations = `"tolerations":[` +
		`{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},` +
		`{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}]`
	claimSpec = `"spec":{"accessModes":["ReadWriteOnce"],"storageClassName":"","resources":{"requests":{"storage":"1Gi"}}}`
)

// bodies are the fields beside metadata that make an object of a kind valid. A
// kind that is missing needs none.
var bodies = map[string]string{
	"Secret":                `"type":"Opaque"`,
	"PersistentVolumeClaim": claimSpec,
	"Deployment":            `"spec":{"replicas":0,"selector":{"matchLabels":{"from":"template"}},` + podTemplate + `}`,
	"CSINode":               `"spec":{"drivers":[]}`,
	"Event":                 `"reason":"r"`,
}

// bodyOf are the fields beside metadata, facts included.
func bodyOf(o *object.Object) string {
	switch o.Kind {
	case "Pod":
		return podBody(o.Pod())
	case "PersistentVolume":
		return volumeBody(o.Volume())
	case "Namespace":
		return namespaceBody(o.NamespaceFacts())
	default:
		return bodies[o.Kind]
	}
}

func podBody(p *object.PodFacts) string {
	if p == nil {
		p = &object.PodFacts{}
	}
	spec := `"containers":[{"name":"c","image":"i"}],` + tolerations
	if p.NodeName != "" {
		spec += fmt.Sprintf(`,"nodeName":%q`, p.NodeName)
	}
	if p.TerminationGracePeriod != nil {
		spec += fmt.Sprintf(`,"terminationGracePeriodSeconds":%d`, *p.TerminationGracePeriod)
	}
	var volumes []string
	for _, c := range p.Claims {
		volumes = append(volumes, fmt.Sprintf(`{"name":%q,"persistentVolumeClaim":{"claimName":%q}}`, c.Name, c.Name))
	}
	status := ""
	if p.Phase != "" {
		status = fmt.Sprintf(`,"status":{"phase":%q}`, p.Phase)
	}
	return fmt.Sprintf(`"spec":{%s,"volumes":[%s]}%s`, spec, strings.Join(volumes, ","), status)
}

func namespaceBody(n *object.NamespaceFacts) string {
	if n == nil {
		return ""
	}
	finalizers, _ := json.Marshal(append([]string{}, n.Finalizers...)) // strings marshal
	return fmt.Sprintf(`"spec":{"finalizers":%s},"status":{"phase":%q}`, finalizers, n.Phase)
}

func volumeBody(v *object.PVFacts) string {
	claim := ""
	if v == nil {
		v = &object.PVFacts{}
	}
	if v.ClaimName != "" {
		claim = fmt.Sprintf(`,"claimRef":{"kind":"PersistentVolumeClaim","namespace":%q,"name":%q,"uid":%q}`, v.ClaimNamespace, v.ClaimName, v.ClaimUID)
	}
	return fmt.Sprintf(`"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"persistentVolumeReclaimPolicy":"Retain",`+
		`"hostPath":{"path":"/x"}%s},"status":{"phase":%q}`, claim, v.Phase)
}

// metadataOf is the metadata of an object that has the names of the real server.
func metadataOf(o *object.Object) map[string]any {
	m := map[string]any{"name": o.Name}
	set := func(key string, value any, given bool) {
		if given {
			m[key] = value
		}
	}
	set("namespace", o.Namespace, o.Namespace != "")
	set("uid", o.UID, o.UID != "")
	set("labels", maps.Collect(o.Labels.All), o.Labels != "")
	set("annotations", map[string]string{"kubernetes.io/config.mirror": "x"}, o.Pod() != nil && o.Pod().Mirror)
	set("finalizers", o.Finalizers(), len(o.Finalizers()) > 0)
	set("deletionGracePeriodSeconds", o.GracePeriod(), o.GracePeriod() != nil)
	set("deletionTimestamp", time.Unix(o.DeletionTimestamp(), 0).UTC().Format(time.RFC3339), o.BeingDeleted())
	var owners []map[string]any
	for _, r := range o.Owners {
		ref := map[string]any{"apiVersion": r.APIVersion, "kind": r.Kind, "name": r.Name, "uid": r.UID}
		if b := r.Controller.Bool(); b != nil {
			ref["controller"] = *b
		}
		if b := r.BlockOwnerDeletion.Bool(); b != nil {
			ref["blockOwnerDeletion"] = *b
		}
		owners = append(owners, ref)
	}
	set("ownerReferences", owners, len(owners) > 0)
	return m
}

// stored is an object in the form in which it goes into storage.
func stored(r object.Resource, o *object.Object) (cluster.Stored, error) {
	m := metadataOf(o)
	m["creationTimestamp"] = "2026-01-01T00:00:00Z"
	place := r.Name
	switch {
	case r.Name == "nodes":
		place = "minions"
	case r.Custom:
		place = r.Group + "/" + r.Name
	}
	text, err := whole(o, m)
	return cluster.Stored{Key: place + "/" + strings.TrimPrefix(o.Namespace+"/"+o.Name, "/"), Manifest: text}, err
}

// whole is an object with this metadata, on one line.
func whole(o *object.Object, metadata map[string]any) ([]byte, error) {
	meta, err := json.Marshal(metadata)
	if err != nil {
		return nil, err
	}
	body := bodyOf(o)
	if body != "" {
		body = "," + body
	}
	return fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,"metadata":%s%s}`, o.APIVersion, o.Kind, meta, body), nil
}

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
