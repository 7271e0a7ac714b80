package cli_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
		{"explain namespace/shop", false, 0, "ns/shop cannot be decided: the object itself was not read"},
		{"explain namespace/shop --require-complete", false, 4, "Incomplete: Namespaces could not be read"},
		{"graph Namespaces/shop", true, 0, "cm/leaf"},
		{"graph namespace/shop", false, 0, "cm/leaf"},
		{"dry-run delete namespace/shop", true, 0, "delete ns/shop: "},
		{"dry-run delete namespace/shop -n shop", true, 0, "delete ns/shop: "},
		{"dry-run delete namespace/shop", false, 0, `note: namespace "shop" itself may not be read`},
		{"dry-run delete -f " + manifest, true, 0, "delete ns/shop: "},
		{"explain configmap/leaf -n shop", true, 0, "Goes when one of these is deleted: cm/root, ns/shop"},
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
