package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// wideDelete is the delete of a definition with two instances in each of n
// namespaces.
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

// A narrow table counts over namespaces where there are very many, and says how many
// lines of data it leaves out; a wide one has all.
func TestManyNamespaces(t *testing.T) {
	show := func(n int, wide bool) string {
		var b strings.Builder
		if err := PlanTable(&b, Style{Wide: wide}, wideDelete(n)); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for _, tt := range []struct {
		namespaces int
		wide       bool
		has, lacks []string
	}{
		{3, false, []string{"cart.example.com                                team-002    2", "cart.example.com (2)"}, []string{"namespaces", "more line"}},
		{50, false, []string{"cart.example.com                                50 namespaces   100", "30 more lines of data: -o wide has them all."}, []string{"team-001    2"}},
		{50, true, []string{"team-049    2"}, []string{"50 namespaces", "more lines"}},
	} {
		out := show(tt.namespaces, tt.wide)
		for _, text := range tt.has {
			if !strings.Contains(out, text) {
				t.Errorf("%d namespaces, wide %t: no %q in\n%s", tt.namespaces, tt.wide, text, out)
			}
		}
		for _, text := range tt.lacks {
			if strings.Contains(out, text) {
				t.Errorf("%d namespaces, wide %t: %q in\n%s", tt.namespaces, tt.wide, text, out)
			}
		}
	}
}

// The counts come first, the data next, and every object last.
func TestOrderOfBlocks(t *testing.T) {
	var b strings.Builder
	if err := PlanTable(&b, Style{}, wideDelete(3)); err != nil {
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
