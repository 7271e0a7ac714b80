package finalizer_test

import (
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// TestControllers: every controller in the table of programs removes a finalizer, and has telling
// names.
func TestControllers(t *testing.T) {
	var removers []string
	for _, k := range finalizer.Table() {
		removers = append(removers, k.RemovedBy)
	}
	common := []string{"controller", "operator", "manager", "controller-manager", "server", "*", "default"}
	for _, c := range finalizer.Controllers() {
		if !slices.Contains(removers, c.Name) {
			t.Errorf("%s removes nothing", c.Name)
		}
		if len(c.Programs) == 0 {
			t.Errorf("%s has no program", c.Name)
		}
		for _, p := range c.Programs {
			if slices.Contains(common, p) {
				t.Errorf("%s: many programs are called %s", c.Name, p)
			}
		}
	}
}

// TestIsOther: a program of the same project does not stand in for the one that removes a finalizer.
func TestIsOther(t *testing.T) {
	k, _ := finalizer.Of("strimzi.io/topic-operator")
	controllers := finalizer.ControllersOf(k, &object.Object{})
	for name, want := range map[string]bool{
		"strimzi-cluster-operator": true, "kafka-strimzi-cluster-operator": true, "argocd-application-controller": true,
		"my-cluster-entity-operator": false, "topic-manager": false,
	} {
		if finalizer.IsOther(controllers, []string{name}) != want {
			t.Errorf("%s: want %t", name, want)
		}
	}
}

// TestIsCalled: installations add a prefix to the name of a controller, and a word for its kind as
// suffix. Any other word means another program.
func TestIsCalled(t *testing.T) {
	for _, tt := range []struct {
		finalizer, kind, group, name string
		want                         bool
	}{
		{"finalizer.acme.cert-manager.io", "Challenge", "acme.cert-manager.io", "cert-manager", true},
		{"finalizer.acme.cert-manager.io", "Challenge", "acme.cert-manager.io", "prod-cert-manager", true},
		{"finalizer.acme.cert-manager.io", "Challenge", "acme.cert-manager.io", "cert-manager-controller", true},
		{"finalizer.acme.cert-manager.io", "Challenge", "acme.cert-manager.io", "cert-manager-webhook", false},
		{"finalizer.acme.cert-manager.io", "Challenge", "acme.cert-manager.io", "cert-manager-cert-manager", true},
		{"finalizer.acme.cert-manager.io", "Challenge", "acme.cert-manager.io", "mycert-manager", false},
		{"kueue.x-k8s.io/resource-in-use", "ResourceFlavor", "kueue.x-k8s.io", "kueue-controller-manager", true},
		{"strimzi.io/topic-operator", "KafkaTopic", "kafka.strimzi.io", "my-cluster-entity-operator", true},
		{"strimzi.io/topic-operator", "KafkaTopic", "kafka.strimzi.io", "strimzi-cluster-operator", false},
		{"finalizer.managedresource.crossplane.io", "Bucket", "s3.aws.upbound.io", "upbound-provider-aws-s3", true},
		{"finalizers.fluxcd.io", "HelmRelease", "helm.toolkit.fluxcd.io", "helm-controller", true},
		{"finalizers.fluxcd.io", "HelmRelease", "helm.toolkit.fluxcd.io", "kustomize-controller", false},
		{"resources-finalizer.argocd.argoproj.io", "ApplicationSet", "argoproj.io", "argocd-application-controller", false},
		{"external-attacher/ebs-csi-aws-com", "PersistentVolume", "", "csi-attacher", true},
	} {
		k, ok := finalizer.Of(tt.finalizer)
		if !ok {
			t.Fatalf("%s is not known", tt.finalizer)
		}
		o := &object.Object{Ref: object.Ref{APIVersion: tt.group + "/v1", Kind: tt.kind}}
		got := slices.ContainsFunc(finalizer.ControllersOf(k, o), func(c *finalizer.Controller) bool { return c.IsCalled([]string{tt.name}) })
		if got != tt.want {
			t.Errorf("%s removes %s: %v", tt.name, tt.finalizer, got)
		}
	}
}
