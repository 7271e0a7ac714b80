package kube

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
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
	for i := range maxPrintedNamespaces + 1 {
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
	for i := range 2 * maxPrintedPlaces {
		name := fmt.Sprintf("things%03d", i)
		resources = append(resources, object.Resource{Group: "example.com", Version: "v1", Name: name, Kind: name, Namespaced: true, Verbs: object.AllVerbs})
		for j := range maxPrintedByName + 1 {
			refs = append(refs, object.Ref{APIVersion: "example.com/v1", Kind: name, Namespace: "shop", Name: fmt.Sprint(j), UID: "u"})
		}
		s.on("/apis/example.com/v1/namespaces/shop/"+name, printedAs("more", []string{"Ready"}, printedRow("u", "1/1")))
	}
	s.serves(nil, resources...)
	if _, err := c.Discover(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.Printed(t.Context(), refs, nil)
	if n := len(s.requests("/namespaces/shop/")); n != maxPrintedPlaces*maxPrintedPages {
		t.Errorf("%d requests", n)
	}
}

// podServer serves pods: as metadata, and as tables with or without the objects' metadata.
type podServer struct{ list, objects, rows http.HandlerFunc }

func (p podServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case !strings.Contains(r.Header.Get("Accept"), "as=Table"):
		p.list(w, r)
	case r.URL.Query().Get("includeObject") == "None":
		p.rows(w, r)
	default:
		p.objects(w, r)
	}
}

// podsAt returns pods by namespace and name, as a list at a revision.
func podsAt(revision string, keys ...string) http.HandlerFunc {
	list := metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: revision}}
	for _, ref := range podRefs(keys...) {
		list.Items = append(list.Items, metaOf(ref, "1"))
	}
	return answer200(protobufType, wrapped(metaVersion, partialList, &list))
}

func podRefs(keys ...string) []object.Ref {
	var refs []object.Ref
	for _, key := range keys {
		namespace, name, _ := strings.Cut(key, "/")
		refs = append(refs, object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: namespace, Name: name, UID: types.UID(key)})
	}
	return refs
}

// rowsAt returns a table at a revision, whose rows have no metadata of their objects.
func rowsAt(revision, token string, columns []string, rows ...[]any) http.HandlerFunc {
	var definitions []map[string]string
	for _, c := range columns {
		definitions = append(definitions, map[string]string{"name": c})
	}
	list := []map[string]any{}
	for _, cells := range rows {
		list = append(list, map[string]any{"cells": cells, "object": nil})
	}
	return answerJSON(map[string]any{
		"kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": map[string]any{"continue": token, "resourceVersion": revision},
		"columnDefinitions": definitions, "rows": list,
	})
}

// readPods returns a snapshot of the pods of a server.
func readPods(t *testing.T, c *Client) *snapshot.Snapshot {
	t.Helper()
	s, err := c.Snapshot(t.Context(), Scope{References: true, Include: []string{"pods"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// inTurn answers each request with the next of the answers, and repeats the last one.
func inTurn(answers ...http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		answers[0](w, r)
		answers = answers[min(1, len(answers)-1):]
	}
}

// asRead are pods with one name in more than maxPrintedNamespaces namespaces, in the order of a
// server.
var asRead = []string{"a-b/web", "a/other", "a/web", "b/web", "c/web"}

// TestPrintedAsRead: a list of the last snapshot is printed at its revision, in rows without
// metadata. Each row belongs to the object at its position.
func TestPrintedAsRead(t *testing.T) {
	s, c := serve(t)
	s.on("/api/v1/pods", podServer{
		list:    podsAt("70", asRead...),
		objects: printedAs("", []string{"Name", "Ready"}, printedRow("b/web", "web", "now")),
		rows: inTurn(rowsAt("70", "more", []string{"Name", "Ready"}, []any{"web", "1"}, []any{"other", "2"}),
			rowsAt("70", "", []string{"Name", "Ready"}, []any{"web", "3"}, []any{"web", "4"}, []any{"web", "<none>"})),
	}.ServeHTTP)
	snap := readPods(t, c)
	got := c.Printed(t.Context(), podRefs(asRead...), snap)
	want := map[types.UID]object.Printed{"a-b/web": {Ready: "1"}, "a/other": {Ready: "2"}, "a/web": {Ready: "3"}, "b/web": {Ready: "4"}, "c/web": {}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	asked := s.requests("includeObject=None")
	if want := []string{
		"GET /api/v1/pods?includeObject=None&limit=500&resourceVersion=70&resourceVersionMatch=Exact",
		"GET /api/v1/pods?continue=more&includeObject=None&limit=9998",
	}; !slices.Equal(asked, want) {
		t.Errorf("asked for %q", asked)
	}
}

// TestPrintedAsReadBefore: an object of an older snapshot may be gone, and another one may have its
// name.
func TestPrintedAsReadBefore(t *testing.T) {
	s, c := serve(t)
	s.on("/api/v1/pods", podServer{
		list:    podsAt("70", asRead...),
		objects: printedAs("", []string{"Name", "Ready"}, printedRow("b/web", "web", "now")),
		rows:    rowsAt("70", "", []string{"Name", "Ready"}, []any{"web", "1"}, []any{"other", "2"}, []any{"web", "3"}, []any{"web", "4"}, []any{"web", "5"}),
	}.ServeHTTP)
	before, last := readPods(t, c), readPods(t, c)
	for of, want := range map[*snapshot.Snapshot]string{nil: "now", before: "now", last: "4"} {
		if got := c.Printed(t.Context(), podRefs(asRead...), of)["b/web"].Ready; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestPrintedAsReadIsInVain: if rows may belong to other objects than those that were read, a table
// with metadata is requested, and the earlier rows are discarded.
func TestPrintedAsReadIsInVain(t *testing.T) {
	columns := []string{"Name", "Ready"}
	all := [][]any{{"web", "1"}, {"other", "2"}, {"web", "3"}, {"web", "4"}, {"web", "5"}}
	for name, rows := range map[string]http.HandlerFunc{
		"a revision that is forgotten": refuse(410, metav1.StatusReasonExpired),
		"forgotten after a page":       inTurn(rowsAt("70", "more", columns, all[:2]...), refuse(410, metav1.StatusReasonExpired)),
		"another revision":             rowsAt("71", "", columns, all...),
		"another one after a page":     inTurn(rowsAt("70", "more", columns, all[:2]...), rowsAt("71", "", columns, all[2:]...)),
		"another order":                rowsAt("70", "", columns, append([][]any{all[1], all[0]}, all[2:]...)...),
		"one too few":                  rowsAt("70", "", columns, all[:4]...),
		"one too many":                 rowsAt("70", "", columns, append(slices.Clone(all), []any{"web", "6"})...),
		"more to come":                 rowsAt("70", "more", columns, all...),
		"a page of nothing":            rowsAt("70", "more", columns),
		"no names":                     rowsAt("70", "", []string{"Which", "Ready"}, all...),
		"no table":                     podsAt("70", asRead...),
		"another object":               answerJSON(map[string]any{"kind": "PodList", "apiVersion": "v1", "metadata": map[string]any{"resourceVersion": "70"}}),
	} {
		t.Run(name, func(t *testing.T) {
			s, c := serve(t)
			s.on("/api/v1/pods", podServer{
				list: podsAt("70", asRead...), rows: rows,
				objects: printedAs("", columns, printedRow("b/web", "web", "now"), printedRow("new", "web", "now")),
			}.ServeHTTP)
			got := c.Printed(t.Context(), podRefs(asRead...), readPods(t, c))
			want := map[types.UID]object.Printed{"b/web": {Ready: "now"}, "new": {Ready: "now"}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestPrintedAsReadInNoOrder: a list that is not in the order of its keys may have another order
// next time.
func TestPrintedAsReadInNoOrder(t *testing.T) {
	s, c := serve(t)
	keys := slices.Sorted(slices.Values(asRead))
	slices.Reverse(keys)
	s.on("/api/v1/pods", podServer{list: podsAt("70", keys...), objects: printedAs("", []string{"Ready"}, printedRow("b/web", "now"))}.ServeHTTP)
	if got := c.Printed(t.Context(), podRefs(asRead...), readPods(t, c)); got["b/web"].Ready != "now" {
		t.Errorf("got %v", got)
	}
	if asked := s.requests("includeObject"); len(asked) > 0 {
		t.Errorf("asked for %q", asked)
	}
}

// TestPrintedAsReadIsBounded: no more objects are printed than in pages with metadata, and only the
// first page is read if the table has no useful column.
func TestPrintedAsReadIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		columns        []string
		pages, printed int
	}{
		"too many":         {[]string{"Name", "Ready"}, 2, maxRows},
		"no column for us": {[]string{"Name", "Age"}, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s, client := serve(t)
			var keys []string
			var rows [][]any
			for i := range maxRows + 1 {
				keys = append(keys, fmt.Sprintf("shop/pod-%05d", i))
				rows = append(rows, []any{fmt.Sprintf("pod-%05d", i), "1/1"})
			}
			s.on("/api/v1/pods", podServer{
				list: podsAt("70", keys...),
				rows: inTurn(rowsAt("70", "more", c.columns, rows[:pageSize]...), rowsAt("70", "more", c.columns, rows[pageSize:maxRows]...)),
			}.ServeHTTP)
			snap := readPods(t, client)
			refs := podRefs(keys...)
			for i := range refs { // pods are requested in all namespaces, as they were read
				refs[i].Namespace = fmt.Sprint("shop-", i%(maxPrintedNamespaces+1))
			}
			got := client.Printed(t.Context(), refs, snap)
			if n := len(s.requests("includeObject=None")); n != c.pages || len(got) != c.printed {
				t.Errorf("%d pages, %d printed", n, len(got))
			}
		})
	}
}

// TestPrintedAsReadInANamespace: a list of one namespace is printed for that namespace, without the
// objects of other lists.
func TestPrintedAsReadInANamespace(t *testing.T) {
	s, c := serve(t)
	for namespace, names := range map[string][]string{"a": {"web"}, "b": {"one", "three", "two"}, "c": {"web"}} {
		keys, rows := make([]string, len(names)), make([][]any, len(names))
		for i, name := range names {
			keys[i], rows[i] = namespace+"/"+name, []any{name, name + " is ready"}
		}
		s.on("/api/v1/namespaces/"+namespace+"/pods", podServer{list: podsAt("70", keys...), rows: rowsAt("70", "", []string{"Name", "Ready"}, rows...)}.ServeHTTP)
	}
	snap, err := c.Snapshot(t.Context(), Scope{References: true, Include: []string{"pods"}, Namespaces: []string{"a", "b", "c"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[types.UID]object.Printed{"b/one": {Ready: "one is ready"}, "b/three": {Ready: "three is ready"}, "b/two": {Ready: "two is ready"}}
	if diff := cmp.Diff(want, c.Printed(t.Context(), podRefs("b/one", "b/two", "b/three"), snap)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
