package evidence

import (
	"maps"
	"slices"
)

// Sight says whether a part was read whole.
type Sight struct {
	// Whole tells that every object of the part is there: one that is not does not
	// exist.
	Whole bool
	// Why says why it was not read, or not all of it; empty when it is whole.
	Why string
}

// NotRead is what is said of a part of which nothing is known.
const NotRead = "it was not read"

// Mark says how far a part was read in a namespace, or with an empty one
// everywhere. An empty reason says: it is whole. What is once said to be broken does
// not become whole again.
func (w *World) Mark(p Part, namespace, why string) {
	if w.sights == nil {
		w.sights = map[Part]map[string]Sight{}
	}
	if w.sights[p] == nil {
		w.sights[p] = map[string]Sight{}
	}
	if have, ok := w.sights[p][namespace]; ok && !have.Whole {
		return
	}
	w.sights[p][namespace] = Sight{Whole: why == "", Why: why}
	if first, some := w.broken[p]; why != "" && namespace != "" && (!some || namespace < first) {
		if w.broken == nil {
			w.broken = map[Part]string{}
		}
		w.broken[p] = namespace
	}
}

// Sight tells how far a part was read in a namespace. An empty namespace asks for
// all of them. A nil World has read nothing.
func (w *World) Sight(p Part, namespace string) Sight {
	if w == nil {
		return Sight{Why: NotRead}
	}
	places := w.sights[p]
	all, everywhere := places[""]
	if namespace == "" {
		if first, some := w.broken[p]; some {
			return places[first]
		}
	} else if here, ok := places[namespace]; ok && (!here.Whole || !everywhere || !all.Whole) {
		return here
	}
	if !everywhere {
		return Sight{Why: NotRead}
	}
	return all
}

// Whole reports whether all the parts were read everywhere; with the first that was
// not, and why.
func (w *World) Whole(parts ...Part) (ok bool, first Part, why string) {
	for _, p := range parts {
		if s := w.Sight(p, ""); !s.Whole {
			return false, p, s.Why
		}
	}
	return true, "", ""
}

// keys are the keys of a map, sorted.
func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
