package reason

import (
	"regexp"
	"strings"
	"testing"
)

// TestMeanings: every code is a word that scripts can compare, and says something.
func TestMeanings(t *testing.T) {
	word := regexp.MustCompile(`^[A-Z][A-Za-z]+$`)
	for _, f := range Families() {
		texts := map[string]bool{}
		for i := range f.Meanings {
			m := &f.Meanings[i]
			if !word.MatchString(string(m.Code)) || f.Rank(m.Code) != i {
				t.Errorf("%s: the code %q is not CamelCase, or is there twice", f.Title, m.Code)
			}
			if s := m.Sentence(); !strings.HasSuffix(s, ".") || texts[s] {
				t.Errorf("%s: %q is not a sentence of its own", m.Code, s)
			}
			texts[m.Sentence()] = true
			if f.Graded() && m.Severity == "" {
				t.Errorf("%s: a finding without a severity", m.Code)
			}
		}
	}
}

// TestOutcomes: no reason of an outcome reaches people as a bare code, and each fits
// into a column.
func TestOutcomes(t *testing.T) {
	for _, f := range outcomes {
		for _, m := range f.Meanings {
			if s := Short(string(m.Code)); s != m.Short || s == "" || len(s) > 72 {
				t.Errorf("%s: %q does not fit into a table", m.Code, s)
			}
		}
	}
	if got := Short("NoSuchReason"); got != "NoSuchReason" {
		t.Errorf("an unknown code became %q", got)
	}
}

// TestOneMeaning: where two families share a meaning, it is the same one.
func TestOneMeaning(t *testing.T) {
	apart := map[Code]bool{
		OwnerUnknown: true, VolumeUnknown: true, OwnerCycle: true, LeaseRenewed: true, LeaseExpired: true,
		Requested: true, OwnerGone: true, OwnerNamespaceMismatch: true, AccountGone: true, NodeGone: true,
	}
	seen := map[Code]Meaning{}
	differ := map[Code]bool{}
	for _, f := range Families() {
		for _, m := range f.Meanings {
			if other, ok := seen[m.Code]; ok && other != m {
				differ[m.Code] = true
				if !apart[m.Code] {
					t.Errorf("%s means %q and %q", m.Code, other.Sentence(), m.Sentence())
				}
			}
			seen[m.Code] = m
		}
	}
	for code := range apart {
		if !differ[code] {
			t.Errorf("%s has one meaning", code)
		}
	}
}
