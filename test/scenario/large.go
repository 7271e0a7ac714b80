package scenario

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// LargeCluster is a cluster of about n objects, made for measuring: a namespace for
// every 2,000 of them, each with applications that a custom resource owns, their
// deployments, replica sets and pods, claims with volumes, secrets and services; and a
// hundred nodes.
func LargeCluster(n int) []*object.Object {
	l := &large{}
	for i := range 100 {
		l.add("v1", "Node", "", fmt.Sprintf("node-%d", i))
	}
	definition := l.add("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "widgets.example.com")
	definition.Edit().Facts = &object.CRDFacts{
		Group: "example.com", Kind: "Widget", Plural: "widgets", Namespaced: true, Established: true,
		Versions: []object.CRDVersion{{Name: "v1", Served: true, Storage: true}},
	}
	for team := 0; len(l.objects) < n; team++ {
		namespace := fmt.Sprintf("team-%02d", team)
		l.add("v1", "Namespace", "", namespace).Edit().Facts = &object.NamespaceFacts{Phase: "Active", Finalizers: []string{"kubernetes"}}
		for app := 0; app < 100 && len(l.objects) < n; app++ {
			l.application(namespace, fmt.Sprintf("app-%d", app))
		}
	}
	return l.objects
}

type large struct{ objects []*object.Object }

func (l *large) add(apiVersion, kind, namespace, name string, owners ...*object.Object) *object.Object {
	i := len(l.objects)
	o := &object.Object{
		Ref: object.Ref{
			APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name,
			UID: types.UID(fmt.Sprintf("%08d-0000-4000-8000-000000000000", i)),
		},
		ResourceVersion: fmt.Sprint(1_000_000 + i), Created: Start + int64(i),
	}
	for _, owner := range owners {
		o.Owners = append(o.Owners, object.OwnerReference{
			APIVersion: owner.APIVersion, Kind: owner.Kind, Name: owner.Name, UID: owner.UID,
			Controller: object.True, BlockOwnerDeletion: object.True,
		})
	}
	l.objects = append(l.objects, o)
	return o
}

// application adds twenty objects.
func (l *large) application(namespace, name string) {
	widget := l.add("example.com/v1", "Widget", namespace, name)
	for i := range 2 {
		l.add("v1", "Secret", namespace, fmt.Sprintf("%s-%d", name, i), widget)
	}
	service := l.add("v1", "Service", namespace, name, widget)
	l.add("discovery.k8s.io/v1", "EndpointSlice", namespace, name, service)
	l.add("v1", "ConfigMap", namespace, name)
	deployment := l.add("apps/v1", "Deployment", namespace, name, widget)
	for i := range 4 {
		l.add("apps/v1", "ReplicaSet", namespace, fmt.Sprintf("%s-%d", name, i), deployment)
	}
	set := l.objects[len(l.objects)-1]
	for i := range 7 {
		pod := l.add("v1", "Pod", namespace, fmt.Sprintf("%s-%d", name, i), set)
		pod.Edit().Facts = &object.PodFacts{
			NodeName: fmt.Sprintf("node-%d", len(l.objects)%100), Phase: "Running", VolumesKnown: true,
			Claims: []object.Claim{{Name: name}},
		}
	}
	claim := l.add("v1", "PersistentVolumeClaim", namespace, name)
	claim.Edit().Finalizers = []string{"kubernetes.io/pvc-protection"}
	volume := l.add("v1", "PersistentVolume", "", namespace+"-"+name)
	volume.Edit().Finalizers = []string{"kubernetes.io/pv-protection"}
	volume.Edit().Facts = &object.PVFacts{
		Phase: "Bound", ClaimNamespace: namespace, ClaimName: name, ClaimUID: claim.UID,
		ReclaimPolicy: "Delete", Provisioner: "csi.example.com", CSI: true,
	}
}
