package diagnose

import "testing"

// TestSentences: every code of Stuck has its sentence.
func TestSentences(t *testing.T) {
	for _, c := range StuckCodes() {
		if sentences[c.Code] == nil {
			t.Errorf("%s has no sentence", c.Code)
		}
	}
	if len(sentences) != len(StuckCodes()) {
		t.Errorf("%d sentences for %d codes", len(sentences), len(StuckCodes()))
	}
}
