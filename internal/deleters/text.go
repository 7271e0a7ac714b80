package deleters

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// mostSaid is how many items of a list are printed.
const mostSaid = 5

// few shortens a long list.
func few(list []string) []string {
	if n := len(list); n > mostSaid {
		return append(list[:mostSaid:mostSaid], fmt.Sprintf("and %d more", n-mostSaid))
	}
	return list
}

// once removes duplicates.
func once(list []string) []string {
	said := map[string]bool{}
	return slices.DeleteFunc(list, func(line string) bool {
		again := said[line]
		said[line] = true
		return again
	})
}

// plain returns a line that is safe for a terminal. The kinds and names of owners and the messages
// of webhooks are free text, which may contain line breaks and escape sequences.
func plain(line string) string {
	var b strings.Builder
	for _, r := range line {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}
