package render

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// inertWords is prose that was made visible, for Markdown: words that could mean
// something to it, or to the code host that shows it, become code. That is where neither
// mark-up nor links, mentions and numbers of issues are looked for.
func inertWords(shown string) string {
	if plainWords(shown) {
		return shown
	}
	words := strings.Split(shown, " ")
	for i, word := range words {
		if word != "" && !plainWord(word) {
			words[i] = inertName(word)
		}
	}
	// Blanks at an end, and several in a row, are not shown; nothing hangs on them.
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}

func plainWords(shown string) bool {
	if strings.HasPrefix(shown, " ") || strings.HasSuffix(shown, " ") || strings.Contains(shown, "  ") {
		return false
	}
	for word := range strings.SplitSeq(shown, " ") {
		if word != "" && !plainWord(word) {
			return false
		}
	}
	return true
}

// plainWord reports whether a word is nothing but a word: made of letters, digits and the
// signs of sentences, and not like an address, the number of a list, an emoji, a commit,
// or the key of an issue.
func plainWord(word string) bool {
	for _, r := range word {
		if r < utf8.RuneSelf && !letter(r) && !digit(r) && !strings.ContainsRune(`.,;:'"()/-?=`, r) {
			return false
		}
	}
	low := strings.ToLower(word)
	if strings.Contains(low, "://") || strings.Contains(low, "www.") || strings.Contains(low, "mailto:") || strings.Count(word, ":") > 1 {
		return false
	}
	bare := strings.Trim(word, `.,;:'"()/-?=`)
	return bare != "" && !commit(bare) && !issueKey(bare) && !listNumber(word)
}

func letter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }
func digit(r rune) bool  { return '0' <= r && r <= '9' }

// commit reports whether a word may be the hash of one.
func commit(word string) bool {
	const shortest = 7
	return len(word) >= shortest && strings.Trim(word, "0123456789abcdefABCDEF") == ""
}

// issueKey reports whether a word is like GH-12.
func issueKey(word string) bool {
	key, number, found := strings.Cut(word, "-")
	return found && number != "" && strings.Trim(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZgh") == "" && digit(rune(number[0]))
}

// listNumber reports whether a word at the beginning of a line would begin a list.
func listNumber(word string) bool {
	rest := strings.TrimLeft(word, "0123456789")
	return rest != word && (rest == "." || rest == ")")
}

// inertName is a name that was made visible, as code. Where that needs signs that end
// code or the cell of a table, all signs become entities.
func inertName(shown string) string {
	if shown == "" {
		return ""
	}
	if !strings.ContainsAny(shown, "`|\\") && shown == strings.Trim(shown, " ") {
		return "`" + shown + "`"
	}
	var b strings.Builder
	b.WriteString("<code>")
	for _, r := range shown {
		if r >= utf8.RuneSelf || letter(r) || digit(r) {
			b.WriteRune(r)
		} else {
			b.WriteString("&#" + strconv.Itoa(int(r)) + ";")
		}
	}
	b.WriteString("</code>")
	return b.String()
}
