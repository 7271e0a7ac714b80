package render

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

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
		if got := strings.Join(shortenList(items, "kind", lines, lay), "\n"); got != want {
			t.Errorf("%d lines: %q, want %q", lines, got, want)
		}
	}
}
