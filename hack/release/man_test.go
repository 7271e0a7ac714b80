package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// macros are what manual pages are written in: each is known to groff and to mandoc.
var macros = []string{".EE", ".EX", ".PP", ".SH", ".TH", ".TP", ".nh"}

var seeAlso = regexp.MustCompile(`\\fB([a-z-]+)\(1\)\\fP`)

// TestManPages: they are in a form that every formatter shows, bear no date, and name
// pages that exist. (`groff -man -ww -z` finds nothing in them, either.)
func TestManPages(t *testing.T) {
	pages, err := manPages()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for file := range pages {
		names = append(names, strings.TrimSuffix(file, ".1"))
	}
	if !slices.Contains(names, "kubectl-gc") || !slices.Contains(names, "kubectl-gc-dry-run-delete") {
		t.Fatalf("the pages are %v", names)
	}
	for _, name := range names {
		for _, problem := range manProblems(name, string(pages[name+".1"]), names) {
			t.Errorf("%s: %s", name, problem)
		}
	}
	for _, bad := range []string{
		"", ".TH \"X\" \"1\" \"Nov 2026\" \"a\" \"b\"\n.SH NAME\n", manHead + "'quote\n", manHead + ".XX\n", manHead + "…\n", manHead + `\fBkubectl-gc-no(1)\fP`,
	} {
		if len(manProblems("x", bad, names)) == 0 {
			t.Errorf("nothing is wrong with %q", bad)
		}
	}
}

const manHead = ".nh\n.TH \"X\" \"1\" \"\" \"kubectl-gc\" \"kubectl gc\"\n"

func manProblems(name, text string, names []string) []string {
	var bad []string
	if !strings.HasPrefix(text, strings.Replace(manHead, "X", strings.ToUpper(name), 1)) {
		bad = append(bad, "it does not begin with its name and no date")
	}
	for line := range strings.Lines(text) {
		macro, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case strings.HasPrefix(line, "'"), strings.HasPrefix(line, ".") && !slices.Contains(macros, macro):
			bad = append(bad, "a line that is taken for a macro: "+line)
		case strings.ContainsFunc(line, func(r rune) bool { return r > '~' }):
			bad = append(bad, "letters that not every formatter reads: "+line)
		}
	}
	for _, other := range seeAlso.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(names, other[1]) {
			bad = append(bad, "there is no page "+other[1])
		}
	}
	return bad
}
