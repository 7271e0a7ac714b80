package apisim

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// TestPropertyStore compares a store with maps under random puts, drops and lookups: single names,
// rows of names at a fixed step like an owner's dependents, and stores that share content.
func TestPropertyStore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		st := newStore()
		shelf := st.shelfOf(object.Pod.GroupResource())
		model := map[string]*object.Object{}
		const names = 120
		nameOf := func(i int) string { return fmt.Sprintf("%03d", i) }
		put := func(name string) {
			o := &object.Object{Ref: object.Ref{Namespace: "n", Name: name}}
			model[name] = o
			st.put(shelf, "n", 0, o)
		}
		drop := func(name string) {
			delete(model, name)
			st.drop(shelf, "n", name)
		}
		row := func(t *rapid.T, each func(name string)) {
			step := rapid.IntRange(-9, 9).Filter(func(n int) bool { return n != 0 }).Draw(t, "step")
			for i := rapid.IntRange(0, names-1).Draw(t, "first"); i >= 0 && i < names; i += step {
				each(nameOf(i))
			}
		}
		some := rapid.Custom(func(t *rapid.T) string { return nameOf(rapid.IntRange(0, names-1).Draw(t, "name")) })
		found := func(t *rapid.T, name string) {
			if got := st.find(shelf, "n", name); got != model[name] {
				t.Fatalf("found %v under %s, want %v", got, name, model[name])
			}
		}
		for i := range rapid.IntRange(0, names).Draw(t, "at first") {
			put(nameOf(i)) // as a snapshot does
		}
		t.Repeat(map[string]func(*rapid.T){
			"put":      func(t *rapid.T) { put(some.Draw(t, "put")) },
			"drop":     func(t *rapid.T) { drop(some.Draw(t, "drop")) },
			"find":     func(t *rapid.T) { found(t, some.Draw(t, "find")) },
			"put row":  func(t *rapid.T) { row(t, put) },
			"find row": func(t *rapid.T) { row(t, func(name string) { found(t, name) }) },
			"drop row": func(t *rapid.T) {
				row(t, func(name string) {
					found(t, name)
					drop(name)
				})
			},
			"share": func(t *rapid.T) {
				left := st
				st = left.share()
				for _, name := range slices.Sorted(maps.Keys(model)) {
					if rapid.Bool().Draw(t, "left") {
						left.drop(shelf, "n", name)
					}
				}
			},
			"": func(t *rapid.T) {
				want := slices.Sorted(maps.Keys(model))
				var got []string
				for _, o := range st.in(shelf, "n", all) {
					got = append(got, o.Name)
				}
				if !slices.Equal(got, want) {
					t.Fatalf("%v is in the store, want %v", got, want)
				}
			},
		})
	})
}
