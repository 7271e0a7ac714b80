package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"
	table "github.com/yuin/goldmark/extension/ast"
)

const (
	promisesOfReadme = "What it promises"
	promisesOfSafety = "Promises"
)

// TestPromises: each sentence of what the README promises stands word for word in the
// table of docs/safety.md, and each row there names the tests that fail if it does not
// hold.
func TestPromises(t *testing.T) {
	all := pages(t)
	page := func(name string) page {
		return all[slices.IndexFunc(all, func(p page) bool { return p.Path == name })]
	}
	for _, problem := range promiseProblems(page("README.md"), page("docs/safety.md"), fileBelowDocs) {
		t.Error(problem)
	}
}

func fileBelowDocs(name string) (string, bool) {
	text, err := os.ReadFile(filepath.Join(root, "docs", filepath.FromSlash(name)))
	return string(text), err == nil
}

// promiseProblems are the sentences without a row, and the rows without a test; read
// is the text of a file, named as from docs/safety.md.
func promiseProblems(readme, safety page, read func(string) (string, bool)) []string {
	sentences, rows := readme.sentences(promisesOfReadme), safety.rows(promisesOfSafety)
	var bad []string
	if len(sentences) == 0 || len(rows) == 0 {
		bad = append(bad, fmt.Sprintf("%d sentences below %q, %d rows below %q", len(sentences), promisesOfReadme, len(rows), promisesOfSafety))
	}
	for _, s := range sentences {
		if !slices.ContainsFunc(rows, func(cells []ast.Node) bool { return safety.plain(cells[0]) == s }) {
			bad = append(bad, fmt.Sprintf("%s promises what has no row in %s: %s", readme.Path, safety.Path, s))
		}
	}
	for _, cells := range rows {
		named := 0
		visit(cells[len(cells)-1], func(n ast.Node) {
			switch n := n.(type) {
			case *ast.Link:
				named++
				if problem := noTest(safety.plain(n), string(n.Destination), read); problem != "" {
					bad = append(bad, fmt.Sprintf("%s: %s: %s", safety.Path, safety.plain(cells[0]), problem))
				}
			case *ast.CodeSpan:
				if n.Parent().Kind() != ast.KindLink {
					bad = append(bad, fmt.Sprintf("%s: %#q is no link to a test", safety.Path, safety.plain(n)))
				}
			}
		})
		if named == 0 {
			bad = append(bad, fmt.Sprintf("%s: no test fails if it does not hold: %s", safety.Path, safety.plain(cells[0])))
		}
	}
	return bad
}

// noTest says why a link is to no test of this name: a function, a script, or a row of
// a page whose rows are tests.
func noTest(name, to string, read func(string) (string, bool)) string {
	file, _, _ := strings.Cut(to, "#")
	text, there := read(file)
	switch {
	case !there:
		return "no file " + to
	case strings.HasSuffix(file, "_test.go"):
		if !regexp.MustCompile(`(?m)^func ` + regexp.QuoteMeta(name) + `\(\w+ \*testing\.[TF]\)`).MatchString(text) {
			return "no function " + name + " in " + file
		}
	case strings.HasSuffix(file, ".txtar"):
		if !strings.HasSuffix(file, "/"+name) {
			return name + " is not " + file
		}
	case !regexp.MustCompile("(?m)^\\| .*`" + regexp.QuoteMeta(name) + "`.*\\|$").MatchString(text):
		return "no row " + name + " in " + file
	}
	return ""
}

// sentences are those of the lists below a heading, without marks.
func (p page) sentences(heading string) []string {
	var found []string
	for _, n := range p.below(heading) {
		visit(n, func(n ast.Node) {
			if n.Kind() != ast.KindTextBlock {
				return
			}
			for rest := p.plain(n); rest != ""; {
				end := strings.Index(rest, ". ")
				if end < 0 {
					found = append(found, rest)
					return
				}
				found, rest = append(found, rest[:end+1]), rest[end+2:]
			}
		})
	}
	return found
}

// rows are the cells of the tables below a heading, without their heads.
func (p page) rows(heading string) [][]ast.Node {
	var found [][]ast.Node
	for _, n := range p.below(heading) {
		visit(n, func(n ast.Node) {
			if n.Kind() != table.KindTableRow {
				return
			}
			var cells []ast.Node
			for c := n.FirstChild(); c != nil; c = c.NextSibling() {
				cells = append(cells, c)
			}
			found = append(found, cells)
		})
	}
	return found
}

// below is what stands under a heading, up to the next one.
func (p page) below(heading string) []ast.Node {
	var found []ast.Node
	p.Walk(func(n ast.Node) {
		if n.Kind() != ast.KindHeading || p.plain(n) != heading {
			return
		}
		for n = n.NextSibling(); n != nil && n.Kind() != ast.KindHeading; n = n.NextSibling() {
			found = append(found, n)
		}
	})
	return found
}

// plain is the text of a node on one line, without marks.
func (p page) plain(n ast.Node) string {
	return strings.Join(strings.Fields(string(p.textOf(n))), " ")
}

func visit(n ast.Node, do func(ast.Node)) {
	do(n)
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		visit(c, do)
	}
}

// TestPromisesCanFail breaks the table in each way.
func TestPromisesCanFail(t *testing.T) {
	const readme = "## What it promises\n\n- **It is so.** And `a.b` so,\n  too.\n\nMore.\n\n## Else\n\n- Not this.\n"
	read := func(name string) (string, bool) {
		text, ok := map[string]string{
			"../a_test.go": "\nfunc TestA(t *testing.T) {\n}\n", "../s/a.txtar": "", "faults.md": "\n| L01 | y | `L01_x` |\n",
		}[name]
		return text, ok
	}
	const head = "# Promises\n\n| promise | how | test |\n|---|---|---|\n"
	const good = "| **It is so.** | h | [`TestA`](../a_test.go), [`a.txtar`](../s/a.txtar) |\n"
	const too = "| And `a.b` so, too. | h | [`L01_x`](faults.md#rows) |\n"
	for name, row := range map[string]struct{ table, want string }{
		"it holds":        {good + too, ""},
		"a sentence less": {good, "And a.b so, too."},
		"other words":     {good + strings.Replace(too, "so,", "thus,", 1), "And a.b so, too."},
		"no test":         {good + too + "| More. | h | by care |\n", "no test fails"},
		"no such test":    {good + strings.ReplaceAll(too, "L01_x", "L02_x"), "no row L02_x"},
		"no function":     {strings.ReplaceAll(good, "TestA", "TestB") + too, "no function TestB"},
		"no file":         {strings.ReplaceAll(good, "a_test.go", "b_test.go") + too, "no file ../b_test.go"},
		"another script":  {strings.ReplaceAll(good, "`a.txtar`", "`b.txtar`") + too, "b.txtar is not"},
		"only a name":     {good + strings.ReplaceAll(too, "[`L01_x`](faults.md#rows)", "`L01_x`"), "no link to a test"},
		"no rows":         {"", "0 rows"},
	} {
		t.Run(name, func(t *testing.T) {
			found := strings.Join(promiseProblems(parse("README.md", readme), parse("docs/safety.md", head+row.table), read), "\n")
			if row.want == "" && found != "" || !strings.Contains(found, row.want) {
				t.Errorf("found %q, want %q", found, row.want)
			}
		})
	}
}
