package markdown

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Statement is one command as a person types it, with the pipes, redirections and
// further lines that belong to it.
type Statement struct {
	Text string
	// Line is the one of the block that it begins on, from 0.
	Line  int
	Calls []Call
}

// Call is the name and the arguments of one program. What only the shell knows is a
// "1", which nearly every flag takes.
type Call []string

// Statements reads a script.
func Statements(language, script string) ([]Statement, error) {
	variant := syntax.LangPOSIX
	if language == "bash" {
		variant = syntax.LangBash
	}
	file, err := syntax.NewParser(syntax.Variant(variant)).Parse(strings.NewReader(script), "")
	if err != nil {
		return nil, err
	}
	var found []Statement
	for i, s := range file.Stmts {
		end := uint(len(script))
		if i+1 < len(file.Stmts) {
			end = file.Stmts[i+1].Pos().Offset()
		}
		found = append(found, Statement{
			Text:  withoutComments(script[s.Pos().Offset():end]),
			Line:  int(s.Pos().Line()) - 1,
			Calls: callsOf(s),
		})
	}
	return found, nil
}

// withoutComments takes away the comments below a statement, which are about the next
// one.
func withoutComments(text string) string {
	lines := strings.Split(text, "\n")
	for n := len(lines) - 1; n > 0; n-- {
		if line := strings.TrimSpace(lines[n]); line != "" && !strings.HasPrefix(line, "#") {
			break
		}
		lines = lines[:n]
	}
	return strings.Join(lines, "\n")
}

func callsOf(s *syntax.Stmt) []Call {
	var calls []Call
	syntax.Walk(s, func(n syntax.Node) bool {
		if e, ok := n.(*syntax.CallExpr); ok && len(e.Args) > 0 {
			c := make(Call, len(e.Args))
			for i, word := range e.Args {
				c[i] = known(word.Parts)
			}
			calls = append(calls, c)
		}
		return true
	})
	return calls
}

// known is what a word says before a shell has looked at it.
func known(parts []syntax.WordPart) string {
	var b strings.Builder
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(part.Value, `\`, ""))
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			b.WriteString(known(part.Parts))
		default:
			b.WriteString("1")
		}
	}
	return b.String()
}

// OfProgram are the arguments of a call of the program, however it is called.
func (c Call) OfProgram() ([]string, bool) {
	for _, name := range [][]string{{"kubectl", "gc"}, {"kubectl-gc"}, {"go", "run", "./cmd/kubectl-gc"}} {
		if len(c) >= len(name) && strings.Join(c[:len(name)], " ") == strings.Join(name, " ") {
			return c[len(name):], true
		}
	}
	return nil, false
}

// Step is one command of a block, and what the page shows below it.
type Step struct {
	Statement
	// Output is what the page shows, if the block is one that shows outputs.
	Output string
}

// Prompt begins a command in a block that shows outputs.
const Prompt = "$ "

// Steps are the commands of a shell block.
func (b Block) Steps() ([]Step, error) {
	if b.Language != "console" {
		list, err := Statements(b.Language, b.Text)
		steps := make([]Step, len(list))
		for i, s := range list {
			steps[i] = Step{Statement: s}
		}
		return steps, err
	}
	var steps []Step
	command, continued := "", false
	for i, line := range strings.SplitAfter(b.Text, "\n") {
		typed, begins := strings.CutPrefix(line, Prompt)
		switch {
		case continued:
			command += line
		case begins:
			command = typed
			steps = append(steps, Step{Statement: Statement{Line: i}})
		case len(steps) == 0 && line != "":
			return nil, fmt.Errorf("a console block begins with %q and a command", Prompt)
		default:
			if len(steps) > 0 {
				steps[len(steps)-1].Output += line
			}
			continue
		}
		if continued = strings.HasSuffix(strings.TrimRight(line, "\n"), `\`); continued {
			continue
		}
		list, err := Statements(b.Language, command)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", strings.TrimSpace(command), err)
		}
		last := &steps[len(steps)-1]
		last.Text = strings.TrimRight(command, "\n")
		for _, s := range list {
			last.Calls = append(last.Calls, s.Calls...)
		}
	}
	return steps, nil
}

// Shows is the block with other outputs.
func (b Block) Shows(steps []Step, outputs []string) string {
	var out strings.Builder
	for i, s := range steps {
		out.WriteString(Prompt + s.Text + "\n" + outputs[i])
		if outputs[i] != "" && !strings.HasSuffix(outputs[i], "\n") {
			out.WriteString("\n")
		}
	}
	return out.String()
}
