package interpose

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// define has a custom resource served, in a group that is called like it and the
// realm, in these versions, of which the first is stored.
func define(t *testing.T, realm, kind string, versions ...string) string {
	t.Helper()
	plural := strings.ToLower(kind) + "s"
	group := plural + "." + realm + ".example.com"
	var list []string
	for i, v := range versions {
		list = append(list, fmt.Sprintf(`{"name":%q,"served":true,"storage":%t,"schema":{"openAPIV3Schema":{"type":"object"}}}`, v, i == 0))
	}
	body := fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"%s.%s"},`+
		`"spec":{"group":%q,"scope":"Namespaced","names":{"plural":%q,"singular":%q,"kind":%q,"listKind":"%sList"},"versions":[%s]}}`,
		plural, group, group, plural, strings.ToLower(kind), kind, kind, strings.Join(list, ","))
	if _, err := shared.Do(t.Context(), http.MethodPost, definitions, "application/json", []byte(body)); err != nil {
		t.Fatal(err)
	}
	if err := shared.Serves(t.Context(), group, plural, versions...); err != nil {
		t.Fatal(err)
	}
	return plural + "." + group
}

// A definition is deleted twice with the policy Foreground, while a finalizer holds
// an instance. The first delete finds no finalizer of a policy to set; the second
// sets the one of its policy, which the collector takes off again.
//
// Shows: S195
func definitionDeletedTwice(t *testing.T, c *collector) {
	w := c.world(t, "s195")
	name := define(t, "s195-held", "Gadget", "v1") // no kind that the next tests count on
	const gadgets = "/apis/gadgets.s195-held.example.com/v1/namespaces/held-s195/gadgets"
	w.must(http.MethodPost, gadgets, `{"apiVersion":"gadgets.s195-held.example.com/v1","kind":"Gadget","metadata":{"name":"w","finalizers":["x/y"]}}`)
	const cleanup, foreground = "customresourcecleanup.apiextensions.k8s.io", "foregroundDeletion"
	patch := w.hold(pattern{http.MethodPatch, definitions + "/" + name, "finalizers"})
	w.delete("CustomResourceDef", name, "Foreground")
	if text := string(w.get("CustomResourceDef", name)); !strings.Contains(text, cleanup) || strings.Contains(text, foreground) {
		t.Errorf("after the first delete: %s", text)
	}
	w.until("the instance is being deleted", func() bool {
		return strings.Contains(string(w.must(http.MethodGet, gadgets+"/w", "")), "deletionTimestamp")
	})
	w.delete("CustomResourceDef", name, "Foreground")
	if text := string(w.get("CustomResourceDef", name)); !strings.Contains(text, cleanup) || !strings.Contains(text, foreground) {
		t.Errorf("after the second delete: %s", text)
	}
	w.held(patch)
	close(patch.released)
	w.until("the garbage collector takes its finalizer off", func() bool {
		text := string(w.get("CustomResourceDef", name))
		return strings.Contains(text, cleanup) && !strings.Contains(text, foreground)
	})
	list := w.answered(pattern{http.MethodPatch, definitions + "/" + name, ""})
	if len(list) != 1 || list[0].code != http.StatusOK ||
		!strings.Contains(string(list[0].body), `"finalizers":["`+cleanup+`"]`) || !strings.Contains(string(list[0].body), `"resourceVersion":"`) {
		t.Errorf("the garbage collector's patches: %+v", list)
	}
	w.must(http.MethodPatch, gadgets+"/w", `{"metadata":{"finalizers":null}}`)
	w.gone("CustomResourceDef", name)
}
