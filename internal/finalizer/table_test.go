package finalizer_test

import (
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
)

// asked is the required minimum size of the table, without Kubernetes itself.
const asked = 120

func TestTable(t *testing.T) {
	seen, others := map[string]bool{}, 0
	for _, field := range finalizer.Fields() {
		if field.Name == "" || len(field.Finalizers) == 0 {
			t.Errorf("a part of the table says nothing: %q", field.Name)
		}
		for _, k := range field.Finalizers {
			if seen[k.Name] {
				t.Errorf("%s is there twice", k.Name)
			}
			seen[k.Name] = true
			for _, problem := range validation.IsQualifiedName(strings.ReplaceAll(k.Name, "*", "x")) {
				t.Errorf("%s is no finalizer: %s", k.Name, problem)
			}
			if field.Name != "Kubernetes" {
				others++
			}
		}
	}
	if others < asked {
		t.Errorf("only %d finalizers of others than Kubernetes are known", others)
	}
	if all := finalizer.Table(); len(all) != len(seen) {
		t.Errorf("the table has %d finalizers, its parts %d", len(all), len(seen))
	}
}

// TestEveryEntryIsFound: no entry hides another. Each is found by its own name, and no name may
// match two patterns.
func TestEveryEntryIsFound(t *testing.T) {
	all := finalizer.Table()
	for _, k := range all {
		for _, text := range []string{"x", "some-thing", "x.y", ""} {
			name := strings.ReplaceAll(k.Name, "*", text)
			found, ok := finalizer.Of(name)
			if !ok || found.Name != k.Name && found.Name != name {
				t.Errorf("%s: %s is found as %q", k.Name, name, found.Name)
			}
		}
	}
	for _, a := range all {
		for _, b := range all {
			if a.Name != b.Name && strings.Contains(b.Name, "*") && pattern(a.Name).MatchString(b.Name) {
				t.Errorf("%s hides %s", a.Name, b.Name)
			}
		}
	}
}

// pattern returns a name of the table as a regular expression.
func pattern(name string) *regexp.Regexp {
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(name), `\*`, ".*") + "$")
}

// TestOf: a name is found if, and only if, an entry matches it.
func TestOf(t *testing.T) {
	all := finalizer.Table()
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.SampledFrom(all).Draw(t, "entry")
		name := rapid.SampledFrom([]string{"", "x", "not-"}).Draw(t, "before") +
			strings.ReplaceAll(k.Name, "*", rapid.StringMatching(`[a-z./-]{0,8}`).Draw(t, "text")) +
			rapid.SampledFrom([]string{"", "x", "/y", ".z"}).Draw(t, "after")
		fits := false
		for _, k := range all {
			fits = fits || pattern(k.Name).MatchString(name)
		}
		found, ok := finalizer.Of(name)
		if ok != fits {
			t.Fatalf("%q is known: %t, should be: %t", name, ok, fits)
		}
		if ok && !pattern(found.Name).MatchString(name) {
			t.Fatalf("%q is found as %q", name, found.Name)
		}
	})
}

// TestSentences: the texts of a finalizer fit into sentences: "R would remove it, W. Without it:
// L.", "R (removed W)", "what may stay behind: L".
func TestSentences(t *testing.T) {
	plain := regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9 ,.:'()/&-]*[A-Za-z0-9)]$`)
	vowel := regexp.MustCompile(`\b[Aa] [aeiou]`)
	for _, k := range finalizer.Table() {
		for what, text := range map[string]string{"on": k.On, "removed by": k.RemovedBy, "when": k.When, "without": k.Without} {
			if !plain.MatchString(text) || strings.Contains(text, "  ") || len(text) > 140 {
				t.Errorf("%s: %s: %q is no plain part of a sentence", k.Name, what, text)
			}
			if at := vowel.FindString(text); at != "" && !strings.HasSuffix(at, "u") {
				t.Errorf("%s: %s: %q has %q", k.Name, what, text, at)
			}
		}
		if !strings.HasPrefix(k.When, "when ") && !strings.HasPrefix(k.When, "by hand, when ") {
			t.Errorf("%s: %q does not say when", k.Name, k.When)
		}
		for _, start := range []string{"when ", "if ", "it ", "they "} {
			if strings.HasPrefix(k.Without, start) {
				t.Errorf("%s: what is lost is not named: %q", k.Name, k.Without)
			}
		}
		switch k.Class {
		case finalizer.Collector, finalizer.Protection, finalizer.Cleanup, finalizer.Operator:
		case finalizer.Cloud:
			if strings.HasPrefix(k.Without, "nothing") {
				t.Errorf("%s: nothing may stay behind, and yet it is the last pointer to something", k.Name)
			}
		default:
			t.Errorf("%s: class %q", k.Name, k.Class)
		}
	}
}
