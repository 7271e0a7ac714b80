package engine

import (
	"testing"
)

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
