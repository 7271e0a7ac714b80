package docs

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"mvdan.cc/sh/v3/syntax"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
)

// statement is one command as a person types it, with the pipes, redirections and
// further lines that belong to it.
type statement struct {
	text string
	// line is the one of the block that it begins on, from 0.
	line  int
	calls []call
}

// call is the name and the arguments of one program. What only the shell knows is a
// "1", which nearly every flag takes.
type call []string

// statements reads a script.
func statements(language, script string) ([]statement, error) {
	variant := syntax.LangPOSIX
	if language == "bash" {
		variant = syntax.LangBash
	}
	file, err := syntax.NewParser(syntax.Variant(variant)).Parse(strings.NewReader(script), "")
	if err != nil {
		return nil, err
	}
	var found []statement
	for i, s := range file.Stmts {
		end := uint(len(script))
		if i+1 < len(file.Stmts) {
			end = file.Stmts[i+1].Pos().Offset()
		}
		found = append(found, statement{
			text:  withoutComments(script[s.Pos().Offset():end]),
			line:  int(s.Pos().Line()) - 1,
			calls: callsOf(s),
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

func callsOf(s *syntax.Stmt) []call {
	var calls []call
	syntax.Walk(s, func(n syntax.Node) bool {
		if e, ok := n.(*syntax.CallExpr); ok && len(e.Args) > 0 {
			c := make(call, len(e.Args))
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

// ofProgram are the arguments of a call of the program, however it is called.
func (c call) ofProgram() ([]string, bool) {
	for _, name := range [][]string{{"kubectl", "gc"}, {"kubectl-gc"}, {"go", "run", "./cmd/kubectl-gc"}} {
		if len(c) >= len(name) && strings.Join(c[:len(name)], " ") == strings.Join(name, " ") {
			return c[len(name):], true
		}
	}
	return nil, false
}

// needsCluster tells whether a call is of something that no dump answers.
func (c call) needsCluster() bool {
	args, ours := c.ofProgram()
	if !ours {
		return c[0] == "kubectl"
	}
	command, rest, err := find(args)
	if err != nil || command.ParseFlags(rest) != nil {
		return false
	}
	from := command.Flag("from")
	return command.Annotations[cli.Live] != "" || from != nil && !from.Changed
}

// parses says what is wrong with the command, its flags or its arguments.
func (c call) parses() error {
	args, ours := c.ofProgram()
	if !ours {
		return c.builds()
	}
	if len(args) > 0 && args[0] == cobra.ShellCompRequestCmd {
		args = args[1:] // what a shell asks is about a command line
	}
	command, rest, err := find(args)
	if err != nil {
		return err
	}
	if err := command.ParseFlags(rest); errors.Is(err, pflag.ErrHelp) {
		return nil
	} else if err != nil {
		return fmt.Errorf("%s: %w", command.CommandPath(), err)
	}
	return command.ValidateArgs(command.Flags().Args())
}

// find is the command that the arguments call, and what is left of them.
func find(args []string) (*cobra.Command, []string, error) {
	command, rest, err := tree().Find(args)
	if err == nil && command.HasAvailableSubCommands() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
		err = fmt.Errorf("%s: there is no command %q", command.CommandPath(), rest[0])
	}
	return command, rest, err
}

// tree is the program's commands, which nothing was parsed with.
func tree() *cobra.Command {
	return cli.NewCommand("kubectl gc", genericiooptions.NewTestIOStreamsDiscard())
}
