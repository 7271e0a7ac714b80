package scenario

import (
	"flag"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// CheckUntil checks a property as rapid.Check does, and again with other draws until
// met says that the case it is about was among them. A rare case is not met in each
// hundred draws; one that is not met in a thousand is not tested, which is a failure.
func CheckUntil(t *testing.T, met func() bool, property func(*rapid.T)) {
	t.Helper()
	seed := flag.Lookup("rapid.seed").Value
	given := seed.String()
	defer func() {
		if err := seed.Set(given); err != nil {
			t.Error(err)
		}
	}()
	for round := range uint64(10) {
		// With a seed given, every round would draw the same.
		if first, err := strconv.ParseUint(given, 0, 64); err != nil {
			t.Fatal(err)
		} else if first != 0 {
			if err := seed.Set(strconv.FormatUint(first+round, 10)); err != nil {
				t.Fatal(err)
			}
		}
		rapid.Check(t, property)
		if met() {
			return
		}
	}
	t.Error("what this property is about was never drawn: it says nothing")
}
