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

// lower is the lower-case text. Text that is not UTF-8 keeps its bytes, which
// strings.ToLower would replace, all by the same character.
func lower(text string) string {
	if !utf8.ValidString(text) {
		return text
	}
	return strings.ToLower(text)
}

// compareRefs is the order of every list that users see.
func compareRefs(a, b report.Ref) int { return object.Compare(object.Ref(a), object.Ref(b)) }

// namespaces tells which namespace the objects are in. If they are not all in
// one, several is true and a table needs a column for it.
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

// enumerate is "a, b and c", or "a, b and 3 more" when of is greater than the
// number of names given.
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

// plural is "1 kind", "3 kinds".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// unique sorts and removes what is there twice.
func unique[T cmp.Ordered](list []T) []T {
	slices.Sort(list)
	return slices.Compact(list)
}
