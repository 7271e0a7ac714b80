package commands

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// told checks that a command tells the story of the leaf.
func (s *stage) told(args ...string) {
	s.t.Helper()
	a := s.gc(s.ctx, append(args, "-n", s.namespace, "-o", "json")...).want(s.t, 0)
	var d report.Lost
	if err := json.Unmarshal([]byte(a.stdout), &d); err != nil {
		s.t.Fatal(err)
	}
	var story []string
	for _, l := range d.Losses {
		story = append(story, l.Object.Name+" "+l.Code)
	}
	const want = "root Requested, middle OwnerGone, leaf OwnerGone"
	if got := strings.Join(story, ", "); got != want {
		s.t.Errorf("%q tells %q, want %q", args, got, want)
	}
}

// TestExplainsWhatIsGone: of what was deleted explain says what took it, up to the request, as
// lost does; of what never was it says since when nothing was, and fails.
func TestExplainsWhatIsGone(t *testing.T) {
	s := enter(t, collector)
	root := s.configMap("root", "", "")
	middle := s.configMap("middle", "root", root)
	s.configMap("leaf", "middle", middle)
	s.configMap("other", "", "")
	s.kubectl(nil, "delete", "configmap", "root", "other", "-n", s.namespace)
	s.until("all are gone", func() bool { return len(s.names("ConfigMap")) == 0 })

	a := s.gc(s.ctx, "explain", "configmap/leaf", "-n", s.namespace).want(t, 0)
	for _, text := range []string{"cm/leaf in namespace " + s.namespace + " was deleted at ", "it went with its", "The garbage collector", "This began with a delete of"} {
		if !strings.Contains(a.stdout, text) {
			t.Errorf("no %q in\n%s", text, a.stdout)
		}
	}
	s.told("lost", "configmap/leaf")
	s.told("explain", "configmap/leaf")
	stored, kept := filepath.Join(t.TempDir(), "snapshot.db"), filepath.Join(t.TempDir(), "history")
	if err := plane.Snapshot(stored); err != nil {
		t.Fatal(err)
	}
	s.gc(s.ctx, "snapshot", "--history", "--to", kept).want(t, 0)
	if info, err := os.Stat(kept); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v: others may read the history", info, err)
	}
	s.gc(s.ctx, "undo", "--from", kept, "-n", s.namespace, "--dry-run").want(t, 0, "root", "leaf")
	for _, file := range []string{stored, kept} {
		s.told("explain", "configmap/leaf", "--from", file)
		b := s.gc(s.ctx, "explain", "configmap/never", "-n", s.namespace, "--from", file).want(t, 1)
		if !strings.Contains(b.stderr, "deleted, as far back as") {
			t.Errorf("%s: %s", filepath.Base(file), b.stderr)
		}
	}
	if a := s.gc(s.ctx, "check", "--from", kept).want(t, 1); !strings.Contains(a.stderr, "is a history: it has what was deleted") {
		t.Errorf("%s", a.stderr)
	}

	b := s.gc(s.ctx, "explain", "configmap/never", "-n", s.namespace).want(t, 1)
	if !strings.Contains(b.stderr, "deleted, as far back as") || !strings.Contains(b.stderr, `configmaps "never" not found`) {
		t.Errorf("%s", b.stderr)
	}
	if c := s.gc(s.ctx, "explain", "configmap/leaf", "-n", s.namespace, "-o", "svg").want(t, 1); !strings.Contains(c.stderr, "is gone") {
		t.Errorf("%s", c.stderr)
	}
}
