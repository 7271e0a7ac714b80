package scenario

import (
	"testing"

	"pgregory.net/rapid"
)

// CheckUntil checks a property as rapid.Check does, and again with other draws until
// met says that the case it is about was among them. A rare case is not met in each
// hundred draws; one that is not met in a thousand is not tested, which is a failure.
func CheckUntil(t *testing.T, met func() bool, property func(*rapid.T)) {
	t.Helper()
	for range 10 {
		rapid.Check(t, property)
		if met() {
			return
		}
	}
	t.Error("what this property is about was never drawn: it says nothing")
}
