package stuck

import "testing"

// TestSentences: every code has its sentence.
func TestSentences(t *testing.T) {
	for _, c := range Codes() {
		if sentences[c.Code] == nil {
			t.Errorf("%s has no sentence", c.Code)
		}
	}
	if len(sentences) != len(Codes()) {
		t.Errorf("%d sentences for %d codes", len(sentences), len(Codes()))
	}
}
