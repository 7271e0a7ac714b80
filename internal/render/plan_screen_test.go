package render

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// TestScreenFits: the first screen of any plan has at most 25 lines of 100 columns, and starts with
// the answer.
func TestScreenFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t)
		width := rapid.SampledFrom([]int{0, 80, 100, 200}).Draw(t, "width")
		var b bytes.Buffer
		if err := PlanTable(&b, Style{Width: width}, p); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if len(lines) > 25 {
			t.Errorf("%d lines:\n%s", len(lines), b.String())
		}
		for _, line := range lines {
			if n := displayWidth(line); n > 100 {
				t.Errorf("%d columns: %s", n, line)
			}
		}
		if len(p.Effects) > 0 && !strings.Contains(lines[0], "would") && !strings.Contains(lines[0], "nothing") && !strings.Contains(lines[0], "orphaned") &&
			!strings.Contains(lines[0], "not known") && !strings.Contains(lines[1], "would") {
			t.Errorf("no answer in the first line: %s", lines[0])
		}
	})
}

func displayWidth(line string) int { return width(line) }

// drawPlan draws the delete of a namespace, or of objects in it, with up to hundreds of objects of
// some kinds, names up to the maximum length, and long sentences.
func drawPlan(t *rapid.T) *report.Plan {
	var p report.Plan
	p.Source.Type = rapid.SampledFrom([]string{"cluster", "dump"}).Draw(t, "source")
	p.Seed = report.Seed{Verb: "delete", Policy: "Background", Targets: []object.Ref{{APIVersion: "v1", Kind: "Namespace", Name: "shop"}}}
	p.Complete, p.Digest = rapid.Bool().Draw(t, "complete"), "sha256:"+strings.Repeat("a", 64)
	kinds := []object.Ref{
		{APIVersion: "v1", Kind: "Namespace"}, {APIVersion: "v1", Kind: "Pod"}, {APIVersion: "v1", Kind: "Event"}, {APIVersion: "v1", Kind: "Secret"},
		{APIVersion: "v1", Kind: "PersistentVolumeClaim"}, {APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"}, {APIVersion: "discovery.k8s.io/v1", Kind: "EndpointSlice"},
	}
	for i := range rapid.IntRange(0, 30).Draw(t, "custom") {
		kinds = append(kinds, object.Ref{APIVersion: "very.long.group.of.an.operator.example.com/v1", Kind: fmt.Sprintf("Thing%d", i)})
	}
	for _, kind := range kinds {
		p.Summary.ByKind = append(p.Summary.ByKind, report.Count{APIVersion: kind.APIVersion, Kind: kind.Kind, Data: map[string]report.Data{
			"PersistentVolumeClaim": report.VolumeData, "Secret": report.SecretData, "Thing1": report.CustomData,
		}[kind.Kind]})
	}
	name := rapid.StringMatching(`[a-z]{1,4}|[a-z]{60,63}`)
	message := rapid.StringMatching(`[a-z]{1,9}( [a-z]{1,9}){0,30}`)
	for range rapid.SampledFrom([]int{0, 1, 5, 13, 60, 300}).Draw(t, "objects") {
		e := report.Effect{Object: rapid.SampledFrom(kinds).Draw(t, "kind"), Outcome: rapid.SampledFrom(report.Outcomes()).Draw(t, "outcome")}
		e.Object.Name, e.Object.Namespace = name.Draw(t, "name"), rapid.SampledFrom([]string{"", "shop", "pay"}).Draw(t, "namespace")
		e.Reason, e.Message = "OwnersAbsent", message.Draw(t, "message")
		if e.Outcome == report.Blocked {
			e.BlockedBy = &report.BlockedBy{Finalizers: []string{"example.com/" + name.Draw(t, "finalizer")}}
			e.Once = []report.Release{{Object: e.Object, Finalizer: e.BlockedBy.Finalizers[0], State: report.ControllerUnknown}}
		}
		if e.Outcome == report.Deleted && rapid.Bool().Draw(t, "again") {
			e.Recreator = name.Draw(t, "recreator")
		}
		e.AlreadyHappening = rapid.IntRange(0, 9).Draw(t, "already") == 0
		e.DependsOnTiming = rapid.IntRange(0, 9).Draw(t, "timing") == 0
		p.Effects = append(p.Effects, e)
	}
	for i := range rapid.IntRange(0, 40).Draw(t, "gaps") {
		p.Gaps = append(p.Gaps, report.Gap{APIVersion: "v1", Resource: fmt.Sprintf("things%d", i), Matters: true})
	}
	return &p
}

// wideDelete returns the delete of a CRD with two instances in each of n namespaces.
func wideDelete(n int) *report.Plan {
	p := &report.Plan{
		Seed:    report.Seed{Verb: "delete", Targets: []object.Ref{{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: "carts.example.com"}}},
		Summary: report.Summary{ByKind: []report.Count{{APIVersion: "example.com/v1", Kind: "Cart", Data: report.CustomData}}},
		Effects: []report.Effect{{Object: object.Ref{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: "carts.example.com"}, Outcome: report.Deleted}},
	}
	for i := range n {
		for j := range 2 {
			p.Effects = append(p.Effects, report.Effect{
				Object:  object.Ref{APIVersion: "example.com/v1", Kind: "Cart", Namespace: fmt.Sprintf("team-%03d", i), Name: fmt.Sprintf("cart-%d", j)},
				Outcome: report.Deleted,
			})
		}
	}
	return p
}

// A document with very many namespaces sums their counts, and counts omitted lines of data; a wide
// table has all.
func TestManyNamespaces(t *testing.T) {
	for _, tt := range []struct {
		namespaces int
		wide       bool
		render     func(io.Writer, Style, *report.Plan) error
		has, lacks []string
	}{
		{3, false, PlanMarkdown, []string{"team-002", "cart.example.com (2)"}, []string{"namespaces", "more line"}},
		{50, false, PlanMarkdown, []string{"50 namespaces", "30 more lines of data"}, []string{"| team-001 | 2"}},
		{50, true, PlanTable, []string{"team-049    2"}, []string{"50 namespaces", "more lines"}},
	} {
		var b strings.Builder
		if err := tt.render(&b, Style{Wide: tt.wide}, wideDelete(tt.namespaces)); err != nil {
			t.Fatal(err)
		}
		for _, text := range tt.has {
			if !strings.Contains(b.String(), text) {
				t.Errorf("%d namespaces: no %q in\n%s", tt.namespaces, text, b.String())
			}
		}
		for _, text := range tt.lacks {
			if strings.Contains(b.String(), text) {
				t.Errorf("%d namespaces: %q in\n%s", tt.namespaces, text, b.String())
			}
		}
	}
}

// In wide output the counts come first, then the data, and every object last.
func TestOrderOfBlocks(t *testing.T) {
	var b strings.Builder
	if err := PlanTable(&b, Style{Wide: true}, wideDelete(3)); err != nil {
		t.Fatal(err)
	}
	last := -1
	for _, text := range []string{"KIND ", "Data that is", "WHY"} {
		at := strings.Index(b.String(), text)
		if at <= last {
			t.Errorf("%q is at %d, and what comes before it at %d", text, at, last)
		}
		last = at
	}
}
