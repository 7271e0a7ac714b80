package private

import "fmt"

// DamageError says that a file is not what was written.
type DamageError struct {
	File string
	// Line is counted from 1; 0 when the whole file is meant.
	Line int
	Why  string
}

// Error names the file, the line and what is wrong.
func (e *DamageError) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Why
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Why)
}
