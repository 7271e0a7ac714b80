package render

import (
	"slices"
	"sort"
	"strings"
)

// clauseLines is the number of lines that a text may always take, so that its last clause stays
// whole.
const clauseLines = 3

// leastHead is the minimum number of words before the gap.
const leastHead = 3

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
		for _, least := range []int{first, leastHead} { // the whole first clause, or its beginning
			for _, from := range starts {
				if n := longest(min(least, from-1), from-1, func(n int) bool { return len(lay(s.gap(words[:n], words[from:]))) <= most }); n > 0 {
					return lay(s.gap(words[:n], words[from:]))
				}
			}
		}
	}
	// There is no clause, or it is too long: keep as many words of the end as of the beginning.
	both := func(n int) []string { return lay(s.gap(words[:n], words[len(words)-n:])) }
	if n := longest(1, len(words)/2, func(n int) bool { return len(both(n)) <= max(lines, 1) }); n > 0 {
		return both(n)
	}
	return lay(text)[:max(lines, 1)]
}

// longest returns the greatest number from least to most that fits. If a number fits, all smaller
// ones must fit. It returns 0 if none fits.
func longest(least, most int, fits func(int) bool) int {
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

// gap joins the beginning and the end of a text. It closes a parenthesis or colour that is open at
// the gap.
func (s Style) gap(head, tail []string) string {
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

// shortenList fits a list into at most lines lines. The rest is counted with its noun: "1 Pod, 2
// Secrets and 7 more kinds".
func shortenList(items []string, noun string, lines int, lay func(string) []string) []string {
	for n := len(items); n > 1; n-- {
		text := strings.Join(items[:n], ", ")
		if left := len(items) - n; left > 0 {
			text += " and " + plural(left, "more "+noun)
		}
		if laid := lay(text); len(laid) <= lines {
			return laid
		}
	}
	return lay(enumerate(items[:1], len(items)))
}
