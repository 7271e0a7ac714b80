// Package extent says how much the tests try: as much as every change needs, or all of
// it, which takes hours. docs/testing.md says what is tried when.
package extent

import "os"

// Variable is the variable of the environment that asks for everything, with the value
// [Everything]. `make test-all` sets it.
const (
	Variable   = "KUBECTL_GC_TEST"
	Everything = "all"
)

// All reports whether everything is tried.
func All() bool { return os.Getenv(Variable) == Everything }

// Of is how many of something are tried: so many for a change, and so many when
// everything is.
func Of(change, everything int) int {
	if All() {
		return everything
	}
	return change
}
