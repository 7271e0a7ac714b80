package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestIncompleteUndoIsNoSuccess: an undo that is known to be incomplete doesn't exit with 0.
func TestIncompleteUndoIsNoSuccess(t *testing.T) {
	for name, x := range map[string]struct {
		ended report.Undo
		code  int
	}{
		"complete":  {report.Undo{State: report.Complete}, command.OK},
		"forgotten": {report.Undo{State: report.Complete, Summary: report.UndoSummary{Forgotten: 1, NotRestored: 1}}, command.Partial},
		"not saved": {report.Undo{State: report.Complete, Summary: report.UndoSummary{NotRestored: 1}}, command.Partial},
		"cut off":   {report.Undo{State: report.Complete, CutOff: []object.Ref{{APIVersion: "v1", Kind: "Namespace", Name: "shop"}}}, command.Partial},
	} {
		code := command.OK
		if err := (&undoing{}).verdict(&x.ended); err != nil {
			code = command.ExitCode(context.Background(), err)
		}
		if code != x.code {
			t.Errorf("%s: exit code %d, want %d", name, code, x.code)
		}
	}
}

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

	u := undoing{backups: backupDir(dir)}
	if path, err := u.bundle(&cobra.Command{}, latest, id); path != earlier.Path() || err != nil {
		t.Errorf("beside one that was not finished: %q, %v", path, err)
	}
	if err := os.WriteFile(filepath.Join(newer, "manifest.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if path, err := u.bundle(&cobra.Command{}, latest, id); path != "" || err == nil || !strings.Contains(err.Error(), filepath.Base(newer)) {
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

// TestDependentsNotRead: the unreadable kinds of dependents are listed once, without kinds that
// were left out or can't refer to a namespaced owner.
func TestDependentsNotRead(t *testing.T) {
	coverage := &snapshot.Coverage{}
	for _, r := range scenario.Resources().All() {
		switch {
		case r.Is(object.Secret):
			coverage.Fail(r.GroupResource(), "shop", reason.Forbidden, "no")
		case r.Is(object.Node):
			coverage.Fail(r.GroupResource(), "", reason.Forbidden, "no")
		case r.Namespaced:
			coverage.Add(r.GroupResource(), "shop")
		default:
			coverage.Add(r.GroupResource(), "")
		}
	}
	coverage.LeaveOut("only some namespaces were looked at")
	snap, err := snapshot.New(nil, scenario.Resources(), coverage, snapshot.Source{Discovered: true})
	if err != nil {
		t.Fatal(err)
	}
	for everywhere, want := range map[bool]string{false: "secrets", true: "nodes, secrets"} {
		var errOut bytes.Buffer
		l := &dependentReader{streams: genericiooptions.IOStreams{ErrOut: &errOut}}
		l.warn(snap, everywhere)
		l.warn(snap, everywhere)
		want = "warning: cannot read " + want + ": if objects of these types still refer to what is restored, their owner references keep the old uid, and the garbage collector deletes them\n"
		if errOut.String() != want {
			t.Errorf("everywhere %v: got\n%swant\n%s", everywhere, errOut.String(), want)
		}
	}
}

// TestWhereDependentsAre: with a cluster-scoped owner, dependents are looked for everywhere,
// whatever the other owners are.
func TestWhereDependentsAre(t *testing.T) {
	a, b, other := object.ConfigMap.Ref("shop", "a"), object.ConfigMap.Ref("shop", "b"), object.ConfigMap.Ref("other", "c")
	crd := object.CRD.Ref("", "lamps.example.com")
	l := &dependentReader{}
	for name, test := range map[string]struct {
		owners []object.Ref
		kinds  []schema.GroupKind
		want   []string
	}{
		"in namespaces":        {owners: []object.Ref{a, other, b}, want: []string{"other", "shop"}},
		"without one":          {owners: []object.Ref{a, crd}},
		"without one, first":   {owners: []object.Ref{crd, a}},
		"of unknown instances": {owners: []object.Ref{a}, kinds: []schema.GroupKind{{Group: "example.com", Kind: "Lamp"}}},
	} {
		if got := l.scope(test.owners, test.kinds).Namespaces; !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
