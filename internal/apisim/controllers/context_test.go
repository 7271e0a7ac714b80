package controllers_test

import (
	"context"
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// TestContext: a controller stops and returns the error when its context is cancelled. Requests
// that it didn't send are no waits.
func TestContext(t *testing.T) {
	const world = `
v1 Namespace s phase=Terminating spec=kubernetes deleting
v1 ConfigMap s/c
v1 Node n1
v1 Pod s/p node=n1 phase=Running deleting=+30 grace=30
v1 Pod s/q node=n2 phase=Running deleting=+30 grace=30
apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com defines=example.com/v1:Widget:widgets established terminating deleting fin=customresourcecleanup.apiextensions.k8s.io
example.com/v1 Widget s/w
v1 Pod s/j node=n1 phase=Running fin=batch.kubernetes.io/job-tracking
v1 PersistentVolumeClaim s/c fin=kubernetes.io/pvc-protection deleting
v1 PersistentVolume v phase=Released fin=kubernetes.io/pv-protection deleting
v1 Service s/web fin=service.kubernetes.io/load-balancer-cleanup deleting
resource.k8s.io/v1 ResourceClaim s/d reserved= fin=resource.kubernetes.io/delete-protection deleting
v1 Secret s/t token=gone
networking.k8s.io/v1 ServiceCIDR x cidrs=10.9.0.0/24 fin=networking.k8s.io/service-cidr-finalizer deleting`
	for _, c := range controllers.All(whole, controllers.Healthy{}, release.Rules{}) {
		t.Run(c.Name(), func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			w := server(t, world)
			acted, err := c.Step(ctx, w, controllers.To(w))
			if acted || !errors.Is(err, context.Canceled) || len(c.Waiting()) != 0 || w.Writes() != 0 {
				t.Errorf("acted %v, error %v, waits %v", acted, err, waits(c))
			}
			if who, err := controllers.Step(ctx, w, controllers.To(w), []controllers.Controller{c}, nil); who != nil || !errors.Is(err, context.Canceled) {
				t.Errorf("%v, %v", who, err)
			}
		})
	}
}

// TestContextEndsInAPass: after cancellation, the request in flight is the last one.
func TestContextEndsInAPass(t *testing.T) {
	for _, test := range []struct {
		controller controllers.Controller
		world      string
	}{
		{controllers.NamespaceController(whole, release.Rules{}), terminating + "v1 ConfigMap s/a\nv1 Secret s/b"},
		{controllers.NamespaceController(whole, release.Rules{}), terminating + "v1 ConfigMap s/a"},
		{controllers.NamespaceController(whole, release.Rules{}), terminating + "v1 Pod s/a node="},
		{controllers.NamespaceController(whole, release.Rules{}), "v1 Namespace s phase=Active spec=kubernetes deleting"},
		{controllers.DefinitionController(whole), widgets + "defines=example.com/v1:Widget:widgets established terminating" + going +
			"example.com/v1 Widget s/a\nexample.com/v1 Widget t/b"},
		{controllers.DefinitionController(whole), widgets + "defines=example.com/v1:Widget:widgets established" + going},
		{controllers.Kubelet(controllers.Healthy{}), "v1 Pod s/a node=n1 phase=Running deleting=+30 grace=30\nv1 Pod s/b node=n1 phase=Running deleting=+30 grace=30"},
		{controllers.JobTracking(whole), "v1 Pod s/a node=n1 fin=batch.kubernetes.io/job-tracking\nv1 Pod s/b node=n1 fin=batch.kubernetes.io/job-tracking"},
		{controllers.ClaimProtection(whole), "v1 PersistentVolumeClaim s/a deleting fin=kubernetes.io/pvc-protection\n" +
			"v1 PersistentVolumeClaim s/b deleting fin=kubernetes.io/pvc-protection"},
		{controllers.VolumeProtection(whole), "v1 PersistentVolume a phase=Released deleting fin=kubernetes.io/pv-protection\n" +
			"v1 PersistentVolume b phase=Released deleting fin=kubernetes.io/pv-protection"},
		{controllers.DeviceClaims(whole), "resource.k8s.io/v1 ResourceClaim s/a deleting reserved= fin=resource.kubernetes.io/delete-protection\n" +
			"resource.k8s.io/v1 ResourceClaim s/b deleting reserved= fin=resource.kubernetes.io/delete-protection"},
		{controllers.ServiceCIDRs(whole), "networking.k8s.io/v1 ServiceCIDR a cidrs=10.8.0.0/24 deleting fin=networking.k8s.io/service-cidr-finalizer\n" +
			"networking.k8s.io/v1 ServiceCIDR b cidrs=10.9.0.0/24 deleting fin=networking.k8s.io/service-cidr-finalizer"},
		{controllers.Tokens(whole), "v1 Secret s/a token=gone\nv1 Secret s/b token=gone"},
		{controllers.PodGC(whole, controllers.Healthy{}), "v1 Pod s/a node= deleting fin=x/y\nv1 Pod s/b node= deleting fin=x/y"},
	} {
		t.Run(test.controller.Name(), func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			w := &tapped{Server: server(t, test.world)}
			requests := 0
			once := func() error {
				if requests++; requests > 1 && ctx.Err() == nil {
					t.Error("the context did not end")
				}
				cancel()
				return nil
			}
			w.deletes = func(object.Ref, metav1.DeleteOptions) error { return once() }
			w.collections = func(object.Resource, metav1.DeleteOptions) error { return once() }
			w.stored = func(schema.GroupResource, string) error { return once() }
			w.patches = func(object.Ref, object.Patch) error { return once() }
			w.updates = func(*object.Object) error { return once() }
			w.finalizes = func(*object.Object) error { return once() }
			_, err := test.controller.Step(ctx, w, controllers.To(w))
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
			if requests != 1 || len(test.controller.Waiting()) != 0 {
				t.Errorf("%d requests, waits %v", requests, waits(test.controller))
			}
		})
	}
}
