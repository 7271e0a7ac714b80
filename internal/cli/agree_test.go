package cli_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// TestCommandsAgreeOnCases: what stuck, check, explain, collect and dry-run say of the same dump does
// not contradict each other, in the committed examples and in the cases that are kept outside of the
// repository, where they are at hand.
func TestCommandsAgreeOnCases(t *testing.T) {
	dumps, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(dumps) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, pattern := range []string{"*/*.yaml", "*/*.tar.gz", "*/ns*.json", "*.tar.gz"} {
		more, err := filepath.Glob("../../../shared/data/cases/" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		dumps = append(dumps, more...)
	}
	for _, dump := range dumps {
		t.Run(strings.TrimPrefix(dump, "../../"), func(t *testing.T) { agree(t, dump) })
	}
}

// agree compares the answers of the commands about one dump.
func agree(t *testing.T, dump string) {
	var p report.Plan
	if !documentOf(t, &p, "collect", "--rules=upstream", "--from", dump) {
		return // not a dump of objects, or one that is refused
	}
	effects := map[report.Ref]*report.Effect{}
	for i := range p.Effects {
		effects[p.Effects[i].Object] = &p.Effects[i]
	}
	var stuck, check report.Diagnosis
	documentOf(t, &stuck, "stuck", "--from", dump)
	documentOf(t, &check, "check", "--from", dump)
	var asked []report.Ref
	for ref := range effects {
		asked = append(asked, ref)
	}
	for _, f := range stuck.Findings {
		asked = append(asked, f.Object)
		e := effects[f.Object]
		switch {
		case e == nil, e.DependsOnTiming: // stuck says what one order of events leads to
		case f.Severity == reason.Error && e.Outcome == report.Deleted, reason.Code(f.Code) == reason.UnderWay && e.Outcome == report.Blocked:
			t.Errorf("%s: stuck: %s %s; collect: %s %s", f.Object.FullName(), f.Code, f.Message, e.Outcome, e.Message)
		}
	}
	wrong := map[report.Ref]string{}
	for _, f := range check.Findings {
		asked = append(asked, f.Object)
		switch reason.Code(f.Code) {
		case reason.OwnerNotFound, reason.OwnerNamespaceMismatch, reason.OwnerUIDMismatch, reason.OwnerVersionNotServed, reason.OwnerKindUnknown:
			wrong[f.Object] = f.Code + " " + f.Message
		}
	}
	slices.SortFunc(asked, func(a, b report.Ref) int { return strings.Compare(a.FullName(), b.FullName()) })
	for _, ref := range slices.Compact(asked) {
		agreeOn(t, dump, ref, effects[ref], wrong[ref])
	}
}

// agreeOn compares what explain says of an object with the plan of a collection and with what check
// says of its owners, and each delete that takes it with the plan of that delete.
func agreeOn(t *testing.T, dump string, ref report.Ref, e *report.Effect, wrong string) {
	var x report.Explanation
	if !documentOf(t, &x, append(named("explain", ref), "--from", dump)...) {
		return // several objects have that name
	}
	switch {
	case e != nil && e.Outcome == report.Deleted && (x.Verdict == report.Live || x.Verdict == report.HeldByFinalizer),
		e != nil && e.Outcome == report.Blocked && x.Verdict == report.Live,
		e != nil && e.Outcome == report.Kept && x.Verdict == report.BeingDeleted:
		t.Errorf("%s: explain: %s %s; collect: %s %s", ref.FullName(), x.Verdict, x.Message, e.Outcome, e.Message)
	case wrong != "" && len(x.Owners) == 1 && x.Verdict == report.Undecidable && reason.Code(x.Reason) != reason.SharedUID:
		t.Errorf("%s: explain: %s %s; check: %s", ref.FullName(), x.Verdict, x.Message, wrong)
	}
	for _, taker := range x.TakenBy {
		if taker.Unknown || taker.Policy != "Background" {
			continue
		}
		var p report.Plan
		if !documentOf(t, &p, append(named("dry-run delete", taker.Object), "--from", dump)...) {
			continue
		}
		i := slices.IndexFunc(p.Effects, func(e report.Effect) bool { return e.Object == x.Object })
		if i < 0 || p.Effects[i].Outcome != report.Deleted && p.Effects[i].Later != report.Deleted {
			t.Errorf("%s: explain: taken by %s; its plan says otherwise", ref.FullName(), taker.Object.FullName())
		}
	}
}

func named(command string, ref report.Ref) []string {
	args := append(strings.Fields(command), report.KubectlKind(ref.APIVersion, ref.Kind), ref.Name)
	if ref.Namespace != "" {
		args = append(args, "-n", ref.Namespace)
	}
	return args
}

// documentOf reads the document with which a command answers, and reports whether it does.
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
