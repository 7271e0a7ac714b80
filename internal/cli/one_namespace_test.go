package cli_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/facade"
)

// TestNamespaceByName: with permissions in one namespace only, and without -n, a question about
// that namespace is answered, whether or not the Namespace itself can be read.
func TestNamespaceByName(t *testing.T) {
	rs := &object.Resources{}
	rs.Add(object.Resource{Version: "v1", Name: "namespaces", Singular: "namespace", Kind: "Namespace", Verbs: object.AllVerbs})
	rs.Add(object.Resource{Version: "v1", Name: "configmaps", Kind: "ConfigMap", Namespaced: true, Verbs: object.AllVerbs})
	world := facade.New(small(), rs, facade.Documents(rs.All()))
	dir := t.TempDir()
	manifest, nothing := filepath.Join(dir, "ns.yaml"), filepath.Join(dir, "kubeconfig")
	for file, text := range map[string]string{manifest: "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n", nothing: "apiVersion: v1\nkind: Config\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("KUBECONFIG", nothing)
	for _, c := range []struct {
		args string
		get  bool // whether the Namespace can be read
		exit int
		says string
	}{
		{"stuck namespace/shop", true, 0, "note: ns/shop is not being deleted"},
		{"stuck namespace/shop", false, 0, "cm/held in namespace shop"},
		{"stuck namespace shop", false, 0, `note: namespace "shop" itself may not be read`},
		{"explain namespace/shop", true, 0, "ns/shop stays"},
		{"explain namespace/shop", false, 0, "ns/shop cannot be classified: the object itself was not read"},
		{"explain namespace/shop --require-complete", false, 4, "Incomplete: Namespaces could not be read"},
		{"graph Namespaces/shop", true, 0, "cm/leaf"},
		{"graph namespace/shop", false, 0, "cm/leaf"},
		{"dry-run delete namespace/shop", true, 0, "delete ns/shop: "},
		{"dry-run delete namespace/shop -n shop", true, 0, "delete ns/shop: "},
		{"dry-run delete namespace/shop", false, 0, `note: namespace "shop" itself may not be read`},
		{"dry-run delete -f " + manifest, true, 0, "delete ns/shop: "},
		{"explain configmap/leaf -n shop", true, 0, "Deleted when one of these is deleted: cm/root, ns/shop"},
		{"stuck namespace/else", true, 1, "nothing of namespace else could be read"},
	} {
		t.Run(fmt.Sprintf("%s, get %t", c.args, c.get), func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				inShop := strings.HasPrefix(r.URL.Path, "/api/v1/namespaces/shop/") || r.URL.Path == "/api/v1/namespaces/shop" && c.get
				if strings.HasPrefix(r.URL.Path, "/api/v1/") && !inShop {
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(http.StatusForbidden)
					fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"%s is forbidden"}`, r.URL.Path)
					return
				}
				world.ServeHTTP(w, r)
			}))
			defer server.Close()
			var out bytes.Buffer
			exit := cli.Main(t.Context(), append(append([]string{"kubectl-gc"}, strings.Fields(c.args)...), "--server="+server.URL, "--cache-dir="+t.TempDir()),
				genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &out})
			if exit != c.exit || !strings.Contains(out.String(), c.says) {
				t.Errorf("exit code %d, want %d and %q:\n%s", exit, c.exit, c.says, out.String())
			}
			if n := strings.Count(out.String(), "Namespaces could not be read"); n > 1 {
				t.Errorf("says %d times what could not be read:\n%s", n, out.String())
			}
		})
	}
}

// requests records the requested lists of configmaps, and those of pods, which are evidence only.
type requests struct {
	http.Handler
	mu    sync.Mutex
	lists []string
	pods  int
}

func (r *requests) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	if strings.HasSuffix(q.URL.Path, "/configmaps") {
		r.mu.Lock()
		r.lists = append(r.lists, q.URL.Path)
		r.mu.Unlock()
	}
	if strings.HasSuffix(q.URL.Path, "/pods") {
		r.mu.Lock()
		r.pods++
		r.mu.Unlock()
	}
	r.Handler.ServeHTTP(w, q)
}

const (
	oneNamespace  = "/api/v1/namespaces/shop/configmaps"
	calmNamespace = "/api/v1/namespaces/calm/configmaps"
	everywhere    = "/api/v1/configmaps"
)

// small returns the objects of two namespaces. In shop, leaf is owned by root, lost has an absent
// owner, and held waits for a finalizer; in elsewhere, false names root.
func small() []*object.Object {
	one := func(namespace, name string, owners ...string) *object.Object {
		o := &object.Object{Ref: object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: namespace, Name: name, UID: types.UID(name)}}
		for _, owner := range owners {
			o.Owners = append(o.Owners, object.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: owner, UID: types.UID(owner)})
		}
		return o
	}
	held := one("shop", "held")
	life := held.Edit()
	life.DeletionTimestamp, life.Finalizers = 1, []string{"example.com/keep"}
	space := &object.Object{Ref: object.Ref{APIVersion: "v1", Kind: "Namespace", Name: "shop", UID: "shop"}}
	return []*object.Object{space, one("shop", "root"), one("shop", "leaf", "root"), one("shop", "lost", "nobody"), one("else", "false", "root"), held}
}

// calm returns a namespace without missing owners.
func calm() []*object.Object {
	top := object.ConfigMap.Ref("calm", "top")
	top.UID = "top"
	leave := &object.Object{Ref: object.ConfigMap.Ref("calm", "leave"), Owners: []object.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "top", UID: "top"}}}
	leave.UID = "leave"
	return []*object.Object{{Ref: object.Ref{APIVersion: "v1", Kind: "Namespace", Name: "calm", UID: "calm"}}, {Ref: top}, leave}
}

// TestNarrow: a command about one object reads only its namespace if that is sufficient, and says
// so; otherwise it reads everything.
func TestNarrow(t *testing.T) {
	rs := &object.Resources{}
	rs.Add(object.Resource{Version: "v1", Name: "namespaces", Kind: "Namespace", Verbs: object.AllVerbs})
	rs.Add(object.Resource{Version: "v1", Name: "configmaps", Kind: "ConfigMap", Namespaced: true, Verbs: object.AllVerbs})
	for name, c := range map[string]struct {
		args  string
		lists []string
		says  string
	}{
		"explain":                {"explain configmap/leaf -n shop", []string{oneNamespace}, "stays: its owner"},
		"explain an owner":       {"explain configmap/root -n shop", []string{oneNamespace}, "Owns: cm/leaf"},
		"explain a finalizer":    {"explain configmap/held -n shop", []string{oneNamespace}, "finalizer example.com/keep; unknown whether its controller is running"},
		"explain garbage":        {"explain configmap/lost -n shop", []string{oneNamespace, everywhere}, "does not exist"},
		"explain a namespace":    {"explain namespace/shop", []string{everywhere}, "ns/shop stays"},
		"explain with a scope":   {"explain configmap/leaf -n shop --include=*", []string{everywhere}, "stays: its owner"},
		"background":             {"dry-run delete configmap/root -n shop", []string{oneNamespace}, "2 objects would be deleted"},
		"a part of several":      {"dry-run delete configmap/root configmap/leaf -n shop", []string{oneNamespace}, "2 objects would be deleted"},
		"foreground":             {"dry-run delete configmap/root -n shop --cascade=foreground", []string{everywhere}, "deleted"},
		"orphan":                 {"dry-run delete configmap/root -n shop --cascade=orphan", []string{everywhere}, "orphaned"},
		"other orders":           {"dry-run delete configmap/root -n shop --explore=2", []string{everywhere}, "deleted"},
		"of all namespaces":      {"dry-run delete configmap --all -A", []string{everywhere}, "deleted"},
		"delete":                 {"delete configmap/root -n shop --dry-run", []string{oneNamespace}, "2 objects would be deleted"},
		"owners":                 {"graph configmap/leaf -n shop --owners", []string{oneNamespace}, "cm/root"},
		"dependents":             {"graph configmap/root -n shop", []string{oneNamespace}, "cm/leaf"},
		"dependents alone":       {"graph configmap/root -n shop --dependents", []string{oneNamespace}, "cm/leaf"},
		"a whole tree":           {"graph configmap/leaf -n shop --whole", []string{oneNamespace}, "cm/root"},
		"an owner is gone":       {"graph configmap/lost -n shop", []string{oneNamespace, everywhere}, "cm/nobody"},
		"as upstream shows it":   {"graph configmap/root -n shop -o dot --upstream", []string{everywhere}, "false"},
		"a namespace":            {"graph namespace/shop", []string{oneNamespace, everywhere}, "cm/held"},
		"what is in it":          {"graph -n shop", []string{oneNamespace, everywhere}, "cm/held"},
		"a namespace of peace":   {"graph namespace/calm", []string{calmNamespace}, "cm/leave"},
		"what is in one":         {"graph -n calm", []string{calmNamespace}, "cm/leave"},
		"what is in all":         {"graph -A", []string{everywhere}, "cm/false"},
		"nothing of that name":   {"explain configmap/leef -n shop", []string{everywhere}, "leaf"},
		"collect":                {"collect -n else --dry-run", []string{everywhere}, "it is not proven that its owner cm/root is absent"},
		"collect by flag":        {"collect --namespaces=else --dry-run", []string{everywhere}, "it is not proven that its owner cm/root is absent"},
		"collect elsewhere":      {"collect -n shop --dry-run", []string{everywhere}, "1 object would be deleted as garbage; 1 object is already being deleted and held"},
		"what is in a namespace": {"check --namespaces=shop", []string{oneNamespace}, "Owner does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			server := &requests{Handler: facade.New(append(small(), calm()...), rs, facade.Documents(rs.All()))}
			h := httptest.NewServer(server)
			defer h.Close()
			dir := t.TempDir()
			nothing := filepath.Join(dir, "kubeconfig")
			if err := os.WriteFile(nothing, []byte("apiVersion: v1\nkind: Config\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("KUBECONFIG", nothing)
			t.Setenv("XDG_STATE_HOME", dir)
			var out bytes.Buffer
			args := append([]string{"kubectl-gc"}, strings.Fields(c.args)...)
			cli.Main(t.Context(), append(args, "--server="+h.URL, "--cache-dir="+dir),
				genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &out})
			lists := slices.Compact(slices.Clone(server.lists))
			if !slices.Equal(lists, c.lists) {
				t.Errorf("lists %v, want %v\n%s", lists, c.lists, out.String())
			}
			if !strings.Contains(out.String(), c.says) {
				t.Errorf("%q is not said:\n%s", c.says, out.String())
			}
			held := slices.Contains([]string{"explain a finalizer", "of all namespaces", "collect elsewhere"}, name)
			if asked := server.pods > 0; asked != held {
				t.Errorf("pods were asked for %d times", server.pods)
			}
			alone := len(c.lists) == 1 && c.lists[0] != everywhere
			_, rest, _ := strings.Cut(c.lists[0], "/namespaces/")
			namespace, _, _ := strings.Cut(rest, "/")
			asked := server.pods
			var wide bytes.Buffer
			cli.Main(t.Context(), append(args, "-o", "wide", "--server="+h.URL, "--cache-dir="+dir),
				genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &wide, ErrOut: &wide})
			if said := strings.Contains(wide.String(), "Searched: namespace "+namespace+" and cluster-scoped objects."); said != alone {
				t.Errorf("that one namespace was looked at is said: %v\n%s", said, wide.String())
			}
			if alone && asked == 0 && strings.Contains(out.String(), "Incomplete") {
				t.Errorf("what was left out makes it incomplete:\n%s", out.String())
			}
		})
	}
}
