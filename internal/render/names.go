package render

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// lower returns the lower-case text. Invalid UTF-8 is returned unchanged, since strings.ToLower
// would replace its bytes.
func lower(text string) string {
	if !utf8.ValidString(text) {
		return text
	}
	return strings.ToLower(text)
}

// namespaces returns the common namespace of objects. If there is none, several is true and a table
// needs a column for it.
func namespaces[T any](items []T, ref func(*T) object.Ref) (one string, several bool) {
	for i := range items {
		ns := ref(&items[i]).Namespace
		if i == 0 {
			one = ns
		} else if ns != one {
			return "", true
		}
	}
	return one, false
}

// enumerate returns "a, b and c", or "a, b and 3 more" if of exceeds the number of names.
func enumerate(names []string, of int) string {
	if of > len(names) {
		if len(names) == 0 {
			return strconv.Itoa(of)
		}
		return strings.Join(names, ", ") + " and " + strconv.Itoa(of-len(names)) + " more"
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0]
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// firstOf names the first few of many elements.
func firstOf[T any](list []T, most int, name func(T) string) string {
	return enumerate(object.Mapped(list[:min(len(list), most)], name), len(list))
}

// groups are values by key, in the order in which their keys were added first.
type groups[K comparable, V any] struct {
	keys []K
	of   map[K][]V
}

func (g *groups[K, V]) add(key K, value V) {
	if g.of == nil {
		g.of = map[K][]V{}
	}
	if g.of[key] == nil {
		g.keys = append(g.keys, key)
	}
	g.of[key] = append(g.of[key], value)
}

// unique sorts a list and removes duplicates.
func unique[T cmp.Ordered](list []T) []T {
	slices.Sort(list)
	return slices.Compact(list)
}

const (
	// maxNames is the number of objects that are named among many.
	maxNames = 3
	// maxKindCounts is the number of kinds that are counted among many.
	maxKindCounts = 4
)

// summarizeRefs summarizes objects: counts by kind, namespace and some names. It names as many as
// fit into room columns, and at least one.
func (s Style) summarizeRefs(refs []object.Ref, room int) string {
	if len(refs) == 1 {
		return subjectPlace(s, refs[0])
	}
	where, one := namespacePhrase(s, refs)
	names := make([]string, min(len(refs), maxNames))
	for i := range names {
		switch r := refs[i]; {
		case r.Name == "" && r.UID == "":
			names[i] = subjectName(s, r)
		case one:
			names[i] = s.name(r)
		default:
			names[i] = s.namespacedName(r)
		}
	}
	if len(refs) == len(names) {
		return strings.Join(names, ", ") + where
	}
	for {
		text := s.countKinds(byKind(refs), maxKindCounts) + where + " (" + strings.Join(names, ", ") + ", " + s.pick("…", "...") + ")"
		if len(names) == 1 || width(text) <= room {
			return text
		}
		names = names[:len(names)-1]
	}
}

// refOrCounts returns the object if it is one, else counts by kind.
func (s Style) refOrCounts(refs []object.Ref) string {
	if len(refs) == 1 {
		return subjectPlace(s, refs[0])
	}
	return s.countKinds(byKind(refs), 1)
}

// namespacePhrase returns the namespaces of objects. one reports that all are in one namespace or
// all are cluster-scoped.
func namespacePhrase(s Style, refs []object.Ref) (text string, one bool) {
	spaces := object.SetOf(refs, func(r object.Ref) string { return r.Namespace })
	delete(spaces, "")
	switch {
	case len(spaces) == 1 && !slices.ContainsFunc(refs, func(r object.Ref) bool { return r.Namespace == "" }):
		return " in namespace " + s.text(refs[0].Namespace), true
	case len(spaces) > maxNames:
		return " in " + strconv.Itoa(len(spaces)) + " namespaces", false
	}
	return "", len(spaces) == 0
}

// byKind counts objects by kind, regardless of version.
func byKind(refs []object.Ref) []report.KindCount {
	var alike groups[string, object.Ref]
	for _, r := range refs {
		alike.add(object.KubectlKind(r.APIVersion, r.Kind), r)
	}
	return object.Mapped(alike.keys, func(kind string) report.KindCount {
		of := alike.of[kind]
		return report.KindCount{APIVersion: of[0].APIVersion, Kind: of[0].Kind, Count: len(of)}
	})
}

// countKinds returns "4 Pods, 2 PVCs, 1 Secret", the largest count first.
func (s Style) countKinds(counts []report.KindCount, most int) string {
	sorted := slices.Clone(counts)
	slices.SortStableFunc(sorted, func(a, b report.KindCount) int { return cmp.Compare(b.Count, a.Count) })
	shown := sorted[:min(len(sorted), most)]
	parts := make([]string, 0, len(shown)+1)
	for _, k := range shown {
		parts = append(parts, countOf(s, k.Count, k.APIVersion, k.Kind))
	}
	if left := len(sorted) - len(shown); left > 0 {
		parts = append(parts, report.Plural(left, "other kind"))
	}
	return strings.Join(parts, ", ")
}
