package manifest

import "testing"

// TestFieldsFit: every annotation has a bit of its own.
func TestFieldsFit(t *testing.T) {
	seen := hasFinalizerAnnotation - 1
	for key, f := range protectionKeys {
		if f >= hasFinalizerAnnotation && seen&f != 0 || f == 0 {
			t.Errorf("%s has no bit", key)
		}
		seen |= f
	}
}
