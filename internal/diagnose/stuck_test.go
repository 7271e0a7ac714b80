package diagnose_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestStuck reads worlds as YAML and prints what is stuck in them. The evidence is complete except
// for the parts in `unread`. `now` is the time of the question.
func TestStuck(t *testing.T) {
	datadriven.Walk(t, "testdata/stuck", func(t *testing.T, path string) {
		common := ""
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "common":
				common = d.Input
				return "ok"
			case "stuck":
				return asked(t, d, common)
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

// documents returns the documents of a YAML text as JSON.
func documents(t *testing.T, text string) [][]byte {
	t.Helper()
	var list [][]byte
	for doc := range strings.SplitSeq(text, "\n---\n") {
		if strings.TrimSpace(doc) == "" {
			continue
		}
		raw, err := yaml.YAMLToJSON([]byte(doc))
		if err != nil {
			t.Fatalf("%v in:\n%s", err, doc)
		}
		list = append(list, raw)
	}
	return list
}

func worlds(t *testing.T, text string, unread []string) (*snapshot.Snapshot, *health.Evidence) {
	t.Helper()
	snap, err := snapshot.ReadFiles([]string{"-"}, snapshot.Options{Stdin: strings.NewReader(text), TreatMissingAsAbsent: true})
	if err != nil {
		t.Fatal(err)
	}
	seen := &health.Evidence{}
	for _, raw := range documents(t, text) {
		if err := seen.Add("", "", raw); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range health.Parts() {
		why := ""
		if slices.Contains(unread, string(p)) {
			why = "Forbidden: not for you"
		}
		seen.Mark(p, "", why)
	}
	return snap, seen
}

func asked(t *testing.T, d *datadriven.TestData, common string) string {
	var q diagnose.StuckQuestion
	var unread []string
	var unreadable []string
	blind := false
	q.Now = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC).Unix()
	for _, arg := range d.CmdArgs {
		switch arg.Key {
		case "unread":
			unread = arg.Vals
		case "blind":
			blind = true
		case "unreadable":
			unreadable = arg.Vals
		case "timeless":
			q.Now = 0
		case "namespace":
			q.Namespace = arg.Vals[0]
		default:
			t.Fatalf("%s: unknown argument %s", d.Pos, arg.Key)
		}
	}
	snap, seen := worlds(t, common+"\n---\n"+d.Input, unread)
	if blind {
		seen = nil
	}
	// Names of the objects that were listed as metadata only.
	for n := 0; seen != nil && n < len(seen.Terminating); n++ {
		if t := &seen.Terminating[n]; slices.Contains(unreadable, t.Ref.Name) {
			*t = health.Terminating{Ref: t.Ref, Unread: "Forbidden: not for you"}
		}
	}
	doc, err := diagnose.Stuck(t.Context(), snap, seen, q)
	if err != nil {
		return "error: " + err.Error()
	}
	var b strings.Builder
	for i := range doc.Findings {
		write(&b, &doc.Findings[i])
	}
	fmt.Fprintf(&b, "errors=%d warnings=%d infos=%d complete=%v\n", doc.Summary.Errors, doc.Summary.Warnings, doc.Summary.Infos, doc.Complete)
	return strings.ReplaceAll(b.String(), "\x1b", "␛") // commands escape it when they print; the document has the raw byte
}

func write(b *strings.Builder, f *report.Finding) {
	fmt.Fprintf(b, "%s %s %s", f.Severity, f.Code, f.Object.KubectlName())
	if f.Verdict != "" {
		fmt.Fprintf(b, " verdict=%s", f.Verdict)
	}
	if f.ForSeconds != nil {
		fmt.Fprintf(b, " for=%ds", *f.ForSeconds)
	}
	if f.More > 0 {
		fmt.Fprintf(b, " more=%d", f.More)
	}
	fmt.Fprintf(b, "\n  %s\n", f.Message)
	for i, l := range f.Chain {
		fmt.Fprintf(b, "  %s%s: %s\n", strings.Repeat("  ", i), l.KubectlName(), l.Waits)
	}
	for _, p := range f.Proof {
		fmt.Fprintf(b, "  - %s: %s\n", p.Reason, p.Message)
	}
	for _, r := range f.Remedies {
		fmt.Fprintf(b, "  $ %s\n    %s; costs: %s\n", r.Command, r.Effect, r.Cost)
	}
}

// TestKindNotServed: if discovery shows that a kind is not served, no request reaches its objects.
// Without discovery, this is not concluded.
func TestKindNotServed(t *testing.T) {
	for discovered, want := range map[bool]reason.Code{true: reason.KindNotServed, false: reason.FinalizerControllerUnknown} {
		o := &object.Object{Ref: object.Ref{APIVersion: "gone.example.com/v1", Kind: "Widget", Namespace: "n", Name: "w", UID: "u-w"}, ResourceVersion: "1"}
		life := o.Edit()
		life.DeletionTimestamp, life.Finalizers = 1893456000, []string{"gone.example.com/x"}
		snap, err := snapshot.New([]*object.Object{o}, scenario.Resources(), snapshot.CoversEverything(), snapshot.Source{Discovered: discovered})
		if err != nil {
			t.Fatal(err)
		}
		d, err := diagnose.Stuck(t.Context(), snap, nil, diagnose.StuckQuestion{Now: 1893460000})
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Findings) != 1 || d.Findings[0].Code != string(want) {
			t.Errorf("discovered %v: %+v", discovered, d.Findings)
		}
	}
}

// TestAskedFor: the answer is limited to the requested objects, and a missing one is an error.
func TestAskedFor(t *testing.T) {
	snap, seen := worlds(t, `
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: shop, uid: u-a, deletionTimestamp: "2026-05-01T11:00:00Z", finalizers: [example.com/x]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b, namespace: shop, uid: u-b}
`, nil)
	a := object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "a"}
	b, none := a, a
	b.Name, none.Name = "b", "none"
	d, err := diagnose.Stuck(t.Context(), snap, seen, diagnose.StuckQuestion{Objects: []object.Ref{a, a, b}})
	if err != nil || len(d.Findings) != 1 || d.Summary.Objects != 1 {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := diagnose.Stuck(t.Context(), snap, seen, diagnose.StuckQuestion{Objects: []object.Ref{none}}); err == nil {
		t.Error("an object that is not there is no error")
	}
}
