package render

import (
	"bufio"
	"bytes"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// noBreak is a space at which wrapText does not break a line. In its result, it is a plain space.
const noBreak = "\u00a0"

// wrapText breaks text at blanks into lines of at most room columns; lines after the first have
// hang columns less. A longer word is broken at the end of the line, but a command never is. There is
// always at least one line.
func wrapText(text string, room, hang int) []string {
	if room <= 0 || width(text) <= room {
		return []string{strings.ReplaceAll(text, noBreak, " ")}
	}
	var lines []string
	line, used := "", 0
	least := min(room, minCell)
	next := func() {
		room, hang = max(room-hang, least), 0
	}
	for word := range strings.SplitSeq(text, " ") {
		command := strings.Contains(word, noBreak)
		word = strings.ReplaceAll(word, noBreak, " ")
		n := width(word)
		if used > 0 && used+1+n <= room {
			line, used = line+" "+word, used+1+n
			continue
		}
		if used > 0 {
			lines = append(lines, line)
			next()
		}
		for n > room && !command {
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
		room = max(room, minCell+indent) - len(lead)
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

// titled writes a blank line, a title if there is one, and a table. It writes nothing if the table
// has no rows.
func (w *writer) titled(title string, t *table) {
	if len(t.rows) == 0 {
		return
	}
	if w.line(); title != "" {
		w.prose(title, 2)
		w.line()
	}
	w.table(t)
}

// linesOf returns the lines that write writes.
func linesOf(s Style, write func(*writer)) []string {
	var b bytes.Buffer
	w := &writer{Writer: bufio.NewWriter(&b), style: s}
	write(w)
	if w.done() != nil || b.Len() == 0 { // writing to memory does not fail
		return nil
	}
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

// shortProse writes prose in at most most lines, shortened if necessary.
func (w *writer) shortProse(most int, text string, indent int) {
	lay := func(text string) []string {
		return linesOf(w.style, func(x *writer) { x.prose(text, indent) })
	}
	if w.style.Wide {
		w.prose(text, indent)
		return
	}
	lead := text[:len(text)-len(strings.TrimLeft(text, " "))]
	w.lines(w.style.shorten(text[len(lead):], most, func(text string) []string { return lay(lead + text) }))
}

// lines writes finished lines.
func (w *writer) lines(list []string) {
	for _, line := range list {
		w.line(line)
	}
}

// command writes a command to paste, on a line of its own that is never wrapped.
func (w *writer) command(indent string, r report.Remedy) { w.line(indent, w.style.text(r.Command)) }

// nameInNamespace returns the object with its namespace.
func (s Style) nameInNamespace(r object.Ref) string {
	if r.Namespace == "" {
		return s.name(r)
	}
	return s.name(r) + " in namespace " + s.text(r.Namespace)
}

// clauseLines is the number of lines that a text may always take, so that its last clause stays
// whole.
const clauseLines = 3

// minHead is the minimum number of words before the gap.
const minHead = 3

// shorten fits a text into at most lines lines, laid out by lay. It leaves out words in the middle:
// the start of a message says what it is about, and its last clause why.
//
//	cannot be deleted: conversion webhook for v1, Kind=Certificate failed: Post "https://…": service "hook" not found
//	cannot be deleted: conversion webhook for v1 … service "hook" not found
//
// A last clause that is too long for that takes up to clauseLines lines.
func (s Style) shorten(text string, lines int, lay func(string) []string) []string {
	laid := lay(text)
	if len(laid) <= lines {
		return laid
	}
	words := strings.Split(text, " ")
	first, starts := clauses(words)
	for most := max(lines, 1); len(starts) > 0 && most <= max(lines, clauseLines); most++ {
		if len(laid) <= most {
			return laid
		}
		for _, least := range []int{first, minHead} { // the whole first clause, or its beginning
			for _, from := range starts {
				if n := maxFitting(min(least, from-1), from-1, func(n int) bool { return len(lay(s.joinAroundGap(words[:n], words[from:]))) <= most }); n > 0 {
					return lay(s.joinAroundGap(words[:n], words[from:]))
				}
			}
		}
	}
	// There is no clause, or it is too long: keep as many words of the end as of the beginning.
	both := func(n int) []string { return lay(s.joinAroundGap(words[:n], words[len(words)-n:])) }
	if n := maxFitting(1, len(words)/2, func(n int) bool { return len(both(n)) <= max(lines, 1) }); n > 0 {
		return both(n)
	}
	return lay(text)[:max(lines, 1)]
}

// maxFitting returns the greatest number from least to most that fits. If a number fits, all smaller
// ones must fit. It returns 0 if none fits.
func maxFitting(least, most int, fits func(int) bool) int {
	if least < 1 || most < least {
		return 0
	}
	n := sort.Search(most-least+1, func(i int) bool { return !fits(least + i) })
	if n == 0 {
		return 0
	}
	return least + n - 1
}

// clauses returns the indexes of words that start a clause, after ": " or "; ": those in the second
// half of the text, and the last one. first is the start of the second clause.
func clauses(words []string) (first int, starts []int) {
	for i, word := range words[1:] {
		if before := words[i]; word != "" && (strings.HasSuffix(before, ":") || strings.HasSuffix(before, ";")) {
			starts = append(starts, i+1)
		}
	}
	if len(starts) == 0 {
		return 0, nil
	}
	first, last := starts[0], starts[len(starts)-1]
	return first, slices.DeleteFunc(starts, func(i int) bool { return i < len(words)/2 && i != last })
}

// joinAroundGap joins the beginning and the end of a text. It closes a parenthesis or colour that
// is open at the gap.
func (s Style) joinAroundGap(head, tail []string) string {
	text := strings.TrimRight(strings.Join(head, " "), ",;:")
	mark := " " + s.pick("…", "...")
	if open := strings.LastIndex(text, " ("); open > strings.LastIndex(text, ")") {
		mark += ")"
	}
	if last := strings.LastIndex(text, "\x1b["); last >= 0 && !strings.HasPrefix(text[last:], "\x1b[0m") {
		mark += "\x1b[0m"
	}
	return text + mark + " " + strings.Join(tail, " ")
}

// shortenList fits the first of a list, at most most, into at most lines lines. The rest is counted with its
// noun, if there is one: "1 Pod, 2 Secrets and 7 more kinds". The first item is shown whole.
func shortenList(items []string, noun string, most, lines int, lay func(string) []string) []string {
	for n := min(len(items), most); n > 1; n-- {
		text := strings.Join(items[:n], ", ")
		switch left := len(items) - n; {
		case left > 0 && noun != "":
			text += " and " + report.Plural(left, "more "+noun)
		case left > 0:
			text += " and " + strconv.Itoa(left) + " more"
		}
		if laid := lay(text); len(laid) <= lines {
			return laid
		}
	}
	return lay(enumerate(items[:1], len(items)))
}
