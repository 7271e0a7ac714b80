package engine

import (
	"regexp"
	"strings"
	"testing"
)

var (
	reasonName = regexp.MustCompile(`^[A-Z][A-Za-z]+$`)
	sentence   = regexp.MustCompile(`^[A-Z].*[a-z]\.$`)
)

// Every reason has a name that scripts can compare and one sentence for people.
func TestReasons(t *testing.T) {
	all := Reasons()
	if len(all) != int(Contended) {
		t.Fatalf("%d reasons are listed, the last one is number %d", len(all), Contended)
	}
	names, texts := map[string]bool{}, map[string]bool{}
	for _, r := range all {
		if !reasonName.MatchString(r.String()) || names[r.String()] {
			t.Errorf("reason %d: the name %q is not CamelCase or not its own", r, r)
		}
		if !sentence.MatchString(r.Text()) || strings.Contains(r.Text(), ". ") || texts[r.Text()] {
			t.Errorf("%s: the text %q is not one sentence of its own", r, r.Text())
		}
		names[r.String()], texts[r.Text()] = true, true
	}
	if NoReason.String() != "" || NoReason.Text() != "" {
		t.Error("no reason says something")
	}
}

func TestWords(t *testing.T) {
	for got, want := range map[string]string{
		Upstream.String(): "upstream", Strict.String(): "strict",
		DeleteWork.String(): "delete", OrphanWork.String(): "orphan",
		Background.String(): "Background", ForegroundPolicy.String(): "Foreground", OrphanPolicy.String(): "Orphan",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
