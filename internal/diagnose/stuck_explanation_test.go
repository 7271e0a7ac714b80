package diagnose_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// TestComplete reads worlds as YAML, as TestStuck does, and prints what Complete adds to the
// explanation of an object. Its findings are those of a question about all objects.
func TestComplete(t *testing.T) {
	datadriven.Walk(t, "testdata/explanation", func(t *testing.T, path string) {
		common := ""
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "common":
				common = d.Input
				return "ok"
			case "explain":
				return completed(t, d, common)
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

// completed explains the object that the first argument names.
func completed(t *testing.T, d *datadriven.TestData, common string) string {
	t.Helper()
	var unread []string
	for _, arg := range d.CmdArgs[1:] {
		if arg.Key != "unread" {
			t.Fatalf("%s: unknown argument %s", d.Pos, arg.Key)
		}
		unread = arg.Vals
	}
	snap, seen := worlds(t, common+"\n---\n"+d.Input, unread)
	var target object.Ref
	for _, o := range snap.Objects {
		if o.Name == d.CmdArgs[0].Key {
			target = o.Ref
		}
	}
	e, err := diagnose.Explain(t.Context(), snap, target, diagnose.ExplanationOptions{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := diagnose.Stuck(t.Context(), snap, seen, diagnose.StuckQuestion{Now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC).Unix()})
	if err != nil {
		t.Fatal(err)
	}
	diagnose.CompleteExplanation(e, all)
	var want []report.Finding
	for _, f := range all.Findings {
		if f.Object == e.Object {
			want = append(want, f)
		}
	}
	if diff := cmp.Diff(want, e.WaitsFor); diff != "" {
		t.Errorf("%s: not the findings about all (-want +got):\n%s", d.Pos, diff)
	}
	var b strings.Builder
	for _, x := range e.Finalizers {
		fmt.Fprintf(&b, "finalizer %s verdict=%s", x.Name, x.Verdict)
		for _, p := range x.Proof {
			fmt.Fprintf(&b, " %s", p.Reason)
		}
		b.WriteString("\n")
	}
	for _, f := range e.WaitsFor {
		fmt.Fprintf(&b, "waits %s", f.Code)
		for _, l := range f.Chain {
			fmt.Fprintf(&b, " %s(%s)", l.KubectlName(), l.Waits)
		}
		b.WriteString("\n")
	}
	for _, r := range e.Remedies {
		fmt.Fprintf(&b, "$ %s", r.Command)
		if r.Cost != "" {
			fmt.Fprintf(&b, " # costs: %s", r.Cost)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "complete=%v\n", e.Complete)
	return b.String()
}
