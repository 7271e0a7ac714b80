package stuck

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// carried is a delete that the program carries out.
type carried struct {
	dir      string // of its backup
	cmd      *exec.Cmd
	out, err bytes.Buffer
	done     report.Run
}

// lift are the flags without which a namespace is not deleted: where an API is down, not all of its
// content can be listed.
const lift = "--unlock=namespace,pvc,unseen"

// deleteWithKubectl sends the delete as a person would.
func (w *foresight) deleteWithKubectl(ctx context.Context) error {
	_, err := plane.Kubectl(ctx, nil, "delete", w.target, "-n", w.one.Name, "--wait=false")
	return err
}

// flags are those with which the program shows what it would do, and does it.
func (c *carried) flags() []string {
	return []string{lift, "--backup-dir", c.dir, "--backup-secrets", "--timeout", cluster.Patience.String()}
}

// deleteWithGC has the program delete, and follow that for as long as it takes.
func (w *foresight) deleteWithGC(ctx context.Context) error {
	w.gc.cmd = w.command(ctx, append([]string{"delete", w.target, "--confirm", w.plan.Digest, "-o", "json"}, w.gc.flags()...)...)
	w.gc.cmd.Stdout, w.gc.cmd.Stderr = &w.gc.out, &w.gc.err
	return w.gc.cmd.Start()
}

// endGC waits for the end of the program. For what is foretold to stay it would wait for
// ever: it is interrupted, as everything is as foretold by now.
func (w *foresight) endGC(context.Context) error {
	if w.stays() || !w.asForetold(afterwards) {
		if err := w.gc.cmd.Process.Signal(os.Interrupt); err != nil {
			return fmt.Errorf("%s: the program has ended before: %w\n%s", w.one.Name, err, w.gc.err.String())
		}
	}
	err := w.gc.cmd.Wait()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		return err
	}
	if err := json.Unmarshal(w.gc.out.Bytes(), &w.gc.done); err != nil {
		return fmt.Errorf("%s: delete: %w: %s", w.one.Name, err, w.gc.err.String())
	}
	return nil
}

// carriedOut looks at the report of the program.
func (w *foresight) carriedOut(t *testing.T) {
	t.Helper()
	code, state := 0, report.Complete
	if w.stays() {
		code, state = 130, report.Interrupted
	}
	d := &w.gc.done
	if got := w.gc.cmd.ProcessState.ExitCode(); got != code || d.State != state || len(d.Differences) > 0 || len(d.Surprises) > 0 {
		t.Errorf("delete: exit code %d and %s, want %d and %s; drift %+v, surprises %+v\n%s", got, d.State, code, state, d.Differences, d.Surprises, w.gc.err.String())
	}
}

// copies are the UIDs of the objects in the backups of a run.
func (w *foresight) copies(t *testing.T) (kept []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(w.gc.dir, "*", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var o struct{ Metadata struct{ UID string } }
		if err := json.Unmarshal(text, &o); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		kept = append(kept, o.Metadata.UID)
	}
	return kept
}
