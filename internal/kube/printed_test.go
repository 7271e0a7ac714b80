package kube

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// printedRow is a row of a table about an object.
func printedRow(uid string, cells ...any) map[string]any {
	return map[string]any{"cells": cells, "object": map[string]any{"kind": "PartialObjectMetadata", "metadata": map[string]any{"uid": uid}}}
}

func printedAs(token string, columns []string, rows ...map[string]any) http.HandlerFunc {
	var definitions []map[string]string
	for _, c := range columns {
		definitions = append(definitions, map[string]string{"name": c})
	}
	return answerJSON(map[string]any{
		"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": map[string]any{"continue": token}, "columnDefinitions": definitions, "rows": rows,
	})
}

// TestPrinted: cells are found by column name. Missing ones are left out without an error.
func TestPrinted(t *testing.T) {
	kind := func(group, version, name, kind string) object.Resource {
		return object.Resource{Group: group, Version: version, Name: name, Kind: kind, Namespaced: true, Verbs: object.AllVerbs}
	}
	s, c := serve(t)
	s.serves(nil, kind("", "v1", "pods", "Pod"), kind("", "v1", "secrets", "Secret"), kind("apps", "v1", "replicasets", "ReplicaSet"),
		kind("example.com", "v1", "databases", "Database"), kind("example.com", "v1", "things", "Thing"))
	if _, err := c.Discover(t.Context()); err != nil {
		t.Fatal(err)
	}
	var refs []object.Ref
	add := func(n int, apiVersion, kind, namespace string) {
		for i := range n {
			name := fmt.Sprintf("%s-%d", strings.ToLower(kind), i)
			refs = append(refs, object.Ref{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name, UID: types.UID(name)})
		}
	}
	add(3, "v1", "Pod", "shop")
	add(9, "v1", "Secret", "shop")
	add(1, "apps/v1", "ReplicaSet", "shop")
	add(3, "example.com/v1", "Database", "shop")
	add(1, "example.com/v1", "Thing", "shop")
	add(1, "gone.example.com/v1", "Lost", "shop")
	for i := range fewPlaces + 1 {
		add(3, "example.com/v1", "Thing", fmt.Sprint("team-", i))
	}
	columns := []string{"Name", "Ready", "Status"}
	s.on("/api/v1/namespaces/shop/pods", printedAs("more", columns, printedRow("pod-0", "pod-0", "1/1", "Running")),
		printedAs("", columns, printedRow("pod-1", "pod-1", "0/1", "CrashLoopBackOff"), printedRow("", "pod-2", "1/1", "Running")))
	s.on("/apis/apps/v1/namespaces/shop/replicasets/replicaset-0", printedAs("", []string{"Name", "Desired", "Current", "Ready"}, printedRow("replicaset-0", "replicaset-0", 3, 3, 2)))
	s.on("/apis/example.com/v1/namespaces/shop/databases", printedAs("", []string{"Name", "READY", "phase"}, printedRow("database-0", "database-0", true, nil), printedRow("database-1", "database-1", "<none>", "Up\x1b[31m")))
	s.on("/apis/example.com/v1/things", refuse(403, metav1.StatusReasonForbidden))
	want := map[types.UID]object.Printed{
		"pod-0": {Ready: "1/1", Status: "Running"}, "pod-1": {Ready: "0/1", Status: "CrashLoopBackOff"},
		"replicaset-0": {Ready: "2/3"}, "database-0": {Ready: "true"}, "database-1": {Status: "Up\x1b[31m"},
	}
	if diff := cmp.Diff(want, c.Printed(t.Context(), refs, nil)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if asked := len(s.requests("/apis/example.com/v1/things")); asked != 1 {
		t.Errorf("%d requests for a kind of many namespaces", asked)
	}
	if asked := s.requests("secrets"); len(asked) > 0 {
		t.Errorf("Secrets are asked for: %v", asked)
	}
}

// TestPrintedIsNoTable: anything but a table is ignored.
func TestPrintedIsNoTable(t *testing.T) {
	s, c := serve(t)
	s.serves(nil, configMaps, object.Resource{Version: "v1", Name: "pods", Kind: "Pod", Namespaced: true, Verbs: object.AllVerbs})
	if _, err := c.Discover(t.Context()); err != nil {
		t.Fatal(err)
	}
	pod := object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "a", UID: "a"}
	for name, answer := range map[string]http.HandlerFunc{
		"an object":          answerJSON(map[string]any{"kind": "Pod", "apiVersion": "v1"}),
		"a page of a proxy":  answer200("text/html", []byte("<html>ok</html>")),
		"not acceptable":     refuse(406, metav1.StatusReasonNotAcceptable),
		"no column for us":   printedAs("more", []string{"Name", "Age"}, printedRow("a", "a", "1d")),
		"no cells":           printedAs("", []string{"Name", "Ready"}, printedRow("b")),
		"JSON that is none":  answer200(jsonType, []byte(`{"kind":"Table"`)),
		"cells of no kind":   printedAs("", []string{"Ready"}, printedRow("b", map[string]any{})),
		"an object of later": printedAs("", []string{"Ready"}, printedRow("anew", "1/1")),
	} {
		t.Run(name, func(t *testing.T) {
			s.on("/api/v1/namespaces/shop/pods/a", answer)
			if got := c.Printed(t.Context(), []object.Ref{pod}, nil)["a"]; got != (object.Printed{}) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// TestPrintedIsBounded: the number of pages and of places is limited.
func TestPrintedIsBounded(t *testing.T) {
	s, c := serve(t)
	var resources []object.Resource
	var refs []object.Ref
	for i := range 2 * mostPrints {
		name := fmt.Sprintf("things%03d", i)
		resources = append(resources, object.Resource{Group: "example.com", Version: "v1", Name: name, Kind: name, Namespaced: true, Verbs: object.AllVerbs})
		for j := range fewSingle + 1 {
			refs = append(refs, object.Ref{APIVersion: "example.com/v1", Kind: name, Namespace: "shop", Name: fmt.Sprint(j), UID: "u"})
		}
		s.on("/apis/example.com/v1/namespaces/shop/"+name, printedAs("more", []string{"Ready"}, printedRow("u", "1/1")))
	}
	s.serves(nil, resources...)
	if _, err := c.Discover(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.Printed(t.Context(), refs, nil)
	if n := len(s.requests("/namespaces/shop/")); n != mostPrints*mostPages {
		t.Errorf("%d requests", n)
	}
}
