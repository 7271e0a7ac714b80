package differential

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

func table(t *testing.T, tally map[string]int, took time.Duration) {
	t.Helper()
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(tally)) {
		fmt.Fprintf(&b, "%-20s %6d\n", k, tally[k])
	}
	t.Logf("in %s\n%s", took.Round(time.Second), b.String())
}
