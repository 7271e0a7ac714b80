package usage

import (
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

func sameLetters(a, b string) bool {
	x, y := []rune(a), []rune(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// DidYouMean returns the end of a message with suggestions.
func DidYouMean(near []string) string {
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(near, " or ") + "?"
}

// Nearest returns up to three candidates that start with word, or that differ from it only by a few
// letters or their order.
func Nearest(word string, candidates []string) []string {
	type scored struct {
		text     string
		distance int
	}
	var near []scored
	for _, c := range candidates {
		d := levenshtein.ComputeDistance(word, c)
		if d > 0 && sameLetters(word, c) {
			d = 0
		}
		if d <= max(1, len(word)/4) || len(word) >= 3 && strings.HasPrefix(c, word) {
			near = append(near, scored{c, d})
		}
	}
	slices.SortFunc(near, func(a, b scored) int {
		if a.distance != b.distance {
			return a.distance - b.distance
		}
		return strings.Compare(a.text, b.text)
	})
	var texts []string
	for _, n := range near {
		if !slices.Contains(texts, n.text) && len(texts) < 3 {
			texts = append(texts, n.text)
		}
	}
	return texts
}
