package faults

import (
	"slices"
	"testing"
)

// row is one fault: what is done to the collector, and what has to hold. Beyond
// that the oracle has nothing to say about any row.
type row struct {
	id, done, holds string
	test            func(t *testing.T)
}

// rows are all faults.
var rows = slices.Concat(absence, discovery, lists, watched, writes, promises, rivals)

func TestFaults(t *testing.T) {
	for _, r := range rows {
		t.Run(r.id, func(t *testing.T) {
			t.Parallel()
			t.Logf("%s: %s", r.done, r.holds)
			r.test(t)
		})
	}
}
