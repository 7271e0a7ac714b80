package render

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// wideDelete returns the delete of a CRD with two instances in each of n namespaces.
func wideDelete(n int) *report.Plan {
	p := &report.Plan{
		Seed:    report.Seed{Verb: "delete", Targets: []report.Ref{{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: "carts.example.com"}}},
		Summary: report.Summary{ByKind: []report.Count{{APIVersion: "example.com/v1", Kind: "Cart", Data: report.CustomData}}},
		Effects: []report.Effect{{Object: report.Ref{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: "carts.example.com"}, Outcome: report.Deleted}},
	}
	for i := range n {
		for j := range 2 {
			p.Effects = append(p.Effects, report.Effect{
				Object:  report.Ref{APIVersion: "example.com/v1", Kind: "Cart", Namespace: fmt.Sprintf("team-%03d", i), Name: fmt.Sprintf("cart-%d", j)},
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
	for _, text := range []string{"KIND ", "Data that goes", "WHY"} {
		at := strings.Index(b.String(), text)
		if at <= last {
			t.Errorf("%q is at %d, and what comes before it at %d", text, at, last)
		}
		last = at
	}
}
