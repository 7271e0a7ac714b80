package ginkgo

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

const cleanup = "example.com/cleanup"

var _ = Describe("A Widget", func() {
	var (
		widget   *unstructured.Unstructured
		settings *corev1.ConfigMap
	)

	BeforeEach(func(ctx SpecContext) {
		widget = &unstructured.Unstructured{}
		widget.SetAPIVersion("example.com/v1")
		widget.SetKind("Widget")
		widget.SetNamespace(ns)
		widget.SetName("widget")
		Expect(c.Create(ctx, widget)).To(Succeed())

		settings = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "settings"}}
		Expect(controllerutil.SetControllerReference(widget, settings, c.Scheme())).To(Succeed())
		Expect(c.Create(ctx, settings)).To(Succeed())
	})

	It("takes what it owns along", func(ctx SpecContext) {
		Expect(c.Delete(ctx, widget)).To(Succeed())
		Expect(gc.WaitSettled(ctx)).To(Succeed())
		expectGone(ctx, widget, settings)
	})

	It("leaves what it owns when it is deleted with orphan", func(ctx SpecContext) {
		Expect(c.Delete(ctx, widget, client.PropagationPolicy(metav1.DeletePropagationOrphan))).To(Succeed())
		Expect(gc.WaitSettled(ctx)).To(Succeed())
		expectGone(ctx, widget)
		Expect(c.Get(ctx, client.ObjectKeyFromObject(settings), settings)).To(Succeed())
		Expect(settings.OwnerReferences).To(BeEmpty())
	})

	When("what it owns has a finalizer", func() {
		BeforeEach(func(ctx SpecContext) {
			controllerutil.AddFinalizer(settings, cleanup)
			Expect(c.Update(ctx, settings)).To(Succeed())
			DeferCleanup(func(ctx SpecContext) {
				controllerutil.RemoveFinalizer(settings, cleanup)
				Expect(c.Update(ctx, settings)).To(Succeed())
				Expect(gc.WaitSettled(ctx)).To(Succeed())
				expectGone(ctx, widget, settings)
			})
		})

		It("waits when it is deleted in the foreground", func(ctx SpecContext) {
			Expect(c.Delete(ctx, widget, client.PropagationPolicy(metav1.DeletePropagationForeground))).To(Succeed())
			Expect(gc.WaitSettled(ctx)).To(Succeed())
			expectHeld(ctx, widget, settings)
		})

		It("is deleted with its namespace, which waits", func(ctx SpecContext) {
			namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}
			Expect(c.Delete(ctx, namespace)).To(Succeed())
			Expect(gc.WaitSettled(ctx)).To(Succeed())
			expectGone(ctx, widget)
			expectHeld(ctx, namespace, settings)
		})
	})
})

// expectGone looks once: after WaitSettled there is nothing to wait for.
func expectGone(ctx context.Context, objects ...client.Object) {
	GinkgoHelper()
	for _, o := range objects {
		err := c.Get(ctx, client.ObjectKeyFromObject(o), o)
		Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%s is still there (%v):\n%s", o.GetName(), err, gc.Explain(o))
	}
}

// expectHeld expects objects to be there, and that because of the finalizer.
func expectHeld(ctx context.Context, objects ...client.Object) {
	GinkgoHelper()
	for _, o := range objects {
		Expect(c.Get(ctx, client.ObjectKeyFromObject(o), o)).To(Succeed())
		Expect(gc.Explain(o)).To(ContainSubstring(cleanup))
	}
}
