package draw

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// groupedWords describes how much of a picture is counted, and where the rest is.
func groupedWords(counted, objects int) string {
	return fmt.Sprintf("%d of %d objects are counted in groups; what is remarkable has its own box first. -o html opens groups, -o json lists every object.", counted, objects)
}

// leftWords describes what a page does not contain.
func leftWords(counted, objects int) string {
	return fmt.Sprintf("%d of %d objects are only counted in this page. kubectl gc graph KIND/NAME -o html shows an object with all that is below it, -o json lists every object.", counted, objects)
}

// kindsWords returns the kind of a group of several kinds.
func kindsWords(kinds int) string { return strconv.Itoa(kinds) + " more kinds" }

// words describes the content of a group: its descendants and problems.
func (g *group) words() []string {
	var words []string
	if len(g.below) > 0 {
		words = append(words, "below: "+g.kinds())
	}
	for _, l := range looks() {
		if n := g.looks[l]; n > 0 && !unremarkable(l) {
			words = append(words, strconv.Itoa(n)+" "+word(l))
		}
	}
	if g.dangling > 0 {
		words = append(words, strconv.Itoa(g.dangling)+" with a dangling reference")
	}
	return words
}

// mostBelow is the number of kinds below a group that are named.
const mostBelow = 2

// kinds returns the kinds below a group, the most frequent first.
func (g *group) kinds() string {
	kinds := slices.SortedFunc(maps.Keys(g.below), func(a, b string) int { return cmp.Or(g.below[b]-g.below[a], cmp.Compare(a, b)) })
	words, more := []string{}, 0
	for i, kind := range kinds {
		if i < mostBelow || len(kinds) == mostBelow+1 {
			words = append(words, times(kind, g.below[kind]))
		} else {
			more += g.below[kind]
		}
	}
	if more > 0 {
		words = append(words, strconv.Itoa(more)+" more")
	}
	return strings.Join(words, ", ")
}

// times returns "Pod ×48", or "Pod" for one.
func times(kind string, n int) string {
	if n == 1 {
		return kind
	}
	return kind + " ×" + strconv.Itoa(n)
}

// groupNote returns the text below the name of a group.
func groupNote(x *figure) string {
	words := x.group.words()
	if x.note != "" {
		words = append([]string{x.note}, words...)
	}
	return strings.Join(words, ", ")
}
