package object

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// things are the names by number; a removed one has none.
type things []string

func (t things) nameOf(n uint32) string { return t[n] }

// TestPropertyIndex compares an index with a map under random operations, in a table so small that
// names collide.
func TestPropertyIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := SizedIndex(rapid.IntRange(0, 40).Draw(t, "expected"))
		names := things{}
		model, lost := map[string]uint32{}, 0
		some := rapid.Custom(func(t *rapid.T) string { return strconv.Itoa(rapid.IntRange(0, 60).Draw(t, "name")) })
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				name := some.Draw(t, "name")
				model[name] = uint32(len(names))
				names = append(names, name)
				x.Put(name, model[name], names.nameOf)
			},
			"take": func(t *rapid.T) {
				name := some.Draw(t, "name")
				want, there := model[name]
				delete(model, name)
				if got, ok := x.Take(name, names.nameOf); got != want || ok != there {
					t.Fatalf("took %d, %v of %s, want %d, %v", got, ok, name, want, there)
				}
			},
			"lose": func(t *rapid.T) {
				name := some.Draw(t, "name")
				if n, ok := model[name]; ok {
					names[n] = "" // which nobody asks for
					delete(model, name)
					lost++
				}
			},
			"clone": func(*rapid.T) {
				left := x
				x = x.Clone()
				for name := range model {
					left.Take(name, names.nameOf)
				}
			},
			"renumber": func(*rapid.T) {
				moved := make(things, len(names))
				to := func(n uint32) (uint32, bool) {
					there, ok := model[names[n]]
					return uint32(len(names)) - 1 - n, ok && there == n
				}
				for i, name := range names {
					n, _ := to(uint32(i))
					moved[n] = name
				}
				x.Renumber(len(model), to)
				lost = 0
				for name, n := range model {
					model[name] = uint32(len(names)) - 1 - n
				}
				names = moved
			},
			"": func(t *rapid.T) {
				if x.Len() != len(model)+lost {
					t.Fatalf("%d names, want %d", x.Len(), len(model)+lost)
				}
				for i := range 61 {
					name := strconv.Itoa(i)
					want, there := model[name]
					if got, ok := x.Find(name, names.nameOf); got != want || ok != there {
						t.Fatalf("found %d, %v of %s, want %d, %v", got, ok, name, want, there)
					}
				}
			},
		})
	})
}

// About twenty of these names share their hash with another one.
func TestNamesOfOneHash(t *testing.T) {
	const n = 400_000
	names := make(things, n)
	var x Index
	for i := range names {
		names[i] = strconv.Itoa(i)
		x.Put(names[i], uint32(i), names.nameOf)
	}
	for i, name := range names {
		if got, ok := x.Find(name, names.nameOf); !ok || got != uint32(i) {
			t.Fatalf("found %d, %v of %s", got, ok, name)
		}
	}
}

func BenchmarkFind(b *testing.B) {
	const benchSize = 1_000_000
	names := make(things, benchSize)
	x := SizedIndex(benchSize)
	for i := range names {
		names[i] = "00000000-0000-4000-8000-" + strconv.Itoa(benchSize+i)
		x.Put(names[i], uint32(i), names.nameOf)
	}
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		if n, ok := x.Find(names[i], names.nameOf); !ok || n != uint32(i) {
			b.Fatal(n, ok)
		}
		i = (i + 7919) % benchSize
	}
}
