package draw

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var colour = regexp.MustCompile(`--([a-z-]+): #([0-9a-f]{6});`)

// themes returns the colours of the style sheet, light and dark.
func themes(t *testing.T) map[string]map[string]string {
	t.Helper()
	text, err := os.ReadFile("web/src/colours.css")
	if err != nil {
		t.Fatal(err)
	}
	light, dark, found := strings.Cut(string(text), "prefers-color-scheme: dark")
	if !found {
		t.Fatal("the style sheet has no dark theme")
	}
	all := map[string]map[string]string{"light": {}, "dark": {}}
	for name, part := range map[string]string{"light": light, "dark": dark} {
		for _, m := range colour.FindAllStringSubmatch(part, -1) {
			all[name][m[1]] = m[2]
		}
	}
	return all
}

// Both themes are readable: text has the contrast that WCAG AA requires for text, borders and marks
// that for non-text.
func TestContrastOfPage(t *testing.T) {
	if c := contrast(t, "#000000", "#ffffff"); c != 21 {
		t.Fatalf("black on white is %v", c)
	}
	for name, theme := range themes(t) {
		check := func(front, back string, least float64) {
			if theme[front] == "" || theme[back] == "" {
				t.Errorf("%s: no colour for %s on %s", name, front, back)
			} else if c := contrast(t, "#"+theme[front], "#"+theme[back]); c < least {
				t.Errorf("%s: %s on %s is %.2f, want %.1f", name, front, back, c, least)
			}
		}
		for _, ground := range []string{"ground", "panel", "raised", "area", "accent-soft"} {
			check("text", ground, 4.5)
			check("muted", ground, 4.5)
		}
		check("accent", "panel", 4.5)
		check("accent", "ground", 4.5)
		check("accent", "accent-soft", 4.5)
		check("unknown", "ground", 4.5) // what is not certain
		check("ground", "accent", 4.5)  // the number of folded objects
		for _, look := range []string{"deleted", "blocked", "orphaned", "pruned", "kept", "unknown", "being-deleted", "waiting", "absent", "unseen", "plain"} {
			check("text", look+"-fill", 4.5)
			check("muted", look+"-fill", 4.5)
			check(look, look+"-fill", 3)
			check(look, "area", 3)
			if look != "plain" {
				check(look, "panel", 4.5) // the verdict
			}
		}
	}
}
