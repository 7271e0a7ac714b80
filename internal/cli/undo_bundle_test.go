package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/writing"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
)

// TestLatestIsNeverAnEarlierOne: an unfinished backup is skipped, since no request was sent with
// it. A damaged one is not skipped: the backup before it is not the one that the user means.
func TestLatestIsNeverAnEarlierOne(t *testing.T) {
	dir, id := t.TempDir(), kube.Identity{Server: "https://prod:6443"}
	earlier, err := backup.Create(dir, backup.Head{
		Command: "delete", PlanDigest: "sha256:" + strings.Repeat("a", 64), Cluster: backup.Cluster{Server: id.Server},
		Created: time.Date(2026, 11, 22, 22, 0, 0, 0, time.UTC),
	})
	if err := errors.Join(err, earlier.Seal(), earlier.Close(time.Now())); err != nil {
		t.Fatal(err)
	}
	newer := filepath.Join(dir, "20261122T230000Z-bbbbbbbb")
	if err := os.Mkdir(newer, 0o700); err != nil {
		t.Fatal(err)
	}

	u := undoing{backups: writing.BackupDir(dir)}
	if path, err := u.bundle(latest, id); path != earlier.Path() || err != nil {
		t.Errorf("beside one that was not finished: %q, %v", path, err)
	}
	if err := os.WriteFile(filepath.Join(newer, "manifest.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if path, err := u.bundle(latest, id); path != "" || err == nil || !strings.Contains(err.Error(), filepath.Base(newer)) {
		t.Errorf("beside one that is damaged: %q, %v", path, err)
	}
}

// atTerminal is a terminal with typed input.
type atTerminal struct{ io.Reader }

func (atTerminal) AtTerminal() bool { return true }

// TestRemoveAsks: a backup is removed only after a confirmation by its own name or digest.
func TestRemoveAsks(t *testing.T) {
	dir := t.TempDir()
	b, err := backup.Create(dir, backup.Head{
		Command: "delete", PlanDigest: "sha256:" + strings.Repeat("a", 64), Created: time.Date(2026, 11, 22, 22, 0, 0, 0, time.UTC),
	})
	if err := errors.Join(err, b.Seal(), b.Close(time.Now())); err != nil {
		t.Fatal(err)
	}
	name := filepath.Base(b.Path())
	remove := func(in io.Reader, args ...string) (code int, said string) {
		var out bytes.Buffer
		args = append([]string{"kubectl-gc", "undo", "--remove", name, "--backup-dir", dir}, args...)
		return Main(t.Context(), args, genericiooptions.IOStreams{In: in, Out: &out, ErrOut: &out}), out.String()
	}
	nobody := strings.NewReader("")
	_, said := remove(nobody, "--dry-run")
	digest := regexp.MustCompile(`--confirm=(sha256:[0-9a-f]{64})`).FindString(said)
	if digest == "" || !strings.Contains(said, "It holds 0 objects of a delete and was never undone") {
		t.Fatalf("--dry-run says %s", said)
	}
	for _, x := range []struct {
		in    io.Reader
		flags []string
		code  int
		says  string
	}{
		{nobody, []string{"--dry-run"}, 0, "Nothing was written"},
		{nobody, nil, 5, digest},
		{nobody, []string{"--confirm=sha256:" + strings.Repeat("0", 64)}, 5, "of another plan"},
		{atTerminal{strings.NewReader("yes\n")}, nil, 5, "Type the name of the backup (" + name + ") to remove it:"},
	} {
		if code, said := remove(x.in, x.flags...); code != x.code || !strings.Contains(said, x.says) || !backup.Is(b.Path()) {
			t.Errorf("%q: exit code %d, still there %v\n%s", x.flags, code, backup.Is(b.Path()), said)
		}
	}
	if code, said := remove(atTerminal{strings.NewReader(name + "\n")}); code != 0 || backup.Is(b.Path()) {
		t.Errorf("exit code %d\n%s", code, said)
	}
}
