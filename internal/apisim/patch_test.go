package apisim_test

import (
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// A JSON patch applies completely or not at all, also to a custom resource. The patch that removes
// the last finalizer deletes the object.
func TestJSONPatch(t *testing.T) {
	objects, err := scenario.ParseWorld("v1 ConfigMap n/a fin=x/y,x/z deleting grace=0", scenario.Names{})
	if err != nil {
		t.Fatal(err)
	}
	seen := objects[0]
	other := func(change func(*object.Patch)) object.Patch {
		p := object.TakeFinalizers(seen, []string{"x/y"})
		change(&p)
		return p
	}
	for name, p := range map[string]object.Patch{
		"uid":             other(func(p *object.Patch) { p.UID = "other" }),
		"resourceVersion": other(func(p *object.Patch) { p.ResourceVersion = "999" }),
		"place":           other(func(p *object.Patch) { p.TakeFinalizers[0].Index = 1 }),
		"beyond the end":  other(func(p *object.Patch) { p.TakeFinalizers[0].Index = 2 }),
	} {
		server := apisim.New(objects, scenario.Resources())
		err := server.Patch(t.Context(), seen.Ref, p)
		if status, ok := err.(apierrors.APIStatus); !ok || status.Status().Code != http.StatusUnprocessableEntity {
			t.Errorf("%s: %v, want 422", name, err)
		}
		if server.Writes() != 0 {
			t.Errorf("%s: written all the same", name)
		}
	}
	server := apisim.New(objects, scenario.Resources())
	if err := server.Patch(t.Context(), seen.Ref, object.TakeFinalizers(seen, []string{"x/y"})); err != nil {
		t.Fatal(err)
	}
	left := server.Objects()[0]
	if len(left.Finalizers()) != 1 || left.Finalizers()[0] != "x/z" {
		t.Errorf("finalizers %v", left.Finalizers())
	}
	if err := server.Patch(t.Context(), seen.Ref, object.TakeFinalizers(left, []string{"x/z"})); err != nil {
		t.Fatal(err)
	}
	if rest := server.Objects(); len(rest) != 0 {
		t.Errorf("still there: %v", rest[0].Ref)
	}
}
