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

// compareRefs is the order of all lists in the output.
func compareRefs(a, b report.Ref) int { return object.Compare(object.Ref(a), object.Ref(b)) }

// namespaces returns the common namespace of objects. If there is none, several is true and a table
// needs a column for it.
func namespaces[T any](items []T, ref func(*T) report.Ref) (one string, several bool) {
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

// plural returns "1 kind", "3 kinds".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// unique sorts a list and removes duplicates.
func unique[T cmp.Ordered](list []T) []T {
	slices.Sort(list)
	return slices.Compact(list)
}
