package undo

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// TestManagers: fields are returned to their saved managers, except for later writes by others, and
// references have the new UIDs of owners. Only the last step of an object does so.
func TestManagers(t *testing.T) {
	const (
		app  = `{"fieldsV1":{"f:metadata":{"f:ownerReferences":{"k:{\"uid\":\"u-c\"}":{}}}},"manager":"app","operation":"Apply"}`
		op   = `{"fieldsV1":{"f:status":{}},"manager":"op","operation":"Update","subresource":"status"}`
		ours = `{"fieldsV1":{"f:data":{}},"manager":"kubectl-gc","operation":"Update"}`
	)
	fields := `{"metadata":{"managedFields":[` + app + "," + op + `]},"status":{"n":1}}`
	p := Make([]Saved{
		saved("Engine.example.com e", fields, ownerOf(refOf("Cart.example.com c"))), saved("Cart.example.com c", fields), saved("ConfigMap cm", fields), saved("ConfigMap bare", ""),
	}, clusterOf().lookup)
	var m Mapping
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Verb == Create {
			m.Made(s, types.UID("new-"+s.Object.Name))
		}
	}
	const appNow = `{"fieldsV1":{"f:metadata":{"f:ownerReferences":{"k:{\"uid\":\"new-c\"}":{}}}},"manager":"app","operation":"Apply"}`
	want := `{"metadata":{"managedFields":[` + appNow + "," + op + `],"resourceVersion":"40","uid":"another"}}`
	for i, verb := range []struct {
		step  string
		there string
		want  string
	}{
		{"Create ConfigMap bare", "", ""},
		{"Create ConfigMap cm", "", want},
		{"Create Engine e", "", ""},
		{"Status Engine e", "", ""},
		{"Create Cart c", "", ""},
		{"Status Cart c", `{"metadata":{"managedFields":[` + ours + `]}}`, want},
		{"Restore Engine e", `{"metadata":{"managedFields":[` + ours + `,{"fieldsV1":{"f:status":{"f:n":{}}},"manager":"op","operation":"Update","subresource":"status"}]}}`,
			`{"metadata":{"managedFields":[{"fieldsV1":{"f:status":{"f:n":{}}},"manager":"op","operation":"Update","subresource":"status"},` + appNow + `],"resourceVersion":"40","uid":"another"}}`},
	} {
		s := &p.Steps[i]
		var there []byte
		if verb.there != "" {
			there = []byte(verb.there)
		}
		patch, err := s.Managers(&m, another(s.Object.Kind+" "+s.Object.Name), there)
		if got := string(s.Verb) + " " + s.Object.Kind + " " + s.Object.Name; err != nil || got != verb.step || string(patch) != verb.want {
			t.Errorf("%d: %s, %v\n%s\nwant %s\n%s", i, got, err, patch, verb.step, verb.want)
		}
	}
}

// TestManagersLeft: managedFields that a killed undo did not restore are restored by a later one,
// in a step that the object has anyway or in one of its own.
func TestManagersLeft(t *testing.T) {
	const ours, app = `{"manager":"kubectl-gc"}`, `{"manager":"app"}`
	managed := `{"metadata":{"managedFields":[` + app + `]},"status":{"n":1}}`
	owner := ownerOf(refOf("Cart.example.com owner"))
	list := []Saved{
		saved("Cart.example.com owner", managed), saved("Cart.example.com status", managed), saved("Cart.example.com done", managed),
		saved("ConfigMap left", managed), saved("ConfigMap done", managed), saved("ConfigMap below", managed, owner),
		saved("ConfigMap unmanaged", ""), saved("ConfigMap ours", `{"metadata":{"managedFields":[`+ours+`]}}`),
	}
	again := map[types.UID]types.UID{}
	c := clusterOf()
	for _, s := range list {
		o := another(s.Object.Kind + "." + s.Object.Group() + " " + s.Object.Name)
		if s.Object.Group() == "" {
			o = another(s.Object.Kind + " " + s.Object.Name)
		}
		c.objects[o.Ref.Coordinates()] = o
		again[s.Object.UID] = "another"
	}
	content := func(r object.Ref) ([]byte, error) {
		managers, status := ours, `{"n":1}`
		switch r.Name {
		case "done":
			managers = app
		case "status":
			status = "{}"
		}
		return []byte(`{"metadata":{"uid":"another","managedFields":[` + managers + `]},"status":` + status + `}`), nil
	}
	p := Resume(list, Cluster{Lookup: c.lookup, Content: content}, again)
	want := []string{
		"1 Manage example.com/v1 Cart shop/owner", "2 Status example.com/v1 Cart shop/status",
		"3 Restore v1 ConfigMap shop/below +owner", "4 Manage v1 ConfigMap shop/left",
	}
	var got []string
	for _, line := range lines(p) {
		if line[0] >= '0' && line[0] <= '9' {
			got = append(got, line)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("-want +got:\n%s", diff)
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		there, err := content(s.Object)
		if err != nil {
			t.Fatal(err)
		}
		patch, err := s.Managers(&Mapping{}, another(s.Object.Kind+" "+s.Object.Name), there)
		if err != nil || s.ManagersLeft() == nil || !strings.Contains(string(patch), `"managedFields":[{"manager":"app"}]`) {
			t.Errorf("%s %s: %s, %v", s.Verb, s.Object, patch, err)
		}
	}
}
