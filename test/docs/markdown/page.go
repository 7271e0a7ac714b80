// Package markdown reads the pages of documentation as the tests see them: blocks of
// code, the commands in those of a shell, and the comments that say why a block is
// not run by test/docs. The tests of test/docs and of test/controlplane/pages read
// pages with it, so that a command which one of them leaves out is one that the
// other one runs.
package markdown

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// Page is one Markdown file.
type Page struct {
	// Path is relative to the root of the repository, with slashes.
	Path   string
	Source []byte
	tree   ast.Node
}

// Block is a piece of code on a page.
type Block struct {
	// Language is the first word behind the fence; empty for none.
	Language string
	// Fenced is false for what is only indented.
	Fenced bool
	// Marker is what a comment right above says of it.
	Marker Marker
	// Line is the number of the first line of the code, from 1.
	Line int
	// Start and End enclose the code in the source of the page.
	Start, End int
	Text       string
}

// Marker says why the commands of a block are not run by test/docs:
// `<!-- live: reason -->`, `<!-- not run: reason -->`.
type Marker struct{ Kind, Reason string }

// The kinds of markers.
const (
	// Live is what test/controlplane/pages runs, on a control plane.
	Live = "live"
	// NotRun is what no test runs.
	NotRun = "not run"
)

var markerForm = regexp.MustCompile(`^<!--\s*(live|not run)\b\s*:?\s*(.*?)\s*-->\s*$`)

// notPages are directories whose Markdown is not written for readers of this
// repository.
var notPages = []string{".git", "bin", "dist", "node_modules", "testdata"}

// Pages are all pages of the repository with this root, sorted by path.
func Pages(root string) ([]Page, error) {
	tree := os.DirFS(root)
	var found []Page
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
			found = append(found, Parse(name, source))
		}
		return err
	})
	return found, err
}

// Parse reads one page.
func Parse(name string, source []byte) Page {
	markdown := goldmark.New(goldmark.WithExtensions(extension.GFM))
	return Page{name, source, markdown.Parser().Parse(text.NewReader(source))}
}

// Walk visits every node of the page.
func (p Page) Walk(visit func(ast.Node)) {
	err := ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			visit(n)
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		panic("markdown: walking cannot fail, no visit does: " + err.Error())
	}
}

// Blocks are the blocks of code of the page, from its beginning to its end.
func (p Page) Blocks() []Block {
	var found []Block
	p.Walk(func(n ast.Node) {
		switch n := n.(type) {
		case *ast.FencedCodeBlock:
			b := p.block(n)
			b.Fenced, b.Language = true, string(n.Language(p.Source))
			found = append(found, b)
		case *ast.CodeBlock:
			found = append(found, p.block(n))
		}
	})
	return found
}

func (p Page) block(n ast.Node) Block {
	b := Block{Marker: p.MarkerOf(n.PreviousSibling())}
	lines := n.Lines()
	if lines.Len() == 0 {
		return b
	}
	b.Start, b.End = lines.At(0).Start, lines.At(lines.Len()-1).Stop
	b.Line = p.LineAt(b.Start)
	b.Text = string(lines.Value(p.Source))
	return b
}

// MarkerOf is what the node says of the block below it.
func (p Page) MarkerOf(n ast.Node) Marker {
	comment, ok := n.(*ast.HTMLBlock)
	if !ok {
		return Marker{}
	}
	found := markerForm.FindStringSubmatch(strings.TrimSpace(string(comment.Lines().Value(p.Source))))
	if found == nil {
		return Marker{}
	}
	return Marker{found[1], found[2]}
}

// LineAt is the number of the line of an offset, from 1.
func (p Page) LineAt(offset int) int { return bytes.Count(p.Source[:offset], []byte("\n")) + 1 }

// IsShell reports whether a person would type what the block shows.
func (b Block) IsShell() bool {
	return b.Fenced && slices.Contains([]string{"sh", "bash", "shell", "console"}, b.Language)
}
