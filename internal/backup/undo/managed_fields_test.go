package undo

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// TestManagers: fields belong again to the managers that were saved, but for what others have
// written since, and references are named by the new uids of owners. It is the last step of an
// object that says so.
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
