package plain

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/kubectl-gc/kubectl-gc/gctest"
)

// A kind may be installed while the collector is at work: its instances own and are owned.
func TestInstancesOfCRD(t *testing.T) {
	gc := gctest.Start(t, cfg)
	crds, err := envtest.InstallCRDs(cfg, envtest.CRDInstallOptions{Paths: []string{"../crd"}})
	if err != nil {
		t.Fatal(err)
	}
	ns := namespace(t)
	first, last := widget(ns, "first"), widget(ns, "last")
	create(t, first, last)
	ofFirst, ofLast := dependentOf(t, first), dependentOf(t, last)

	remove(t, first)
	settle(t, gc)
	wantGone(t, gc, first, ofFirst)
	wantThere(t, gc, last, ofLast)

	// The API server deletes the instances of a CRD that goes.
	remove(t, crds[0])
	settle(t, gc)
	wantGone(t, gc, ofLast)
}

func widget(namespace, name string) *unstructured.Unstructured {
	w := &unstructured.Unstructured{}
	w.SetAPIVersion("example.com/v1")
	w.SetKind("Widget")
	w.SetNamespace(namespace)
	w.SetName(name)
	return w
}
