package evidence

import (
	"maps"
	"slices"
)

// Sight is the completeness of a list.
type Sight struct {
	// Whole is true if every object of the part was read: an object that was not read does not
	// exist.
	Whole bool
	// Why is why the list is missing or incomplete. It is empty if Whole.
	Why string
}

// NotRead is the reason for a part that was never read.
const NotRead = "it was not read"

// Mark records the completeness of a part in a namespace, or everywhere if it is empty. An empty
// reason means complete. An incomplete part never becomes complete again.
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

// Sight returns the completeness of a part in a namespace, or in all namespaces if it is empty. A
// nil World has read nothing.
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

// Whole reports whether all the parts are complete everywhere. Otherwise it returns the first part
// that is not, and why.
func (w *World) Whole(parts ...Part) (ok bool, first Part, why string) {
	for _, p := range parts {
		if s := w.Sight(p, ""); !s.Whole {
			return false, p, s.Why
		}
	}
	return true, "", ""
}

// keys returns the keys of a map, sorted.
func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
