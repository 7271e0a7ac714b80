package undo

import "testing"

// TestLacks: a concurrently created object is the same, lacks something that may be added, or is
// another object and must not be changed.
func TestLacks(t *testing.T) {
	const ours = `{"metadata":{"labels":{"of":"red"}},"imagePullSecrets":[{"name":"registry"}]}`
	p := Make([]Saved{saved("ServiceAccount default", ours)}, clusterOf().lookup)
	s := &p.Steps[0]
	if !s.Fills() {
		t.Fatalf("the notes are %v", s.Notes)
	}
	const at = `"uid":"u","resourceVersion":"7"`
	for _, c := range []struct {
		name, there, patch string
		other              bool
	}{
		{"the same, and more", `{"metadata":{` + at + `,"labels":{"of":"red","a":"b"}},"imagePullSecrets":[{"name":"registry"}],"secrets":[{}]}`, "", false},
		{"empty", `{"metadata":{` + at + `}}`, `{"imagePullSecrets":[{"name":"registry"}],"metadata":{"labels":{"of":"red"},"resourceVersion":"7","uid":"u"}}`, false},
		{"a part of it", `{"metadata":{` + at + `,"labels":{"a":"b"}},"imagePullSecrets":[{"name":"registry"}]}`, `{"metadata":{"labels":{"of":"red"},"resourceVersion":"7","uid":"u"}}`, false},
		{"another label", `{"metadata":{` + at + `,"labels":{"of":"blue"}}}`, "", true},
		{"another list", `{"metadata":{` + at + `},"imagePullSecrets":[{"name":"own"}]}`, "", true},
	} {
		content := `{"apiVersion":"v1","kind":"ServiceAccount",` + c.there[1:]
		patch, other, err := s.Lacks(&Mapping{}, []byte(content))
		if err != nil || other != c.other || string(patch) != c.patch {
			t.Errorf("%s: %s, another %v, %v", c.name, patch, other, err)
		}
	}
	// An object without a required owner is not the same.
	owner := refOf("ConfigMap owner")
	p = Make([]Saved{saved("ConfigMap owner", ""), saved("ConfigMap below", "", ownerOf(owner))}, clusterOf().lookup)
	var m Mapping
	m.Made(&p.Steps[0], "new")
	for there, want := range map[string]bool{
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{` + at + `}}`:                                   true,
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{` + at + `,"ownerReferences":[{"uid":"new"}]}}`: false,
	} {
		if _, other, err := p.Steps[1].Lacks(&m, []byte(there)); err != nil || other != want {
			t.Errorf("%s: another %v, %v", there, other, err)
		}
	}
}
