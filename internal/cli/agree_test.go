package cli_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// TestCommandsAgreeOnCases: collect, stuck, explain, check, doctor and dry-run do not contradict
// each other about the same dump, pair by pair. The dumps are the committed examples and, if
// available, cases outside of the repository.
func TestCommandsAgreeOnCases(t *testing.T) {
	dumps, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(dumps) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	read := func(name, dump string) {
		t.Run(name, func(t *testing.T) {
			if !agree(t, dump) {
				t.Fatal("collect does not read it")
			}
		})
	}
	for _, dump := range committedClusters(t) {
		read("whole "+filepath.Base(dump), wholeOf(t, dump))
		dumps = append(dumps, dump)
	}
	for _, dump := range dumps {
		read(filepath.Base(dump), dump)
	}
	var outside []string
	for _, pattern := range []string{"*/*", "*.tar.gz"} {
		more, err := filepath.Glob("../../../shared/data/cases/" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		outside = append(outside, more...)
	}
	for _, dump := range outside { // some are refused, or hold no objects
		t.Run(strings.TrimPrefix(dump, "../../../"), func(t *testing.T) { agree(t, dump) })
	}
}

// committedClusters returns the dumps of testdata/agree. deletions.yaml is added twice: with a
// kube-controller-manager that no longer renews its lease, and with a lease of kube-scheduler
// instead.
func committedClusters(t *testing.T) []string {
	t.Helper()
	const deletions, renewed, name = "testdata/agree/deletions.yaml", `leaseDurationSeconds: 15, renewTime: "2026-05-01T12`, "name: kube-controller-manager"
	text, err := os.ReadFile(deletions)
	if err != nil || bytes.Count(text, []byte(renewed)) != 1 || bytes.Count(text, []byte(name)) != 1 {
		t.Fatalf("%s has no lease to change: %v", deletions, err)
	}
	dumps := []string{deletions, "testdata/agree/references.yaml"}
	dir := t.TempDir()
	for file, change := range map[string]*strings.Replacer{
		"manager-stopped.yaml": strings.NewReplacer(renewed, strings.Replace(renewed, "T12", "T10", 1)),
		"no-manager.yaml":      strings.NewReplacer(name, "name: kube-scheduler"),
	} {
		file = filepath.Join(dir, file)
		if err := os.WriteFile(file, []byte(change.Replace(string(text))), 0o600); err != nil {
			t.Fatal(err)
		}
		dumps = append(dumps, file)
	}
	return dumps
}

// mostDeletes is the number of planned deletes for one dump, in addition to those that explain
// names.
const mostDeletes = 6

// agree runs every command on one dump, and compares the answers. It returns false if collect does
// not read the dump.
func agree(t *testing.T, dump string) bool {
	a := commandAnswers{dump: dump, explained: map[report.Ref]*report.Explanation{}, deletes: map[report.Ref]*report.Plan{}}
	if !documentOf(t, &a.collect, "collect", "--rules=upstream", "--from", dump) {
		return false
	}
	for command, document := range map[string]any{"stuck": &a.stuck, "check": &a.check, "doctor": &a.doctor} {
		if !documentOf(t, document, command, "--from", dump) {
			t.Fatalf("%s refuses what collect reads", command)
		}
	}
	asked := map[report.Ref]bool{}
	for i := range a.collect.Effects {
		asked[a.collect.Effects[i].Object] = true
	}
	for _, f := range slices.Concat(a.stuck.Findings, a.check.Findings, a.doctor.Findings) {
		asked[f.Object] = asked[f.Object] || f.Object.Name != ""
	}
	deletes := 0
	for _, ref := range slices.SortedFunc(maps.Keys(asked), func(a, b report.Ref) int { return strings.Compare(a.FullName(), b.FullName()) }) {
		a.explain(t, ref)
		if deletes < mostDeletes && asked[ref] {
			a.delete(t, ref)
			deletes++
		}
	}
	for _, x := range a.explained {
		for _, taker := range x.TakenBy {
			a.delete(t, taker.Object)
		}
	}
	for _, text := range slices.Compact(slices.Sorted(slices.Values(a.contradictions()))) {
		t.Error(text)
	}
	return true
}

// commandAnswers are the answers of all commands about one dump. Objects with an ambiguous name are
// neither explained nor deleted in a plan.
type commandAnswers struct {
	dump         string
	collect      report.Plan
	stuck, check report.Diagnosis
	doctor       report.Checkup
	explained    map[report.Ref]*report.Explanation
	deletes      map[report.Ref]*report.Plan
}

func (a *commandAnswers) explain(t *testing.T, ref report.Ref) {
	var x report.Explanation
	if a.explained[ref] == nil && documentOf(t, &x, append(named("explain", ref), "--from", a.dump)...) && x.Object == ref {
		a.explained[ref] = &x
	}
}

func (a *commandAnswers) delete(t *testing.T, ref report.Ref) {
	var p report.Plan
	if a.deletes[ref] == nil && documentOf(t, &p, append(named("dry-run delete", ref), "--from", a.dump)...) {
		a.deletes[ref] = &p
	}
}

func named(command string, ref report.Ref) []string {
	args := append(strings.Fields(command), report.KubectlKind(ref.APIVersion, ref.Kind), ref.Name)
	if ref.Namespace != "" {
		args = append(args, "-n", ref.Namespace)
	}
	return args
}

// documentOf reads the document that a command prints, and reports whether it prints one.
func documentOf(t *testing.T, document any, args ...string) bool {
	t.Helper()
	var out, errs bytes.Buffer
	streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &errs}
	if code := cli.Main(t.Context(), append(append([]string{"kubectl-gc"}, args...), "-o", "json"), streams); code > 5 || out.Len() == 0 {
		return false
	}
	if err := json.Unmarshal(out.Bytes(), document); err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	return true
}
