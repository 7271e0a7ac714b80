package render

import (
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// realisticPlan draws a plan as in real clusters: long kinds, generated names, several namespaces.
func realisticPlan(t *rapid.T) *report.Plan {
	kinds := []struct{ apiVersion, kind string }{
		{"v1", "Pod"}, {"v1", "PersistentVolumeClaim"}, {"apps/v1", "ReplicaSet"}, {"discovery.k8s.io/v1", "EndpointSlice"},
		{"rbac.authorization.k8s.io/v1", "ClusterRoleBinding"}, {"kustomize.toolkit.fluxcd.io/v1", "Kustomization"},
	}
	name := rapid.StringMatching(`[a-z][a-z0-9-]{1,50}-[0-9a-f]{8,10}-[a-z0-9]{5}`)
	space := rapid.SampledFrom([]string{"", "shop", "kube-system", "team-payments-production"})
	ref := rapid.Custom(func(t *rapid.T) object.Ref {
		k := rapid.SampledFrom(kinds).Draw(t, "kind")
		return object.Ref{APIVersion: k.apiVersion, Kind: k.kind, Namespace: space.Draw(t, "namespace"), Name: name.Draw(t, "name")}
	})
	effect := rapid.Custom(func(t *rapid.T) report.Effect {
		e := report.Effect{
			Object:  ref.Draw(t, "object"),
			Outcome: rapid.SampledFrom(report.Outcomes()).Draw(t, "outcome"),
			Reason:  rapid.SampledFrom([]string{"ExistingOwner", "NoExistingOwner", "OwnerNotCovered", "FinalizerRemains"}).Draw(t, "reason"),
			Because: rapid.SliceOfN(ref, 0, 3).Draw(t, "because"),
			Message: rapid.SampledFrom([]string{"", "its only owner is gone"}).Draw(t, "message"),
		}
		if e.Outcome == report.Blocked {
			e.BlockedBy = &report.BlockedBy{Finalizers: []string{"kubernetes.io/pvc-protection"}, Dependents: rapid.SliceOfN(ref, 0, 5).Draw(t, "dependents")}
		}
		return e
	})
	p := &report.Plan{
		Seed:    report.Seed{Verb: "delete", Policy: "Foreground", Targets: rapid.SliceOfN(ref, 1, 5).Draw(t, "targets")},
		Effects: rapid.SliceOfN(effect, 1, 20).Draw(t, "effects"),
	}
	if rapid.Bool().Draw(t, "of a namespace") {
		p.Seed.Targets = []object.Ref{{APIVersion: "v1", Kind: "Namespace", Name: "shop"}}
	}
	p.Summary.ByKind = []report.Count{
		{APIVersion: "v1", Kind: "PersistentVolumeClaim", Data: report.VolumeData},
		{APIVersion: "kustomize.toolkit.fluxcd.io/v1", Kind: "Kustomization", Data: report.CustomData},
	}
	for i, e := range p.Effects {
		if e.Object.Kind == "PersistentVolumeClaim" && rapid.Bool().Draw(t, "bound") {
			volume := object.Ref{APIVersion: "v1", Kind: "PersistentVolume", Name: name.Draw(t, "volume")}
			p.Storage = append(p.Storage, report.Storage{Claim: &e.Object, Volume: &volume, ReclaimPolicy: "Delete", Outcome: report.Deleted, Message: "deleted with the PVC"})
		}
		p.Steps = append(p.Steps, report.Step{N: i + 1, Actor: "namespace-controller", Verb: "DELETE", Object: e.Object, Policy: "Background", Reason: e.Reason, Cause: i})
	}
	return p
}

// TestRealisticPlansFit: with 80 columns, no line is longer and no name is cut.
func TestRealisticPlansFit(t *testing.T) {
	screen, all := Style{Width: 80}, Style{Width: 80, Wide: true}
	blanks := regexp.MustCompile(`\s+`)
	rapid.Check(t, func(rt *rapid.T) {
		p := realisticPlan(rt)
		for _, tt := range []struct {
			style  Style
			render func(io.Writer, Style, *report.Plan) error
		}{{screen, PlanTable}, {all, PlanTable}, {screen, PlanSteps}} {
			var b strings.Builder
			if err := tt.render(&b, tt.style, p); err != nil {
				rt.Fatal(err)
			}
			assertPresentable(rt, tt.style, b.String())
			// Names longer than a line are broken, so line ends do not count.
			whole := blanks.ReplaceAllString(b.String(), "")
			if !tt.style.Wide && strings.Contains(whole, "Everyobjectandwhy:-owide.") {
				continue // The first screen of a large plan counts.
			}
			for _, e := range p.Effects {
				if name := tt.style.name(e.Object); !strings.Contains(whole, name) {
					rt.Fatalf("%s is not in\n%s", name, b.String())
				}
			}
		}
	})
}

func TestWrapText(t *testing.T) {
	for _, tt := range []struct {
		text       string
		room, hang int
		want       []string
	}{
		{"", 10, 0, []string{""}},
		{"a b", 0, 0, []string{"a b"}},
		{"a" + noBreak + "b", 0, 0, []string{"a b"}},
		{"aa bb" + noBreak + "c", 6, 0, []string{"aa", "bb c"}},
		{"a bbbb" + noBreak + "cccc d", 6, 0, []string{"a", "bbbb cccc", "d"}},
		{"aaa bbb ccc", 7, 0, []string{"aaa bbb", "ccc"}},
		{"aaa bbb ccc", 11, 2, []string{"aaa bbb ccc"}},
		{"aaaa bbbb cccc dddd", 11, 2, []string{"aaaa bbbb", "cccc dddd"}},
		{"abcdefghijklmnopqrstu", 10, 0, []string{"abcdefghij", "klmnopqrst", "u"}},
		{"x abcdefghijklmnop", 10, 0, []string{"x", "abcdefghij", "klmnop"}},
		{"界界界界界界", 9, 0, []string{"界界界界", "界界"}},
	} {
		if got := wrapText(tt.text, tt.room, tt.hang); !slices.Equal(got, tt.want) {
			t.Errorf("wrapText(%q, %d, %d) = %q, want %q", tt.text, tt.room, tt.hang, got, tt.want)
		}
	}
}

func TestCutMiddle(t *testing.T) {
	for _, tt := range []struct {
		text  string
		room  int
		style Style
		want  string
	}{
		{"short", 5, Style{}, "short"},
		{"web-7f5d8c9b6d-x2x9z", 11, Style{}, "web-7…x2x9z"},
		{"web-7f5d8c9b6d-x2x9z", 11, Style{ASCII: true}, "web-...2x9z"},
		{"界界界界界", 8, Style{}, "界界…界"},
		{"abcdef", 2, Style{}, "ab"},
	} {
		if got := cutMiddle(tt.text, tt.room, tt.style); got != tt.want {
			t.Errorf("cutMiddle(%q, %d) = %q, want %q", tt.text, tt.room, got, tt.want)
		}
	}
}

// TestColourIsOnlyAddition: without its colour sequences, coloured output equals plain output.
func TestColourIsOnlyAddition(t *testing.T) {
	sgr := regexp.MustCompile("\x1b\\[[0-9;]*m")
	rapid.Check(t, func(rt *rapid.T) {
		p := realisticPlan(rt)
		var plain, coloured strings.Builder
		if err := PlanTable(&plain, Style{Width: 80}, p); err != nil {
			rt.Fatal(err)
		}
		if err := PlanTable(&coloured, Style{Width: 80, Colour: true}, p); err != nil {
			rt.Fatal(err)
		}
		if got := sgr.ReplaceAllString(coloured.String(), ""); got != plain.String() {
			rt.Fatalf("without colour:\n%s\nplain:\n%s", got, plain.String())
		}
	})
}

// TestTablesDoNotFollowTheLocale: ambiguous characters have one width, whatever the environment of
// the process is.
func TestTablesDoNotFollowTheLocale(t *testing.T) {
	for _, text := range []string{"…", "→", "ä", "─", "°", "①", "界", "ｆ", "🚀", "e\u0301"} {
		var b strings.Builder
		tab := &table{headers: []string{"A", "B"}}
		tab.add("", text, "x")
		if err := tab.write(&b, Style{NoHeaders: true}); err != nil {
			t.Fatal(err)
		}
		if got, want := b.String(), text+"   x\n"; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if want := map[string]int{"界": 2, "ｆ": 2, "🚀": 2}[text]; want != 0 && width(text) != want {
			t.Errorf("%q is %d wide, want %d", text, width(text), want)
		}
	}
}

// TestShorten: words are left out of the middle, so that the reason stays.
func TestShorten(t *testing.T) {
	const hook = `its instances cannot be deleted: could not list instances: conversion webhook for cert-manager.io/v1alpha2, Kind=Certificate failed: ` +
		`Post "https://cert-manager-webhook.cert-manager.svc:443/convert?timeout=30s": service "cert-manager-webhook" not found`
	for _, c := range []struct {
		text         string
		lines, width int
		want         string
	}{
		{"short: enough", 1, 40, "short: enough"},
		{hook, 2, 100, "its instances cannot be deleted: could not list instances: conversion webhook for\ncert-manager.io/v1alpha2, Kind=Certificate failed: Post … service \"cert-manager-webhook\" not found"},
		{hook, 1, 100, `its instances cannot be deleted: could not list instances … service "cert-manager-webhook" not found`},
		{"3 Pods (web-1, web-2, web-3): they come back; their DaemonSet creates them again", 1, 60,
			"3 Pods (web-1, web-2 …) their DaemonSet creates them again"},
		{"\x1b[31mcm/held in namespace shop, for 59m\x1b[0m: waits for a finalizer; its controller is not running", 1, 60,
			"\x1b[31mcm/held in namespace shop …\x1b[0m its controller is not running"},
		{"no clause and many words that go on and on until the very end", 1, 40, "no clause and many … until the very end"},
		// More lines than requested, because the reason is longer.
		{"it waits: " + strings.Repeat("very ", 20) + "long", 1, 40, "it waits: very very very very very very\nvery very very very very very very very\nvery very very very very very long"},
	} {
		lay := func(text string) []string { return wrapText(text, c.width, 0) }
		if got := strings.Join(Style{}.shorten(c.text, c.lines, lay), "\n"); got != c.want {
			t.Errorf("%d lines of %d: %s\ngot:\n%s\nwant:\n%s", c.lines, c.width, c.text, got, c.want)
		}
	}
}

// TestShortenKeepsTheReason: the last clause is complete if it fits into three lines.
func TestShortenKeepsTheReason(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.StringMatching(`[a-z]{1,9}( [a-z]{1,9}){0,30}`)
		reason := rapid.StringMatching(`[a-z]{1,9}( [a-z]{1,9}){0,12}`).Draw(t, "reason")
		text := words.Draw(t, "what") + rapid.SampledFrom([]string{": ", "; "}).Draw(t, "after") + reason
		lines := rapid.IntRange(1, 4).Draw(t, "lines")
		laid := Style{}.shorten(text, lines, func(text string) []string { return wrapText(text, 80, 0) })
		if shown := strings.Join(laid, " "); !strings.HasSuffix(shown, reason) {
			t.Errorf("%q in %d lines lost the reason: %q", text, lines, shown)
		}
		if len(laid) > max(lines, clauseLines) {
			t.Errorf("%d lines instead of %d", len(laid), lines)
		}
	})
}

// TestShortenList: items of a list without room are counted.
func TestShortenList(t *testing.T) {
	items := strings.Fields("aaaa bbbb cccc dddd eeee ffff")
	lay := func(text string) []string { return wrapText(text, 30, 0) }
	for lines, want := range map[int]string{1: "aaaa, bbbb and 4 more kinds", 2: "aaaa, bbbb, cccc, dddd, eeee,\nffff"} {
		if got := strings.Join(shortenList(items, "kind", len(items), lines, lay), "\n"); got != want {
			t.Errorf("%d lines: %q, want %q", lines, got, want)
		}
	}
}
