package report_test

import (
	"strings"
	"testing"
	"unicode"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// TestShellWord: whatever the text, a shell reads it as one word, which is the text.
func TestShellWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Of control characters the parser has its own idea.
		text := rapid.StringOf(rapid.RuneFrom([]rune("\t\n !$&*'\"\\"), unicode.PrintRanges...)).Draw(t, "text")
		var parsed []*syntax.Word
		for word, err := range syntax.NewParser().WordsSeq(strings.NewReader(report.ShellWord(text))) {
			if err != nil {
				t.Fatal(err)
			}
			parsed = append(parsed, word)
		}
		words, err := expand.Fields(nil, parsed...)
		if err != nil {
			t.Fatal(err)
		}
		if len(words) != 1 || words[0] != text {
			t.Fatalf("%q is %q, read as %q", text, report.ShellWord(text), words)
		}
	})
	for text, want := range map[string]string{
		"": "''", "web-1": "web-1", "a=b": "a=b", "=ls": "'=ls'", "a!b": "'a!b'", "a'b": `'a'\''b'`, "ü": "'ü'", "^a^b": "'^a^b'",
	} {
		if got := report.ShellWord(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
