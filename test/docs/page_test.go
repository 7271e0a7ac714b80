package docs

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// root is the root of the repository, seen from here.
const root = "../.."

// page is one Markdown file.
type page struct {
	// path is relative to the root of the repository, with slashes.
	path   string
	source []byte
	tree   ast.Node
}

// block is a piece of code on a page.
type block struct {
	// language is the first word behind the fence; empty for none.
	language string
	// fenced is false for what is only indented.
	fenced bool
	// marker is what a comment right above says of it.
	marker marker
	line   int
	// start and end enclose the code in the source of the page.
	start, end int
	text       string
}

// marker says why the commands of a block are not run: `<!-- live: reason -->`,
// `<!-- not run: reason -->`.
type marker struct{ kind, reason string }

// The kinds of markers.
const (
	live   = "live"
	notRun = "not run"
)

var markerForm = regexp.MustCompile(`^<!--\s*(live|not run)\b\s*:?\s*(.*?)\s*-->\s*$`)

// generated are pages of which `make verify` knows that the program wrote them. The
// commands in them are those of help.
const generated = "docs/commands/"

// notPages are directories whose Markdown is not written for readers of this
// repository.
var notPages = []string{".git", "bin", "dist", "node_modules", "testdata"}

// pages are all pages, sorted by path.
func pages(t *testing.T) []page {
	t.Helper()
	tree := os.DirFS(root)
	var found []page
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(notPages, d.Name()):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".md":
			return nil
		}
		source, err := fs.ReadFile(tree, name)
		if err == nil {
			found = append(found, parsePage(name, source))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func parsePage(name string, source []byte) page {
	markdown := goldmark.New(goldmark.WithExtensions(extension.GFM))
	return page{name, source, markdown.Parser().Parse(text.NewReader(source))}
}

// walk visits every node of the page.
func (p page) walk(visit func(ast.Node)) {
	err := ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			visit(n)
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		panic("docs: walking cannot fail, no visit does: " + err.Error())
	}
}

// blocks are the blocks of code of the page, from its beginning to its end.
func (p page) blocks() []block {
	var found []block
	p.walk(func(n ast.Node) {
		switch n := n.(type) {
		case *ast.FencedCodeBlock:
			b := p.block(n)
			b.fenced, b.language = true, string(n.Language(p.source))
			found = append(found, b)
		case *ast.CodeBlock:
			found = append(found, p.block(n))
		}
	})
	return found
}

func (p page) block(n ast.Node) block {
	b := block{marker: p.markerOf(n.PreviousSibling())}
	lines := n.Lines()
	if lines.Len() == 0 {
		return b
	}
	b.start, b.end = lines.At(0).Start, lines.At(lines.Len()-1).Stop
	b.line = p.lineAt(b.start)
	b.text = string(lines.Value(p.source))
	return b
}

// markerOf is what the node says of the block below it.
func (p page) markerOf(n ast.Node) marker {
	comment, ok := n.(*ast.HTMLBlock)
	if !ok {
		return marker{}
	}
	found := markerForm.FindStringSubmatch(strings.TrimSpace(string(comment.Lines().Value(p.source))))
	if found == nil {
		return marker{}
	}
	return marker{found[1], found[2]}
}

// lineAt is the number of the line of an offset, from 1.
func (p page) lineAt(offset int) int { return bytes.Count(p.source[:offset], []byte("\n")) + 1 }

// isShell tells whether a person would type what the block shows.
func (b block) isShell() bool {
	return b.fenced && slices.Contains([]string{"sh", "bash", "shell", "console"}, b.language)
}
