package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/writing"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
)

// TestLatestIsNeverAnEarlierOne: a backup that was not finished is passed over, as no
// request was sent under it. One that is damaged is not: the one before it is not what
// was meant.
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
