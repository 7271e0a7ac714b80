package render

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

// TestSpan: a waiting time is written like an age in kubectl.
func TestSpan(t *testing.T) {
	const longest = 20 * 365 * 24 * time.Hour
	for d := time.Duration(0); d < longest; d += max(time.Second, d/5000).Truncate(time.Second) {
		seconds := int(d / time.Second)
		if got, want := ageText(&seconds), duration.HumanDuration(d); got != want {
			t.Fatalf("%v: %s, not %s", d, got, want)
		}
	}
	if got := ageText(nil); got != "" {
		t.Errorf("not known: %q", got)
	}
}
