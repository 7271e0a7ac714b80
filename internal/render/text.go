package render

import (
	"bufio"
	"slices"
	"strings"
)

// wrapText breaks text at blanks into lines of at most room columns; lines after the first have
// hang columns less. A longer word is broken at the end of the line. There is always at least one
// line.
func wrapText(text string, room, hang int) []string {
	if room <= 0 || width(text) <= room {
		return []string{text}
	}
	var lines []string
	line, used := "", 0
	least := min(room, leastCell)
	next := func() {
		room, hang = max(room-hang, least), 0
	}
	for word := range strings.SplitSeq(text, " ") {
		n := width(word)
		if used > 0 && used+1+n <= room {
			line, used = line+" "+word, used+1+n
			continue
		}
		if used > 0 {
			lines = append(lines, line)
			next()
		}
		for n > room {
			head := prefixOf(word, room)
			lines = append(lines, head)
			next()
			word = word[len(head):]
			n = width(word)
		}
		line, used = word, n
	}
	if used > 0 || len(lines) == 0 {
		lines = append(lines, line)
	}
	return lines
}

// prefixOf returns the longest prefix that fits, and at least one character.
func prefixOf(s string, room int) string {
	used := 0
	for i, r := range s {
		used += measure.RuneWidth(r)
		if used > room && i > 0 {
			return s[:i]
		}
	}
	return s
}

// suffixOf returns the longest suffix that fits.
func suffixOf(s string, room int) string {
	runes := []rune(s)
	used := 0
	for i, r := range slices.Backward(runes) {
		used += measure.RuneWidth(r)
		if used > room {
			return string(runes[i+1:])
		}
	}
	return s
}

// cutMiddle shortens s to room columns by leaving out its middle: generated names differ mostly at
// their ends.
func cutMiddle(s string, room int, style Style) string {
	if width(s) <= room {
		return s
	}
	mark := style.pick("…", "...")
	left := room - width(mark)
	if left < 2 {
		return prefixOf(s, room)
	}
	return prefixOf(s, left-left/2) + mark + suffixOf(s, left/2)
}

// writer writes lines of text. Its first error sticks, as bufio.Writer's does, and done returns it.
type writer struct {
	*bufio.Writer
	style Style
	err   error
}

func (w *writer) done() error {
	if w.err != nil {
		return w.err
	}
	return w.Flush()
}

// line writes one line without trailing blanks.
func (w *writer) line(parts ...string) {
	w.WriteString(strings.TrimRight(strings.Join(parts, ""), " "))
	w.WriteByte('\n')
}

// prose writes wrapped text. Lines after the first are indented by indent; the first one by the
// leading blanks of the text.
func (w *writer) prose(text string, indent int) {
	rest := strings.TrimLeft(text, " ")
	lead := text[:len(text)-len(rest)]
	room := w.style.limit()
	if room > 0 {
		room = max(room, leastCell+indent) - len(lead)
	}
	for i, line := range wrapText(rest, room, indent-len(lead)) {
		if i > 0 {
			lead = strings.Repeat(" ", indent)
		}
		w.line(lead, line)
	}
}

// table writes a table.
func (w *writer) table(t *table) {
	if w.err == nil {
		w.err = t.write(w.Writer, w.style)
	}
}

// fitted writes a table within the terminal width even in wide output, where it has one object a
// row.
func (w *writer) fitted(t *table) {
	s := w.style
	s.Wide = false
	if w.err == nil {
		w.err = t.write(w.Writer, s)
	}
}
