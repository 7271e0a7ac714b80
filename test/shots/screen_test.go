package shots

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestScreen(t *testing.T) {
	red, boldRed := Look{Colour: "red"}, Look{Colour: "red", Bold: true}
	for _, row := range []struct {
		name, text string
		want       []Line
	}{
		{"plain", "a\nb\n", []Line{{{Text: "a"}}, {{Text: "b"}}}},
		{"of a terminal", "a\r\n\r\nb", []Line{{{Text: "a"}}, {}, {{Text: "b"}}}},
		{"colour", "a \x1b[31mre\x1b[0mb", []Line{{{Text: "a "}, {red, "re"}, {Text: "b"}}}},
		{"more than one", "\x1b[1;31mx\x1b[my", []Line{{{boldRed, "x"}, {Text: "y"}}}},
		{"one after the other", "\x1b[31m\x1b[1mx\x1b[22my\x1b[39mz", []Line{{{boldRed, "x"}, {red, "y"}, {Text: "z"}}}},
		{"over the edge", "\x1b[31mabcdef\x1b[0mg", []Line{{{red, "abcde"}}, {{red, "f"}, {Text: "g"}}}},
		{"progress", "\r\x1b[K1 of 2\r\x1b[K2 of 2\r\x1b[Kdone", []Line{{{Text: "done"}}}},
		{"wide letters", "abc漢字", []Line{{{Text: "abc漢"}}, {{Text: "字"}}}},
		{"over lines", "\x1b[31ma\nb", []Line{{{red, "a"}}, {{red, "b"}}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			const columns = 5
			got, err := Screen(row.text, columns)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	for _, bad := range []string{"\x1b[2J", "\x1b]0;title\x07", "a\x07", "\x1b[38;5;1mx", "\x1b[31", "\x1b[xm"} {
		if lines, err := Screen(bad, 80); err == nil {
			t.Errorf("%q is shown as %v", bad, lines)
		}
	}
}

// TestHostileText: what comes from a cluster is text in a picture, whatever it says.
func TestHostileText(t *testing.T) {
	for _, text := range []string{`</text><script>alert(1)</script>`, `" onload="x`, "]]>&amp;\u202e", "\xff\ufffe", "</style>"} {
		svg := Shot{Title: text, Spoken: text, Lines: []Line{{{Look{Colour: "red"}, text}}}, Columns: 80}.SVG()
		wellFormed(t, svg)
		if bytes.Contains(svg, []byte("<script")) {
			t.Errorf("%s", svg)
		}
	}
}

// TestContrast: every colour of text can be read on its ground (WCAG AA).
func TestContrast(t *testing.T) {
	for name, p := range map[string]Palette{"light": Light, "dark": Dark} {
		for _, ground := range []string{p.Ground, p.Bar} {
			for _, c := range append([]string{p.Text, p.Faint}, p.Colours[:]...) {
				const least = 4.5
				if ratio := contrast(t, c, ground); ratio < least {
					t.Errorf("%s: %s on %s has a contrast of %.2f", name, c, ground, ratio)
				}
			}
		}
	}
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	la, lb := luminance(t, a), luminance(t, b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

// luminance is the relative luminance of WCAG 2.
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(strings.TrimPrefix(colour, "#"), 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v := float64(n>>(16-8*i)&0xff) / 0xff
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += weight * v
	}
	return sum
}
