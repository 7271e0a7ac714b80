package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// TestSnapshotAnswersAlike: a snapshot of a dump gives the same answers as the dump, byte for byte
// except for the name of the source. The dumps are the examples, all dump layouts, and those with
// evidence about controllers, nodes and webhooks.
func TestSnapshotAnswersAlike(t *testing.T) {
	compared := 0
	t.Cleanup(func() { t.Logf("%d answers compared", compared) })
	examples, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(examples) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, dump := range examples {
		compared += alike(t, dump, 3)
	}
	archives, err := filepath.Glob("../snapshot/testdata/dumps/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no dumps: %v", err)
	}
	for _, archive := range archives {
		compared += alike(t, unpacked(t, archive), 1)
	}
	// For every second one of these, a delete is planned, too.
	for _, file := range []string{"../plan/testdata/surroundings", "../plan/testdata/in_use", "../diagnose/testdata/stuck"} {
		common := ""
		datadriven.Walk(t, file, func(t *testing.T, path string) {
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				if d.Cmd == "common" {
					common = d.Input + "\n---\n"
					return d.Expected
				}
				compared += alike(t, saved(t, []byte(common+d.Input+"\n")), len(d.Input)%2)
				return d.Expected
			})
			common = ""
		})
	}
}

// alike compares the answers of a dump with those of its snapshot, and returns their number: see
// questions.
func alike(t *testing.T, dump string, each int) (compared int) {
	t.Helper()
	stored := filepath.Join(t.TempDir(), "stored.gz")
	if code, _, _ := answered(t, "snapshot", "--from", dump, "--to", stored); code != 0 {
		return 0 // a dump that is refused
	}
	snap, err := snapshot.ReadFiles([]string{stored}, snapshot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range questions(snap, each) {
		question := strings.Fields(words)
		wantCode, want, wantErr := answered(t, append(question, "--from", dump)...)
		code, got, gotErr := answered(t, append(question, "--from", stored)...)
		nameless := strings.NewReplacer(stored, "SOURCE", dump, "SOURCE")
		if diff := cmp.Diff(nameless.Replace(want+wantErr), nameless.Replace(got+gotErr)); diff != "" || code != wantCode {
			t.Fatalf("%s of %s: exit codes %d and %d (-dump +snapshot):\n%s", words, dump, wantCode, code, diff)
		}
		compared++
	}
	return compared
}

// questions returns the compared command lines: about everything, and about the first objects that
// are being deleted and as many others.
func questions(snap *snapshot.Snapshot, each int) []string {
	list := []string{"stuck -o wide"}
	if each > 1 {
		list = append(list, "doctor -o json", "stuck -o json", "check -o json", "risk", "collect --rules=upstream -o json", "graph -A -o json")
	}
	asked := map[bool]int{}
	for _, o := range snap.Objects {
		if asked[o.BeingDeleted()] == each || len(strings.Fields(o.Name)) != 1 {
			continue
		}
		asked[o.BeingDeleted()]++
		name := object.KubectlKind(o.APIVersion, o.Kind) + " " + o.Name
		if o.Namespace != "" {
			name += " -n " + o.Namespace
		}
		list = append(list, "dry-run delete -o json "+name)
		if each > 1 {
			list = append(list, "explain "+name)
		}
	}
	return list
}

func answered(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &stdout, ErrOut: &stderr}
	code = cli.Main(t.Context(), append([]string{"kubectl-gc"}, args...), streams)
	return code, stdout.String(), stderr.String()
}

// unpacked returns a directory with the files of an archive.
func unpacked(t *testing.T, archive string) string {
	t.Helper()
	a, err := txtar.ParseFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range a.Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func saved(t *testing.T, text []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "dump.yaml")
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}
