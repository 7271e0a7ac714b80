package controllers_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

const (
	cleanup = "customresourcecleanup.apiextensions.k8s.io"
	widgets = "apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com "
	things  = "apiextensions.k8s.io/v1 CustomResourceDefinition things.example.org "
	going   = " deleting fin=" + cleanup + "\n"
)

// TestDefinitionLeft lists what keeps a definition and what doesn't.
func TestDefinitionLeft(t *testing.T) {
	const of = "defines=example.com/v1:Widget:widgets "
	const ofThing = "defines=example.org/v1:Thing:things "
	for _, test := range []struct {
		name     string
		world    string
		coverage controllers.Coverage
		left     []string
		waits    []string
	}{
		{"not being deleted", widgets + of + "established terminating fin=" + cleanup + "\nexample.com/v1 Widget s/w", whole,
			[]string{"apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com", "example.com/v1 Widget s/w"}, nil},
		{"no clean-up left", widgets + of + "established terminating deleting fin=x/y\nexample.com/v1 Widget s/w", whole,
			[]string{"apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com", "example.com/v1 Widget s/w"}, nil},
		{"instances", widgets + of + "established terminating" + going + "example.com/v1 Widget s/w\nexample.com/v1 Widget s/v\nexample.com/v1 Widget t/w uid=w2", whole,
			[]string{}, nil},
		{"no facts", widgets + going + "example.com/v1 Widget s/w", whole, []string{}, nil},
		{"never established, uncovered", widgets + of + "terminating" + going, partly{"Widget": ""}, []string{}, nil},
		{"uncovered somewhere", widgets + of + "established terminating" + going + "example.com/v1 Widget s/w", partly{"Widget": "t"},
			[]string{"apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com"},
			[]string{"crd-finalizer: apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com NotCovered widgets.example.com: no list of it"}},
		{"kind not served", things + ofThing + "established terminating" + going + "example.org/v1 Thing s/t", whole,
			[]string{"apiextensions.k8s.io/v1 CustomResourceDefinition things.example.org", "example.org/v1 Thing s/t"},
			[]string{"crd-finalizer: apiextensions.k8s.io/v1 CustomResourceDefinition things.example.org NotServed things.example.org s/t"}},
		{"kind not served, no facts", things + going + "example.org/v1 Thing s/t", whole,
			[]string{"apiextensions.k8s.io/v1 CustomResourceDefinition things.example.org", "example.org/v1 Thing s/t"},
			[]string{"crd-finalizer: apiextensions.k8s.io/v1 CustomResourceDefinition things.example.org NotServed things.example.org s/t"}},
		{"another kind not served", things + ofThing + "established terminating" + going + "example.org/v1 Other s/t\nexample.net/v1 Thing s/t", whole,
			[]string{"example.net/v1 Thing s/t", "example.org/v1 Other s/t"}, nil},
		{"kind not served, uncovered", things + ofThing + "established terminating" + going, partly{"Thing": ""},
			[]string{"apiextensions.k8s.io/v1 CustomResourceDefinition things.example.org"},
			[]string{"crd-finalizer: apiextensions.k8s.io/v1 CustomResourceDefinition things.example.org NotCovered things.example.org: no list of it"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := server(t, test.world)
			d := controllers.DefinitionController(test.coverage)
			settle(t, d, w)
			if diff := cmp.Diff(test.left, remains(w)); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(append([]string{}, test.waits...), waits(d)); diff != "" {
				t.Errorf("waits (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDefinitionResource: a resource that is not served is described by its definition.
func TestDefinitionResource(t *testing.T) {
	d := controllers.DefinitionController(partly{"Thing": "", "": ""})
	settle(t, d, server(t, things+"defines=example.org/v3:Thing:things scope=Cluster established terminating"+going+
		"apiextensions.k8s.io/v1 CustomResourceDefinition bare.example.net"+going))
	var got []object.Resource
	for _, w := range d.Waiting() {
		if w.Controller != controllers.DefinitionName || !w.Unknown() || w.Reason != controllers.NotCovered {
			t.Errorf("wait %v", w)
		}
		got = append(got, w.Resource)
	}
	want := []object.Resource{
		{Group: "example.net", Name: "bare", Namespaced: true},
		{Group: "example.org", Version: "v3", Name: "things", Kind: "Thing"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
}

// TestDefinitionCondition: Terminating is set before the first instance is deleted, and cleared
// along with the finalizer.
func TestDefinitionCondition(t *testing.T) {
	w := &tapped{Server: server(t, widgets+"defines=example.com/v1:Widget:widgets established deleting fin=x/y,"+cleanup+"\nexample.com/v1 Widget s/w")}
	var said []bool
	w.updates = func(o *object.Object) error {
		said = append(said, o.Definition().Terminating)
		return nil
	}
	w.stored = func(schema.GroupResource, string) error {
		if len(said) != 1 {
			t.Error("instances are deleted before the condition says so")
		}
		return nil
	}
	d := controllers.DefinitionController(whole)
	if n := settle(t, d, w); n != 1 {
		t.Errorf("%d passes", n)
	}
	if diff := cmp.Diff([]bool{true, false}, said); diff != "" {
		t.Errorf("Terminating (-want +got):\n%s", diff)
	}
	left := w.Objects()
	if len(left) != 1 || cmp.Diff([]string{"x/y"}, left[0].Finalizers()) != "" {
		t.Errorf("left %v", remains(w.Server))
	}
}

// TestDefinitionNamespaces: instances are deleted once per namespace.
func TestDefinitionNamespaces(t *testing.T) {
	w := &tapped{Server: server(t, widgets+"defines=example.com/v1:Widget:widgets established terminating"+going+
		"example.com/v1 Widget s/a fin=x/y\nexample.com/v1 Widget s/b fin=x/y\nexample.com/v1 Widget t/a uid=c\nexample.com/v1 Widget t/b uid=d")}
	var sent []string
	w.stored = func(gr schema.GroupResource, namespace string) error {
		sent = append(sent, gr.String()+" "+namespace)
		return nil
	}
	if _, err := controllers.DefinitionController(whole).Step(t.Context(), w, controllers.To(w)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"widgets.example.com s", "widgets.example.com t"}, sent); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// TestDefinitionRefusals: each request can be refused; then no later one is sent.
func TestDefinitionRefusals(t *testing.T) {
	no := apierrors.NewInternalError(errors.New("no"))
	const of = "defines=example.com/v1:Widget:widgets established "
	all := []string{"apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com", "example.com/v1 Widget s/w"}
	for _, test := range []struct {
		name  string
		world string
		tap   func(*tapped)
		waits []string
		left  []string
	}{
		{"condition", widgets + of + going + "example.com/v1 Widget s/w",
			func(w *tapped) { w.updates = func(*object.Object) error { return no } },
			[]string{"crd-finalizer: apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com Refused: " + no.Error()}, all},
		{"instances", widgets + of + "terminating" + going + "example.com/v1 Widget s/w",
			func(w *tapped) { w.stored = func(schema.GroupResource, string) error { return no } },
			[]string{"crd-finalizer: apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com Refused widgets.example.com s/w: " + no.Error()}, all},
		{"finalizer", widgets + of + "terminating" + going + "example.com/v1 Widget s/w",
			func(w *tapped) { w.updates = func(*object.Object) error { return no } },
			[]string{"crd-finalizer: apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com Refused: " + no.Error()}, all[:1]},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := &tapped{Server: server(t, test.world)}
			test.tap(w)
			d := controllers.DefinitionController(whole)
			settle(t, d, w)
			if diff := cmp.Diff(test.waits, waits(d)); diff != "" {
				t.Errorf("waits (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.left, remains(w.Server)); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
		})
	}
}
