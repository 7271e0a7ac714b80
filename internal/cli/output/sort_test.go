package output

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// item is a row of a test.
type item struct {
	Name   string   `json:"name,omitempty"`
	Count  int      `json:"count"`
	Inner  *item    `json:"inner,omitempty"`
	Gone   bool     `json:"gone"`
	Things []string `json:"things"`
	place  int
}

func TestSortRows(t *testing.T) {
	rows := []item{{Name: "b", Count: 10}, {Name: "a", Count: 9, Gone: true}, {Count: 9, Inner: &item{Name: "x"}}}
	for field, want := range map[string]string{
		".name": " a b", "{.name}": " a b", "name": " a b", ".count": "a  b", ".inner.name": "b a ", ".gone": "b  a",
	} {
		sorted := slices.Clone(rows)
		if err := sortRows(sorted, field); err != nil {
			t.Fatalf("%s: %v", field, err)
		}
		var names []string
		for _, r := range sorted {
			names = append(names, r.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %q, want %q", field, got, want)
		}
	}
	for field, want := range map[string]string{
		".nothing": "no row has such a field", ".things": "no row has such a field", ".inner": "it is a list or an object", "{.name": "unexpected path", "a b": "unrecognized identifier", "{.a[}": "unterminated array",
	} {
		if err := sortRows(slices.Clone(rows), field); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", field, err, want)
		}
	}
	if err := sortRows([]item{}, ".nothing"); err != nil {
		t.Errorf("no rows: %v", err)
	}
}

// TestSortRowsKeepsAll: sorting changes only the order, and is stable.
func TestSortRowsKeepsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counts := rapid.SliceOfN(rapid.IntRange(-3, 3), 1, 20).Draw(t, "counts")
		rows := make([]item, len(counts))
		for i, n := range counts {
			rows[i] = item{Count: n, place: i}
		}
		if err := sortRows(rows, ".count"); err != nil {
			t.Fatal(err)
		}
		seen := map[int]bool{}
		for i, r := range rows {
			seen[r.place] = true
			if counts[r.place] != r.Count {
				t.Fatalf("row %d was changed", r.place)
			}
			if i > 0 && (rows[i-1].Count > r.Count || rows[i-1].Count == r.Count && rows[i-1].place > r.place) {
				t.Fatalf("%v is not sorted", rows)
			}
		}
		if len(seen) != len(counts) {
			t.Fatalf("%d of %d rows are left", len(seen), len(counts))
		}
	})
}
