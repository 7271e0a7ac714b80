package object_test

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// TestWaveBy: Argo CD reads the wave first, and the weight of a hook of Helm if that is no number.
func TestWaveBy(t *testing.T) {
	for _, tt := range []struct {
		wave, weight string
		want         int32
	}{{"5", "1", 5}, {"-2", "", -2}, {"", "3", 3}, {"x", "3", 3}, {"0", "3", 0}, {"", "", 0}} {
		if got := object.WaveBy(tt.wave, tt.weight); got != tt.want {
			t.Errorf("%q, %q: %d, want %d", tt.wave, tt.weight, got, tt.want)
		}
	}
}
