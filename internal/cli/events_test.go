package cli_test

import (
	"bytes"
	"io"
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

// TestLive: an explanation from a cluster includes the events of the object, and works without
// permission to read them. risk reads the cluster, too.
func TestLive(t *testing.T) {
	const event = `{"kind":"EventList","apiVersion":"v1","items":[{"involvedObject":{"uid":"leaf"},"type":"Warning",` +
		`"reason":"Failed","message":"no\u001b[2Jway","count":4,"lastTimestamp":"2026-01-01T00:00:00Z"}]}`
	const refused = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"events is forbidden"}`
	rs := &object.Resources{}
	rs.Add(object.Resource{Version: "v1", Name: "namespaces", Kind: "Namespace", Verbs: object.AllVerbs})
	rs.Add(object.Resource{Version: "v1", Name: "configmaps", Kind: "ConfigMap", Namespaced: true, Verbs: object.AllVerbs})
	for name, c := range map[string]struct {
		args, answer string
		code, exit   int
		says         []string
	}{
		"the last warning": {"explain configmap/leaf -n shop", event, 200, 0, []string{
			"stays: its owner", `Last warning: Failed: no\x1b[2Jway (4 times)`,
		}},
		"events": {"explain configmap/leaf -n shop -o wide", event, 200, 0, []string{
			"stays: its owner", "Last events:", "Warning   Failed   2026-01-01T00:00:00Z   4", `no\x1b[2Jway`,
		}},
		"events for machines": {"explain configmap/leaf -n shop -o jsonpath={.events[0].reason}", event, 200, 0, []string{"Failed"}},
		"no right to events": {"explain configmap/leaf -n shop --require-complete", refused, 403, 0, []string{
			"stays: its owner", "Events could not be read: events is forbidden.",
		}},
		"no right to evidence": {"explain configmap/held -n shop", refused, 403, 0, []string{
			"Waits for finalizer example.com/keep", "· not read: pods", "Events could not be read", "remove-finalizer cm/held -n shop example.com/keep\n", "Cost: ",
		}},
		"no right to evidence, and it matters": {"explain configmap/held -n shop --require-complete", refused, 403, 4, []string{"Incomplete"}},
		"all policies": {"explain configmap/leaf -n shop --all-policies -o wide", event, 200, 0, []string{
			"cm/root   Background, Foreground\n", "ns/shop   Background, Foreground, Orphan\n",
		}},
		"risk": {"risk -n shop", refused, 403, 0, []string{"ns/shop", "cm/root", "2 ConfigMaps"}},
	} {
		t.Run(name, func(t *testing.T) {
			world := facade.New(small(), rs, facade.Documents(rs.All()))
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !strings.HasSuffix(r.URL.Path, "/events") {
					world.ServeHTTP(w, r)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(c.code)
				_, _ = io.WriteString(w, c.answer)
			}))
			defer server.Close()
			dir := t.TempDir()
			nothing := filepath.Join(dir, "kubeconfig")
			if err := os.WriteFile(nothing, []byte("apiVersion: v1\nkind: Config\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("KUBECONFIG", nothing)
			t.Setenv("LC_ALL", "C.UTF-8")
			var out bytes.Buffer
			args := append([]string{"kubectl-gc"}, strings.Fields(c.args)...)
			exit := cli.Main(t.Context(), append(args, "--server="+server.URL, "--cache-dir="+dir),
				genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &out})
			if exit != c.exit {
				t.Errorf("exit code %d", exit)
			}
			for _, text := range c.says {
				if !strings.Contains(out.String(), text) {
					t.Errorf("%q is not said:\n%s", text, out.String())
				}
			}
		})
	}
}
