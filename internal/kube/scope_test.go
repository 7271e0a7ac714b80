package kube

import (
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// TestPlacesOfDeployers checks that only the lists of deployers reach beyond the namespaces of a scope,
// if it asks for them.
func TestPlacesOfDeployers(t *testing.T) {
	rs := &object.Resources{}
	for _, k := range []object.Kind{object.ConfigMap, object.ArgoApplication} {
		r := k.Resource()
		r.Verbs = object.AllVerbs
		rs.Add(r)
	}
	for deployers, want := range map[bool][]string{true: {"", "shop"}, false: {"shop", "shop"}} {
		var got []string
		for _, at := range (&Discovery{Resources: rs}).Places(Scope{Namespaces: []string{"shop"}, Deployers: deployers}) {
			got = append(got, at.Namespace)
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%v: lists in %q, want %q", deployers, got, want)
		}
	}
}
