package arch

import (
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every number that is cited has its heading or its row in the specification: in these pages, or in
// the page about faults.
const (
	specification = "docs/spec/"
	faults        = "docs/faults.md"
)

// number is a citation: a section, or a letter with the digits that docs/spec/README.md
// gives it. What follows is no letter and no digit, so that S3, a storage, and U+00A0 are
// none; L01_endpoint_gone is one.
var number = regexp.MustCompile(`§ ?\d+(?:\.\d+)*|\b(?:S\d{3}|[QIUW]\d{1,2}|[LNX]\d{2})(?:\b|_)`)

// heading and row are what a number can lead to. Scenarios are a list in docs/spec/coverage.md.
var (
	heading = regexp.MustCompile(`(?m)^#+ (§\d+(?:\.\d+)*)(?: |$)`)
	row     = regexp.MustCompile(`(?m)^\| (S\d{3}|[QIUW]\d{1,2}|[LNX]\d{2}) \||^- (S\d{3}):`)
)

// page is the name of a document. In a comment it has to be one of this repository.
var page = regexp.MustCompile(`[\w./-]*\b[\w-]+\.md\b|\bshared/[\w/]+`)

// text is a file in which numbers are cited: the comments of a Go file, all of another.
type text struct {
	path  string
	lines []string
	// comment are the lines that are comments of a program.
	comment bool
}

// written is the part of a file that cites.
func written(name, content string) text {
	if path.Ext(name) != ".go" {
		return text{path: name, lines: strings.Split(content, "\n")}
	}
	lines := make([]string, strings.Count(content, "\n")+1)
	files := token.NewFileSet()
	file := files.AddFile(name, -1, len(content))
	var s scanner.Scanner
	s.Init(file, []byte(content), nil, scanner.ScanComments)
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			return text{path: name, lines: lines, comment: true}
		}
		if tok != token.COMMENT {
			continue
		}
		for i, line := range strings.Split(literal, "\n") {
			lines[file.Line(pos)-1+i] += line
		}
	}
}

// anchors are the numbers that the specification has, with how often.
func anchors(pages []string) map[string]int {
	have := map[string]int{}
	for _, p := range pages {
		for _, m := range append(heading.FindAllStringSubmatch(p, -1), row.FindAllStringSubmatch(p, -1)...) {
			have[strings.Join(m[1:], "")]++
		}
	}
	return have
}

// leadNowhere reports numbers that the specification does not have, or has twice, and in
// comments documents that the repository does not have.
func leadNowhere(texts []text, have map[string]int, documents []string) []string {
	var bad []string
	for _, t := range texts {
		for i, line := range t.lines {
			for _, n := range number.FindAllString(line, -1) {
				if n = strings.TrimSuffix(strings.ReplaceAll(n, " ", ""), "_"); have[n] != 1 {
					bad = append(bad, fmt.Sprintf("%s:%d: %s has %d places in %s, not one", t.path, i+1, n, have[n], specification))
				}
			}
			if !t.comment {
				continue
			}
			for _, d := range page.FindAllString(line, -1) {
				if !slices.Contains(documents, d) {
					bad = append(bad, fmt.Sprintf("%s:%d: %s is not in the repository", t.path, i+1, d))
				}
			}
		}
	}
	return bad
}

// numbersPrinted reports numbers in what the program may print: they are for whoever reads
// the code, and a user has no use for them.
func numbersPrinted(sources []source) []string {
	var bad []string
	for _, s := range sources {
		if s.isTest() || !s.in("internal") && !s.in("cmd") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				if found := number.FindString(literal.Value); found != "" {
					bad = append(bad, s.at(literal)+": "+found+" in a text that the program may print")
				}
			}
			return true
		})
	}
	return bad
}

// cites are the extensions of files that are read for numbers; without one only test
// data is. Pictures and recorded documents cite nothing.
var cites = []string{".go", ".md", ".mk", ".sh", ".tpl", ".tsv", ".txt", ".txtar", ".yaml", ".yml"}

// TestCitations: every number that is cited anywhere has its place in docs/spec.
func TestCitations(t *testing.T) {
	root := os.DirFS("../..")
	var texts []text
	var pages, documents []string
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case d.IsDir() && (name == ".git" || name == "bin" || name == "dist" || base == "node_modules" || base == "fuzz"):
			return fs.SkipDir
		case d.IsDir():
			return nil
		case !slices.Contains(cites, path.Ext(name)) && (path.Ext(name) != "" || !strings.Contains(name, "/testdata/")):
			return nil
		}
		content, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		if strings.HasPrefix(name, specification) || name == faults {
			pages = append(pages, string(content))
		}
		if path.Ext(name) == ".md" {
			documents = append(documents, name, path.Base(name))
		}
		texts = append(texts, written(name, string(content)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	have := anchors(pages)
	if len(have) < 300 {
		t.Fatalf("only %d numbers in %s", len(have), specification)
	}
	for _, violation := range leadNowhere(texts, have, documents) {
		t.Error(violation)
	}
}

// TestCitationsCanFail tries the rule on texts that cite what there is and what there is
// not.
func TestCitationsCanFail(t *testing.T) {
	have := anchors([]string{"# §2 One\n\n### §2.6 Two\n\n| # | what |\n|---|---|\n| S104 | a |\n| Q4 | b |\n| L01 | c, as S999 |\n| Q7 | d |\n| Q7 | e |\n"})
	documents := []string{"docs/faults.md", "faults.md"}
	for _, s := range []sample{
		{"a.go", "package a\n\n// F follows §2.7.\nfunc F() {}"},
		{"a.go", "package a\n\nvar x = 1 // the end of it (S105)"},
		{"a.go", "package a\n\n/* one\n   I5 */"},
		{"a.go", "package a\n\n// See semantics.md.\nvar x = 1"},
		{"a.go", "package a\n\n// See shared/design/house.\nvar x = 1"},
		{"docs/a.md", "from §2.6 to §3"},
		{"testdata/a.txt", "# that is Q5\n"},
		{"testdata/a.txt", "# that is Q7\n"},
		{"docs/a.md", "| `L02_gone` | x |"},
		{"docs/a.md", "S104–S999"},
	} {
		if len(leadNowhere([]text{written(s.path, s.text)}, have, documents)) == 0 {
			t.Errorf("accepted %s: %q", s.path, s.text)
		}
	}
	for _, s := range []sample{
		{"a.go", "package a\n\n// F follows §2.6 D3, S104 and Q4: see faults.md and docs/faults.md.\nfunc F() {}"},
		{"a.go", "package a\n\nvar x = \"S105\""},
		{"a.go", "package a\n\n// An S3 bucket, I/O, U+00A0, W3C, L1 and X509 are none.\nvar x = 1"},
		{"docs/a.md", "| `L01_gone` | in §2 and § 2.6, S104. |"},
	} {
		for _, violation := range leadNowhere([]text{written(s.path, s.text)}, have, documents) {
			t.Errorf("refused %s", violation)
		}
	}
}
