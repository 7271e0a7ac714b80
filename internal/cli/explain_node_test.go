package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// TestExplainNode: for a cordoned node, explain names the budget that allows no eviction of a pod
// on it; for any other node, it names none.
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
}
