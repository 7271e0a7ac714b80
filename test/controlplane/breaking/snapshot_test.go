package breaking

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSnapshot: a snapshot knows what breaks, as the cluster does, and has no value of a Secret, of a
// ConfigMap or of a variable.
func TestSnapshot(t *testing.T) {
	r := newReader(t)
	objects := strings.ReplaceAll(secret+next+config+workload(`volumes: [{name: v, configMap: {name: settings}}], initContainers: [{name: i, image: i, envFrom: [{secretRef: {name: db}}], env: [{name: A, value: VALUE}]}]`), "VALUE", value)
	for _, step := range [][]string{{"create", "namespace", "breaking-saved"}, {"create", "-n", "breaking-saved", "-f", "-"}} {
		if _, err := stage.Kubectl(t.Context(), []byte(objects), step...); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "cluster.jsonl")
	r.program(t, "snapshot", "--compression=none", "--to", file)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(text, []byte("breaking-saved")) || bytes.Contains(text, []byte(value)) || bytes.Contains(text, []byte(encoded)) {
		t.Error("the snapshot has a value, or nothing")
	}
	for target, want := range map[string]string{"secret/db": "web envFrom db nextStart", "configmap/settings": "web volume settings nextStart"} {
		if live, saved := predicted(t, r, target, "breaking-saved"), predicted(t, r, target, "breaking-saved", "--from", file); live != want || saved != want {
			t.Errorf("%s: live %q, from the snapshot %q", target, live, saved)
		}
	}
}
