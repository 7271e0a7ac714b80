package realcluster

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// emptyGraph is the dump of a graph in which nothing is linked.
const emptyGraph = "strict digraph full {\n}\n"

// dump is the graph of the real collector: all of it, or what can be reached from
// the UIDs. As long as there is none, it is why: a collector that begins serves none yet.
func dump(t *testing.T, uids ...types.UID) string {
	t.Helper()
	query := url.Values{}
	for _, uid := range uids {
		query.Add("uid", string(uid))
	}
	text, header, err := plane.Ask(t.Context(), collector+"/graph?"+query.Encode())
	if err != nil {
		return err.Error()
	}
	if kind := header.Get("Content-Type"); kind != "text/vnd.graphviz" {
		t.Errorf("the dump is %s", kind)
	}
	return string(text)
}

// command is kubectl-gc as it is now.
var command = sync.OnceValues(cluster.Program)

// drawn is the same graph as kubectl-gc draws it from the objects of a namespace:
// all of it, or what can be reached from a ConfigMap.
func drawn(t *testing.T, file, namespace, name string) string {
	t.Helper()
	path, err := command()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"graph", "--from", file, "-o", "dot", "--upstream"}
	if name != "" {
		args = append(args, "-n", namespace, "configmap/"+name)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("kubectl-gc %s: %v\n%s", args, err, problems.Bytes())
	}
	return string(text)
}

// world is a file with the ConfigMaps, Secrets and Lates of a namespace.
func world(t *testing.T, namespace string) string {
	t.Helper()
	items := []any{}
	for _, path := range []string{"/api/v1/namespaces/" + namespace + "/configmaps", "/api/v1/namespaces/" + namespace + "/secrets",
		"/apis/late.example.com/v1/namespaces/" + namespace + "/lates"} {
		r := ask(t, "", http.MethodGet, path, "", nil)
		if r.code == http.StatusNotFound {
			continue // the kind is not there yet
		}
		var l struct {
			APIVersion string           `json:"apiVersion"`
			Kind       string           `json:"kind"`
			Items      []map[string]any `json:"items"`
		}
		if err := json.Unmarshal(r.body, &l); err != nil {
			t.Fatal(err)
		}
		for _, item := range l.Items {
			item["apiVersion"], item["kind"] = l.APIVersion, strings.TrimSuffix(l.Kind, "List")
			items = append(items, item)
		}
	}
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "world.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// alike waits until the real graph and ours are the same bytes: what can be reached
// from each of these ConfigMaps, whose UIDs are NAMESPACE-NAME, and all of it when
// none is named.
func alike(t *testing.T, namespace string, names ...string) {
	t.Helper()
	file := world(t, namespace)
	if len(names) == 0 {
		want := drawn(t, file, "", "")
		await(t, func() string { return cmp.Diff(want, dump(t)) })
	}
	for _, name := range names {
		want := drawn(t, file, namespace, name)
		await(t, func() string { return cmp.Diff(want, dump(t, types.UID(namespace+"-"+name))) })
	}
}

// put stores ConfigMaps of a namespace, each with the references of a manifest.
func put(t *testing.T, namespace string, objects map[string]string) {
	t.Helper()
	if r := ask(t, "", http.MethodPost, "/api/v1/namespaces", "application/json", fmt.Sprintf(`{"metadata":{"name":%q}}`, namespace)); r.code == http.StatusCreated {
		t.Cleanup(func() {
			if err := plane.Wipe("configmaps/"+namespace+"/", "secrets/"+namespace+"/"); err != nil {
				t.Error(err)
			}
		})
	}
	for name, more := range objects {
		if err := plane.Store([]cluster.Stored{{Key: "configmaps/" + namespace + "/" + name, Manifest: fmt.Appendf(nil,
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,"namespace":%q,"uid":"%s-%s","creationTimestamp":"2026-01-01T00:00:00Z"%s}}`,
			name, namespace, namespace, name, more)}}); err != nil {
			t.Fatal(err)
		}
		await(t, func() string {
			if !exists(t, "/api/v1/namespaces/"+namespace+"/configmaps/"+name) {
				return name + " is not there"
			}
			return ""
		})
	}
}

// owned are owner references to ConfigMaps of a namespace.
func owned(namespace string, names ...string) string {
	var refs []string
	for _, name := range names {
		refs = append(refs, fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","name":%q,"uid":"%s-%s"}`, name, namespace, name))
	}
	return `,"ownerReferences":[` + strings.Join(refs, ",") + `]`
}

// An empty graph has two lines, and so has what can be reached from nothing.
//
// Shows: S259, S261
func TestEmptyGraph(t *testing.T) {
	controllers(t, collector)
	await(t, func() string { return cmp.Diff(emptyGraph, dump(t)) })
	if got := drawn(t, world(t, "kube-public"), "", ""); got != emptyGraph {
		t.Errorf("ours: %s", got)
	}
	put(t, "s259", map[string]string{"owner": ""})
	put(t, "s259", map[string]string{"dependent": owned("s259", "owner")})
	alike(t, "s259")
	if got := dump(t, "nobody"); got != emptyGraph {
		t.Errorf("from nothing one can reach: %s", got)
	}
	_, _, err := plane.Ask(t.Context(), collector+"/else")
	if code := cluster.Code(err); code != http.StatusNotFound {
		t.Errorf("another path: %v", err)
	}
}

// What has neither owners nor dependents is left out; a UID chooses what it reaches
// over owners and dependents, and two UIDs both.
//
// Shows: S258, S260
func TestSelection(t *testing.T) {
	controllers(t, collector)
	put(t, "s260", map[string]string{"alone": "", "a": "", "x": ""})
	put(t, "s260", map[string]string{"b": owned("s260", "a"), "y": owned("s260", "x")})
	put(t, "s260", map[string]string{"c": owned("s260", "b")})
	alike(t, "s260")
	alike(t, "s260", "alone", "a", "b", "c", "x", "y")
	all := dump(t)
	if strings.Contains(all, "alone") || strings.Count(all, " -> ") != 3 {
		t.Errorf("all that is linked, and nothing else: %s", all)
	}
	if got := dump(t, "s260-alone"); got != emptyGraph {
		t.Errorf("asked for by its UID, what is linked to nothing is: %s", got)
	}
	if got := dump(t, "s260-b"); strings.Count(got, " -> ") != 2 {
		t.Errorf("from b one reaches a and c: %s", got)
	}
	if diff := cmp.Diff(all, dump(t, "s260-c", "s260-x", "nobody")); diff != "" {
		t.Errorf("the union of two is not all that there is: %s", diff)
	}
}

// An owner that is no vertex any more, since it never was, while its dependent
// waits for a finalizer.
//
// Shows: S257
func TestMissingOwner(t *testing.T) {
	controllers(t, collector)
	put(t, "s257", map[string]string{"gamma": ""})
	put(t, "s257", map[string]string{"alpha": owned("s257", "beta", "gamma") +
		`,"finalizers":["x/y"],"deletionTimestamp":"2030-01-01T00:00:00Z","deletionGracePeriodSeconds":0`})
	ours := drawn(t, world(t, "s257"), "s257", "alpha")
	// Ours is the graph of a collector that has not asked for beta yet; in the end
	// the vertex is gone, and made up from the reference.
	before, rest, _ := strings.Cut(ours, `label="uid=s257-beta\nnamespace=s257\nConfigMap.v1/beta\nvirtual\n"`)
	rest = strings.Replace(rest, `namespace="s257"`, `namespace=""`, 1)
	rest = strings.Replace(rest, `missing="false"`, `missing="true"`, 1)
	rest = strings.Replace(rest, `virtual="true"`, `virtual="false"`, 1)
	want := before + `label="uid=s257-beta\nnamespace=\nConfigMap.v1/beta\nmissingFromGraph\n"` + rest
	await(t, func() string { return cmp.Diff(want, dump(t, "s257-gamma")) })
	if strings.Count(want, `missing="true"`) != 1 || !strings.Contains(want, `"s257-alpha" -> "s257-beta";`) || !strings.Contains(want, `"s257-alpha" -> "s257-gamma";`) {
		t.Errorf("beta is not missing: %s", want)
	}
}

// Quotes and backslashes are escaped, letters and emoji kept.
//
// Shows: S262
func TestQuotes(t *testing.T) {
	controllers(t, collector)
	put(t, "s262", map[string]string{"o": `,"ownerReferences":[{"apiVersion":"nowhere.example.com/v1","kind":"Rocket","name":"quoted \"and\" back\\slashed ü","uid":"\"\\🚀ä"}]`})
	alike(t, "s262")
	if got := dump(t, `"\🚀ä`); !strings.Contains(got, `"\"\\🚀ä" [`) {
		t.Errorf("not escaped: %s", got)
	}
}

// After every event the links are mutual: from each object one reaches all others
// that it is linked to, over owners and dependents.
//
// Shows: S250
func TestLinksStayMutual(t *testing.T) {
	controllers(t, collector)
	step := func(names ...string) {
		t.Helper()
		alike(t, "s250", names...)
		alike(t, "s250")
	}
	put(t, "s250", map[string]string{"1": ""})
	step("1")
	put(t, "s250", map[string]string{"2": owned("s250", "1")})
	step("1", "2")
	put(t, "s250", map[string]string{"3": owned("s250", "1", "2")})
	step("1", "2", "3")
	put(t, "s250", map[string]string{"4": owned("s250", "2")})
	step("1", "2", "3", "4")
	remove(t, "/api/v1/namespaces/s250/configmaps/2", `{"propagationPolicy":"Background"}`)
	awaitGone(t, "/api/v1/namespaces/s250/configmaps/4")
	fence(t)
	step("1", "3")
	if got := dump(t, "s250-1"); strings.Count(got, " -> ") != 1 {
		t.Errorf("3 has not lost 2 and kept 1: %s", got)
	}
	for _, gone := range []types.UID{"s250-2", "s250-4"} {
		if got := dump(t, gone); got != emptyGraph {
			t.Errorf("%s is still there: %s", gone, got)
		}
	}
}

// The same with a change that closes a ring.
//
// Shows: S251
func TestLinksStayMutualInARing(t *testing.T) {
	controllers(t, collector)
	put(t, "s251", map[string]string{"1": ""})
	put(t, "s251", map[string]string{"2": owned("s251", "1")})
	put(t, "s251", map[string]string{"3": owned("s251", "1", "2")})
	put(t, "s251", map[string]string{"4": owned("s251", "3")})
	alike(t, "s251")
	patch(t, "/api/v1/namespaces/s251/configmaps/2", `{"metadata":{`+strings.TrimPrefix(owned("s251", "4"), ",")+`}}`)
	alike(t, "s251", "1", "2", "3", "4")
	if got := dump(t, "s251-1"); strings.Count(got, " -> ") != 4 || !strings.Contains(got, `"s251-2" -> "s251-4"`) {
		t.Errorf("the ring is not closed: %s", got)
	}
}

// Dependents are seen before their owners, whose kind comes later: what was only
// referred to becomes what is seen, with its dependents.
//
// Shows: S252
func TestDependentsBeforeOwners(t *testing.T) {
	beside(t)
	ref := func(name string) string {
		return fmt.Sprintf(`{"apiVersion":"late.example.com/v1","kind":"Late","name":%q,"uid":"s252-%s"}`, name, name)
	}
	put(t, "s252", map[string]string{
		"3": `,"ownerReferences":[` + ref("1") + "," + ref("2") + `]`, "4": `,"ownerReferences":[` + ref("2") + `]`,
	})
	alike(t, "s252", "3", "4")
	if got := dump(t, "s252-4"); strings.Count(got, `virtual="true"`) != 2 {
		t.Errorf("owners of an unknown kind are not virtual: %s", got)
	}
	define(t, "lates.late.example.com", "Late", "Namespaced")
	for name, more := range map[string]string{"1": "", "2": `,"ownerReferences":[` + ref("1") + `]`} {
		if err := plane.Store([]cluster.Stored{{Key: "late.example.com/lates/s252/" + name, Manifest: fmt.Appendf(nil,
			`{"apiVersion":"late.example.com/v1","kind":"Late","metadata":{"name":%q,"namespace":"s252","uid":"s252-%s","creationTimestamp":"2026-01-01T00:00:00Z"%s}}`,
			name, name, more)}}); err != nil {
			t.Fatal(err)
		}
	}
	// The collector looks for new kinds every 30 seconds.
	await(t, func() string {
		if got := dump(t, "s252-1"); strings.Contains(got, `virtual="true"`) {
			return got
		}
		return ""
	})
	alike(t, "s252", "3", "4")
	all := dump(t, "s252-4")
	for _, uid := range []types.UID{"s252-1", "s252-2", "s252-3"} {
		if diff := cmp.Diff(all, dump(t, uid)); diff != "" {
			t.Errorf("from %s one reaches something else: %s", uid, diff)
		}
	}
	if got := all; strings.Count(got, " -> ") != 4 {
		t.Errorf("not all is linked: %s", got)
	}
}
