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
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
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
			"Waits for finalizer example.com/keep", "· not read: pods", "Events could not be read", "remove-finalizer cm/held -n shop example.com/keep --", "Cost: ",
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

// TestExplainNode: for a cordoned node, explain names the budget that allows no eviction of a pod
// on it; for any other node, it names none. stuck lists the node.
func TestExplainNode(t *testing.T) {
	const world = `apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: n1, uid: u-1}, spec: {unschedulable: true}}
- {apiVersion: v1, kind: Node, metadata: {name: n2, uid: u-2}}
- {apiVersion: v1, kind: Node, metadata: {name: n3, uid: u-3}, spec: {unschedulable: true}}
- {apiVersion: v1, kind: Pod, metadata: {name: web-0, namespace: shop, uid: p-0, labels: {app: web}}, spec: {nodeName: n1}, status: {phase: Running}}
- {apiVersion: v1, kind: Pod, metadata: {name: web-1, namespace: shop, uid: p-1, labels: {app: web}}, spec: {nodeName: n2}, status: {phase: Running}}
- {apiVersion: v1, kind: Pod, metadata: {name: api-0, namespace: shop, uid: p-2, labels: {app: api}}, spec: {nodeName: n3}, status: {phase: Running}}
- {apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web, namespace: shop, uid: b-1}, spec: {selector: {matchLabels: {app: web}}}, status: {disruptionsAllowed: 0}}
- {apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: api, namespace: shop, uid: b-2}, spec: {selector: {matchLabels: {app: api}}}, status: {disruptionsAllowed: 1}}
`
	dump := filepath.Join(t.TempDir(), "dump.yaml")
	if err := os.WriteFile(dump, []byte(world), 0o600); err != nil {
		t.Fatal(err)
	}
	for node, blocked := range map[string]bool{"n1": true, "n2": false, "n3": false} {
		var x report.Explanation
		if !documentOf(t, &x, "explain", "node", node, "--from", dump) {
			t.Fatal("no answer")
		}
		const why = "it is cordoned, and pdb/web in namespace shop allows no eviction of pod/web-0: a drain of node n1 waits for it"
		shows := len(x.Remedies) == 1 && strings.Contains(x.Remedies[0].Command, "kubectl describe") && strings.Contains(x.Remedies[0].Command, "web -n shop")
		if (x.Message == why) != blocked || shows != blocked {
			t.Errorf("%s: %s %+v", node, x.Message, x.Remedies)
		}
	}
	var d report.Diagnosis
	if !documentOf(t, &d, "stuck", "--from", dump) {
		t.Fatal("no answer")
	}
	if len(d.Findings) != 1 || d.Findings[0].Code != string(reason.DrainBlocked) || d.Findings[0].Object.Name != "n1" {
		t.Errorf("%+v", d.Findings)
	}
	for _, args := range [][]string{{"stuck", "node/n1"}, {"stuck", "nodes"}, {"stuck"}} {
		code, out, errs := answered(t, append(args, "--from", dump)...)
		if code != 0 || !strings.Contains(out, "No drain of 1 cordoned node can complete.") || !strings.Contains(out, "pdb/web") {
			t.Errorf("%s: %d\n%s%s", args, code, out, errs)
		}
	}
}
