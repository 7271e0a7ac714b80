package controllers_test

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// gone reports whether a server doesn't have an object any more.
func gone(t *testing.T, w *apisim.Server, ref object.Ref) bool {
	t.Helper()
	_, err := w.Get(t.Context(), ref)
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	return err != nil
}

// TestAddressesOfOthers: an address is deleted with its Service, but not with an object of the same
// name in another group or resource.
func TestAddressesOfOthers(t *testing.T) {
	for _, parent := range []object.IPAddressFacts{
		{Resource: "services", Namespace: "s", Name: "web"},
		{Group: "gateway.networking.k8s.io", Resource: "services", Namespace: "s", Name: "web"},
		{Resource: "gateways", Namespace: "s", Name: "web"},
		{Resource: "services", Namespace: "t", Name: "web"},
	} {
		objects, err := scenario.ParseWorld("v1 Service s/web\nnetworking.k8s.io/v1 IPAddress 10.9.0.7 labels=ipaddress.kubernetes.io/managed-by=ipallocator.k8s.io", scenario.Names{})
		if err != nil {
			t.Fatal(err)
		}
		objects[1].Edit().Facts = &parent
		w := apisim.New(objects, scenario.Resources())
		c := controllers.AddressesOfServices()
		settle(t, c, w)
		if err := w.Delete(t.Context(), objects[0].Ref, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		settle(t, c, w)
		if got, want := gone(t, w, objects[1].Ref), parent.Group == "" && parent.Resource == "services" && parent.Namespace == "s"; got != want {
			t.Errorf("%+v: gone %v, want %v", parent, got, want)
		}
	}
}

// TestUnservedVersions: a version that a definition doesn't serve needs no APIService. A definition
// without facts needs all of its group.
func TestUnservedVersions(t *testing.T) {
	version := func(served bool) *object.CRDFacts {
		return &object.CRDFacts{Group: "example.com", Kind: "Gadget", Plural: "gadgets", Versions: []object.CRDVersion{{Name: "v1", Served: served}}}
	}
	for name, test := range map[string]struct {
		other *object.CRDFacts
		goes  bool
	}{
		"the other serves it":         {version(true), false},
		"the other does not serve it": {version(false), true},
		"nothing is known":            {nil, false},
	} {
		objects, err := scenario.ParseWorld("apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com defines=example.com/v1:Widget:widgets\n"+
			"apiextensions.k8s.io/v1 CustomResourceDefinition gadgets.example.com\n"+
			"apiregistration.k8s.io/v1 APIService v1.example.com labels=kube-aggregator.kubernetes.io/automanaged=true", scenario.Names{})
		if err != nil {
			t.Fatal(err)
		}
		objects[1].Edit().Facts = test.other
		c := controllers.AutoRegister(whole)
		settle(t, c, apisim.New(objects, scenario.Resources()))
		w := apisim.New(objects[1:], scenario.Resources())
		settle(t, c, w)
		if got := gone(t, w, objects[2].Ref); got != test.goes {
			t.Errorf("%s: gone %v, want %v", name, got, test.goes)
		}
	}
}
