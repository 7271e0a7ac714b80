package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/facade"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestWrittenWorldIsTheSame: a dump and the snapshot written from it lead to the same input. The
// dumps are drawn with nodes, controllers and objects with finalizers in any state.
func TestWrittenWorldIsTheSame(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dump, stored := filepath.Join(dir, "dump.json"), filepath.Join(dir, "stored.gz")
		if err := os.WriteFile(dump, drawnDump(t), 0o600); err != nil {
			t.Fatal(err)
		}
		flags := rapid.SampledFrom([]Source{{}, {}, {missingAbsent: true}, {At: "2026-02-02T00:00:00Z"}}).Draw(t, "flags")
		written := flags
		written.From, written.Written = []string{dump}, true
		w, err := written.ReadDump(commandWith(t.Context()), genericiooptions.IOStreams{ErrOut: &bytes.Buffer{}})
		if err != nil {
			return // a dump that is refused
		}
		var file bytes.Buffer
		if err := w.Write(&file, snapshot.Gzip); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(stored, file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		again := Source{From: []string{stored}, Evidence: true}
		got, err := again.ReadDump(commandWith(t.Context()), genericiooptions.IOStreams{ErrOut: &bytes.Buffer{}})
		if err != nil {
			t.Fatal(err)
		}
		everything := cmp.Exporter(func(reflect.Type) bool { return true })
		if diff := cmp.Diff(w.Snapshot, got.Snapshot, everything, cmpopts.EquateEmpty(), found); diff != "" {
			t.Fatalf("(-dump +snapshot):\n%s", diff)
		}
		want, have := w.bodies.evidence(w.Snapshot).Sorted(), got.bodies.evidence(got.Snapshot).Sorted()
		if diff := cmp.Diff(want, have, everything, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(health.Evidence{}, "added"), cmpopts.IgnoreFields(health.Shown{}, "Events")); diff != "" {
			t.Fatalf("evidence (-dump +snapshot):\n%s", diff)
		}
	})
}

// found ignores caches.
var found = cmp.FilterPath(func(p cmp.Path) bool {
	switch p.Last().String() {
	case ".hint", ".places", ".memory":
		return true
	}
	return p.Last().Type().Kind() == reflect.Func
}, cmp.Ignore())

func commandWith(ctx context.Context) *cobra.Command {
	c := &cobra.Command{}
	c.SetContext(ctx)
	return c
}

// drawnDump returns drawn objects, each with a status.
func drawnDump(t *rapid.T) []byte {
	var items []json.RawMessage
	for _, o := range scenario.DrawCluster(t, scenario.DrawVariety(t)).Objects {
		text, err := facade.Manifest(o)
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, withStatus(t, o, text))
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "leases") {
		at := rapid.SampledFrom([]string{"2026-01-01T00:00:00.000000Z", "2026-01-01T01:00:00.000000Z"}).Draw(t, "renewed")
		name := rapid.SampledFrom([]string{"kube-controller-manager", "n1", "op"}).Draw(t, "lease")
		items = append(items, fmt.Appendf(nil, `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"namespace":%q,"name":"%s","uid":"lease-%d"},"spec":{"holderIdentity":"x","leaseDurationSeconds":15,"renewTime":%q}}`,
			rapid.SampledFrom([]string{"kube-system", "kube-node-lease", "n"}).Draw(t, "lease in"), name, i, at))
	}
	list, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// withStatus adds a condition of any state, and the writer of the finalizers.
func withStatus(t *rapid.T, o *object.Object, text []byte) json.RawMessage {
	var whole map[string]any
	if err := json.Unmarshal(text, &whole); err != nil {
		t.Fatal(err)
	}
	status, _ := whole["status"].(map[string]any)
	if status == nil {
		status = map[string]any{}
	}
	if rapid.Bool().Draw(t, "conditions") {
		status["conditions"] = []any{map[string]any{
			"type":    rapid.SampledFrom([]string{"Ready", "Deleting", "NamespaceContentRemaining"}).Draw(t, "condition"),
			"status":  rapid.SampledFrom([]string{"True", "False", "Unknown"}).Draw(t, "state"),
			"message": "it says why", "lastTransitionTime": "2026-01-01T00:30:00Z", "lastHeartbeatTime": "2026-01-01T00:30:00Z",
		}}
	}
	if pod := o.Pod(); pod != nil {
		whole["spec"] = map[string]any{"nodeName": pod.NodeName}
		status["phase"] = pod.Phase
	}
	whole["status"] = status
	if meta, ok := whole["metadata"].(map[string]any); ok && len(o.Finalizers()) > 0 {
		meta["managedFields"] = []any{map[string]any{"manager": "op", "operation": "Update", "time": "2026-01-01T00:00:00Z",
			"fieldsV1": map[string]any{"f:metadata": map[string]any{"f:finalizers": map[string]any{fmt.Sprintf("v:%q", o.Finalizers()[0]): map[string]any{}}}}}}
	}
	text, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
