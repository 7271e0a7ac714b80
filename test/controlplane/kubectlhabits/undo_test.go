package kubectlhabits

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// person is somebody at a terminal, who answers what is asked.
type person struct{ *strings.Reader }

// AtTerminal says that somebody is there.
func (person) AtTerminal() bool { return true }

var backedUp = regexp.MustCompile(`Backup and journal: (\S+)`)

// TestUndo brings back what was deleted, by every name that a backup has, and says of what
// is no backup of this cluster what it is.
func TestUndo(t *testing.T) {
	user(t)
	type line struct {
		typed, answer string
		code          int
		says          string
	}
	var said string
	expect := func(lines ...line) {
		t.Helper()
		for _, l := range lines {
			var out, errOut bytes.Buffer
			code := typed(t.Context(), l.typed, genericiooptions.IOStreams{In: person{strings.NewReader(l.answer)}, Out: &out, ErrOut: &errOut})
			if said = out.String() + errOut.String(); code != l.code || !strings.Contains(said, l.says) {
				t.Errorf("%s: exit code %d, want %d and %q:\n%s", l.typed, code, l.code, l.says, said)
			}
		}
	}
	where := func(name string) string {
		t.Helper()
		out, err := plane.Kubectl(t.Context(), nil, "get", "configmap", "-n", "shop", "-o", "name")
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(out), "configmap/"+name+"\n") {
			return "there"
		}
		return "gone"
	}
	taken := func(name string) (path string) {
		t.Helper()
		if _, err := plane.Kubectl(t.Context(), nil, "create", "configmap", name, "-n", "shop"); err != nil {
			t.Fatal(err)
		}
		expect(line{"delete cm " + name, atWork(t) + "\n", 0, "Backup and journal"})
		if found := backedUp.FindStringSubmatch(said); found != nil && where(name) == "gone" {
			return found[1]
		}
		t.Fatalf("%s is %s:\n%s", name, where(name), said)
		return ""
	}
	yes := atWork(t) + "\n"

	first := taken("first")
	expect(
		line{"undo " + filepath.Base(first), "no\n", 5, "the answer was not"},
		line{"undo " + filepath.Base(first), "", 5, "there was no answer"},
		line{"undo " + filepath.Base(first), yes, 0, "1 made"},
		line{"undo " + first, yes, 0, "an earlier undo made it"},
	)
	second := taken("second")
	expect(
		line{"undo --list", "", 0, filepath.Base(second)},
		line{"undo latest --dry-run", "", 0, "1 object would be restored"},
		line{"undo latest", yes, 0, "to restore 1 object: "},
		line{"undo latest", yes, 0, "nothing to do"},
	)
	third := taken("third")
	expect(line{"undo " + third + "/", yes, 0, "1 made"})
	for _, name := range []string{"first", "second", "third"} {
		if where(name) != "there" {
			t.Errorf("%s is not back", name)
		}
	}

	dir := filepath.Dir(first)
	foreign := keep(t, dir, backup.Cluster{UID: "11111111-2222-3333-4444-555555555555", Server: "https://prod.example.com:6443"})
	expect(
		line{"undo " + foreign, yes, 1, "https://prod.example.com:6443"},
		line{"undo latest", yes, 0, "undo of " + filepath.Base(third)},
	)
	damaged := taken("fourth")
	if err := os.Truncate(filepath.Join(damaged, "manifest.json"), 20); err != nil {
		t.Fatal(err)
	}
	expect(
		line{"undo latest", yes, 1, "backup " + filepath.Base(damaged) + " cannot be read"},
		line{"undo " + filepath.Base(damaged), yes, 1, "manifest.json"},
		line{"undo --list", "", 0, filepath.Base(damaged)},
		line{"undo " + filepath.Base(third), yes, 0, "nothing to do"},
	)
	if where("fourth") != "gone" {
		t.Error("something was made of a damaged backup")
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	expect(
		line{"undo --list", "", 0, "There are no backups in "},
		line{"undo latest", "", 1, "no backup of this cluster in "},
	)
}

// atWork is the name of the context.
func atWork(t *testing.T) string {
	t.Helper()
	name, err := plane.Kubectl(context.WithoutCancel(t.Context()), nil, "config", "current-context")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(name))
}

// keep makes a backup of a ConfigMap of some cluster, the newest of all.
func keep(t *testing.T, dir string, of backup.Cluster) string {
	t.Helper()
	now := time.Now().Add(time.Minute)
	w, err := backup.Create(dir, backup.Head{
		Tool: "test", Command: "delete", PlanDigest: "sha256:" + strings.Repeat("0", 64), Created: now, Secrets: true, Cluster: of,
	})
	if err != nil {
		t.Fatal(err)
	}
	ref := object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "foreign", UID: "foreign"}
	_, err = w.Add(ref, backup.Deleted, []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"foreign","namespace":"shop","uid":"foreign","resourceVersion":"1"}}`))
	for _, step := range []func() error{func() error { return err }, w.Seal, func() error { return w.Close(now) }} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	return w.Path()
}
