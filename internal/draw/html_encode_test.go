package draw

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// UnmarshalJSON reads the JSON of a page.
func (l *sparse[T]) UnmarshalJSON(text []byte) error {
	var byNumber map[int]T
	if err := json.Unmarshal(text, &byNumber); err != nil {
		return err
	}
	*l = nil
	for _, number := range slices.Sorted(maps.Keys(byNumber)) {
		l.add(number, byNumber[number])
	}
	return nil
}

// The values are an object with their numbers as keys.
func TestSparseIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.MapOf(rapid.IntRange(0, 1_200), rapid.String()).Draw(t, "values")
		list := sparse[string]{}
		for _, number := range slices.Sorted(maps.Keys(values)) {
			list.add(number, values[number])
		}
		text, err := jsonv2.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		got := map[int]string{}
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(values, got); d != "" {
			t.Error(d)
		}
	})
}
