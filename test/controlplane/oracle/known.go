package oracle

import "slices"

// defect is something that is known to be wrong and not put right yet. What is in this
// list is counted and does not fail the test; whoever puts it right takes it out.
type defect struct {
	what string
	is   func(*trial, violation) bool
}

var known []defect

// sort takes the known defects out of what went wrong.
func (t *trial) sort() {
	t.wrong = slices.DeleteFunc(t.wrong, func(v violation) bool {
		for _, d := range known {
			if d.is(t, v) {
				t.known = append(t.known, d.what)
				return !*strict
			}
		}
		return false
	})
}
