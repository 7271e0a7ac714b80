package arch

import (
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// word is a word that texts for users no longer use, and what replaces it.
type word struct {
	old     *regexp.Regexp
	instead string
}

// oldToUsers are in no text that a user reads: literals of the program, and pages. Words of the code
// are in vocabulary_test.go.
var oldToUsers = []word{
	{regexp.MustCompile(`\bfor ever\b`), "forever"},
	{regexp.MustCompile(`\b[Rr]emovers?\b`), "its controller, the controller that removes it"},
	{regexp.MustCompile(`\bc[oa]mes? to (rest|its end)\b`), "settles, finishes"},
	{regexp.MustCompile(`\bin the place of its\b`), "removes the finalizer; the operator's own clean-up is skipped"},
	{regexp.MustCompile(`\bthe very plan\b|\bthis very request\b`), "plan digest, immediately"},
	{regexp.MustCompile(`\bcannot be meant\b`), "usage error"},
	{regexp.MustCompile(`\bonly it knows\b`), "unknown to this tool"},
	{regexp.MustCompile(`\bnobody can be asked\b`), "no terminal"},
	{regexp.MustCompile(`\bwhat is in none\b`), "cluster-scoped objects"},
	{regexp.MustCompile(`\bNoSign\b`), "NoProblemFound"},
	{regexp.MustCompile(`\bfuse\b|\bblown\b`), "safety limit, tripped"},
	{regexp.MustCompile(`\bfates?\b`), "outcome"},
	{regexp.MustCompile(`\bsolid owners?\b`), "existing owner"},
	{regexp.MustCompile(`\bblocks deletion in the foreground\b`), "blocks its owner's foreground delete"},
	{regexp.MustCompile(`\banother controller than\b`), "a controller other than"},
	{regexp.MustCompile(`--quarantine\b`), "--absent-owner-grace-period"},
}

// oldWords reports words that were replaced in what the program says.
func oldWords(sources []source) []string {
	var bad []string
	for _, s := range sources {
		if s.isTest() || !s.in("internal") && !s.in("cmd") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if n, ok := n.(*ast.BasicLit); ok && n.Kind == token.STRING {
				if text, err := strconv.Unquote(n.Value); err == nil {
					bad = append(bad, found(s.at(n), text, oldToUsers)...)
				}
			}
			return true
		})
	}
	return bad
}

func found(at, text string, words []word) []string {
	var bad []string
	for _, w := range words {
		if m := w.old.FindString(text); m != "" {
			bad = append(bad, at+": "+strconv.Quote(m)+": say "+w.instead)
		}
	}
	return bad
}

// TestPagesSayItPlainly tries the pages that users read. The changelog names what was
// renamed, decisions keep the words of their day, and the specification those of the
// source that it describes.
func TestPagesSayItPlainly(t *testing.T) {
	root := os.DirFS("../..")
	pages := 0
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := path.Base(name); d.IsDir() {
			if base == "node_modules" || base == "testdata" || strings.HasPrefix(base, ".") && name != "." || name == "docs/adr" || name == "docs/spec" || name == "bin" {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".md" || name == "CHANGELOG.md" {
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		pages++
		for i, line := range strings.Split(string(text), "\n") {
			for _, problem := range found(name+":"+strconv.Itoa(i+1), line, oldToUsers) {
				t.Error(problem)
			}
		}
		return nil
	})
	if err != nil || pages < 50 {
		t.Fatalf("%d pages, error %v", pages, err)
	}
	if len(found("x", "held for ever by its remover", oldToUsers)) != 2 {
		t.Error("old words are not seen")
	}
}
