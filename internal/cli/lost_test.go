package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/past"
)

// TestLostNames: neither a named object nor its type must exist, if the CRD was deleted within the
// history. Only namespaces where the object may have been are read.
func TestLostNames(t *testing.T) {
	served := &object.Resources{}
	for _, k := range []object.Kind{object.Namespace, object.Pod, object.CRD} {
		r := k.Resource()
		r.Verbs = object.AllVerbs
		served.Add(r)
	}
	crd := &object.Object{Ref: object.CRD.Ref("", "databases.example.com")}
	crd.Edit().Facts = &object.CRDFacts{
		Group: "example.com", Kind: "Database", Plural: "databases", ShortNames: []string{"db"}, Namespaced: true,
		Versions: []object.CRDVersion{{Name: "v1", Served: true}},
	}
	record := &past.Record{Resources: served, Changes: []past.Change{{Revision: 2, Type: object.Deleted, Object: crd}}}
	for _, test := range []struct {
		args   []string
		spaces []string
		refs   []object.Ref
		wrong  bool
	}{
		{args: nil},
		{args: []string{"pod/web", "namespaces/old"}, spaces: []string{"old", "shop"}, refs: []object.Ref{object.Pod.Ref("shop", "web"), object.Namespace.Ref("", "old")}},
		{args: []string{"crd", "databases.example.com"}, wrong: true}, // the short name is not served here
		{args: []string{"customresourcedefinitions", "databases.example.com"}, refs: []object.Ref{crd.Ref}},
		{args: []string{"db", "orders", "carts"}, spaces: []string{"shop"}, refs: []object.Ref{
			{APIVersion: "example.com/v1", Kind: "Database", Namespace: "shop", Name: "orders"},
			{APIVersion: "example.com/v1", Kind: "Database", Namespace: "shop", Name: "carts"},
		}},
		{args: []string{"nonsense/x"}, spaces: []string{"shop"}, wrong: true},
	} {
		named, err := namedObjects(&cobra.Command{}, test.args)
		if err != nil {
			t.Fatal(err)
		}
		named.namespace = "shop"
		if !test.wrong && len(test.args) > 0 {
			if diff := cmp.Diff(test.spaces, named.spaces(served)); diff != "" {
				t.Errorf("%v is looked for elsewhere (-want +got):\n%s", test.args, diff)
			}
		}
		refs, err := named.objects(record)
		if diff := cmp.Diff(test.refs, refs); diff != "" || (err != nil) != test.wrong {
			t.Errorf("%v: %v (-want +got):\n%s", test.args, err, diff)
		}
	}
	for _, args := range [][]string{{"pod"}, {"pod", "a/b"}, {"pod/a", "b"}, {"/a"}, {"pod/"}, {"a/b/c"}} {
		if _, err := namedObjects(&cobra.Command{}, args); err == nil {
			t.Errorf("%v is taken", args)
		}
	}
}
