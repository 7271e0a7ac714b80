package diagnose

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// TestSentences: every code has a sentence.
func TestSentences(t *testing.T) {
	for _, c := range reason.Stuck.Meanings {
		if sentences[c.Code] == nil {
			t.Errorf("%s has no sentence", c.Code)
		}
	}
	if len(sentences) != len(reason.Stuck.Meanings) {
		t.Errorf("%d sentences for %d codes", len(sentences), len(reason.Stuck.Meanings))
	}
}
