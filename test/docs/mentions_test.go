package docs

import (
	"errors"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/yuin/goldmark/ast"

	"github.com/kubectl-gc/kubectl-gc/test/docs/markdown"
)

// TestMentions: a command in the middle of a sentence has the name and the flags of
// one that exists. What it is used with may be left out there.
func TestMentions(t *testing.T) {
	mentions := 0
	for _, p := range pages(t) {
		p.Walk(func(n ast.Node) {
			span, ok := n.(*ast.CodeSpan)
			if !ok {
				return
			}
			line := strings.ReplaceAll(string(p.textOf(span)), "\n", " ")
			if err := mentioned(line, &mentions); err != nil {
				t.Errorf("%s: `%s`: %v", p.Path, line, err)
			}
		})
	}
	const least = 30 // what there was when this was written
	if mentions < least {
		t.Errorf("only %d commands are mentioned", mentions)
	}
}

// mentioned says what is wrong with the name or the flags of a command of ours, and
// counts it.
func mentioned(line string, count *int) error {
	list, _ := markdown.Statements("sh", line) // what does not parse is no command
	if len(list) != 1 || len(list[0].Calls) != 1 {
		return nil
	}
	args, ours := list[0].Calls[0].OfProgram()
	if !ours || strings.Contains(line, "…") {
		return nil
	}
	*count++
	command, rest, err := find(args)
	if err != nil {
		return err
	}
	// A flag that is only named has no value.
	if err := command.ParseFlags(rest); err != nil && !strings.Contains(err.Error(), "needs an argument") && !errors.Is(err, pflag.ErrHelp) {
		return err
	}
	return nil
}

// textOf is the text of a node without its marks.
func (p page) textOf(n ast.Node) []byte {
	var out []byte
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			out = append(out, c.Value(p.Source)...)
			if c.SoftLineBreak() {
				out = append(out, '\n')
			}
		case *ast.String:
			out = append(out, c.Value...)
		default:
			out = append(out, p.textOf(c)...)
		}
	}
	return out
}
