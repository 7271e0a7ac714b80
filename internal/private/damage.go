package private

import "fmt"

// DamageError reports that a file differs from what was written.
type DamageError struct {
	File string
	// Line is counted from 1; 0 for the whole file.
	Line int
	Why  string
}

// Error names the file, the line and the damage.
func (e *DamageError) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Why
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Why)
}
