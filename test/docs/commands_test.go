package docs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
	"github.com/kubectl-gc/kubectl-gc/test/docs/markdown"
)

// TestCommands runs every command that a page shows, block after block in one copy
// of the repository for each page, and compares what is shown below it with what it
// prints.
func TestCommands(t *testing.T) {
	ran := 0
	for _, p := range pages(t) {
		if n := p.runnable(); n > 0 {
			ran += n
			t.Run(p.Path, func(t *testing.T) {
				t.Parallel()
				p.run(t)
			})
		}
	}
	const least = 20 // what there was when this was written
	if ran < least {
		t.Errorf("only %d commands of pages are run", ran)
	}
}

// runnable is the number of commands that are run.
func (p page) runnable() int {
	n := 0
	for _, b := range p.Blocks() {
		if steps, err := b.Steps(); err == nil && b.IsShell() && b.Marker.Kind == "" {
			n += len(steps)
		}
	}
	return n
}

func (p page) run(t *testing.T) {
	s := newShell(t)
	var fresh strings.Builder
	written := 0
	for _, b := range p.Blocks() {
		if !b.IsShell() || b.Marker.Kind != "" {
			continue
		}
		steps, err := b.Steps()
		if err != nil {
			t.Fatalf("%s:%d: %v", p.Path, b.Line, err)
		}
		outputs := make([]string, len(steps))
		for i, r := range s.run(t, b.Language, steps) {
			outputs[i] = r.output
			if !answered(steps[i], r.code) {
				t.Errorf("%s:%d: %s\nends with exit code %d:\n%s", p.Path, b.Line+steps[i].Line, steps[i].Text, r.code, r.output)
			}
		}
		if b.Language == "console" {
			fresh.Write(p.Source[written:b.Start])
			fresh.WriteString(b.Shows(steps, outputs))
			written = b.End
		}
	}
	fresh.Write(p.Source[written:])
	if *update && !t.Failed() {
		if err := os.WriteFile(filepath.Join(root, p.Path), []byte(fresh.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(string(p.Source), fresh.String()); diff != "" {
		t.Errorf("%s shows something else (-shown +printed); go test ./test/docs -update rewrites it:\n%s", p.Path, diff)
	}
}

// TestBlocks: no command is on a page in a way in which it would not be run, and
// those that are not run say why.
func TestBlocks(t *testing.T) {
	for _, p := range pages(t) {
		for _, problem := range p.problems() {
			t.Error(problem)
		}
	}
}

// TestNotRun compares the commands that no test runs with testdata/not-run.txt: one
// more is seen in a review.
func TestNotRun(t *testing.T) {
	var list strings.Builder
	list.WriteString("# The commands of pages that no test runs, and why. Written by go test ./test/docs -update.\n")
	for _, p := range pages(t) {
		lines := ""
		for _, b := range p.Blocks() {
			if !b.IsShell() || b.Marker.Kind != markdown.NotRun {
				continue
			}
			steps, err := b.Steps()
			if err != nil {
				t.Fatalf("%s:%d: %v", p.Path, b.Line, err)
			}
			lines += "  " + b.Marker.Kind + ": " + b.Marker.Reason + "\n"
			for _, s := range steps {
				lines += "    " + strings.ReplaceAll(strings.TrimSpace(s.Text), "\n", "\n    ") + "\n"
			}
		}
		if lines != "" {
			list.WriteString("\n" + p.Path + "\n" + lines)
		}
	}
	golden(t, "testdata/not-run.txt", list.String())
}

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is not what it was (-file +now); -update writes it:\n%s", name, diff)
	}
}

// stages is where it stands what a page with commands for a cluster needs.
const stages = root + "/test/controlplane/pages/testdata"

// TestStages: each page with commands for a cluster has a stage, on which
// test/controlplane/pages runs them. That one finds the stages without such a page.
func TestStages(t *testing.T) {
	live := 0
	for _, p := range pages(t) {
		for _, b := range p.Blocks() {
			if b.Marker.Kind != markdown.Live {
				continue
			}
			live++
			stage := filepath.Join(stages, filepath.FromSlash(p.Path), "stage.yaml")
			if _, err := os.Stat(stage); err != nil {
				t.Errorf("%s:%d: nothing says what this block needs, and so it is not run: %v", p.Path, b.Line, err)
			}
		}
	}
	const least = 40 // what there was when this was written
	if live < least {
		t.Errorf("only %d blocks are run on a cluster", live)
	}
}

// TestExamplesOfHelp runs the examples that help shows, and of those that need a
// cluster sees that command, flags and arguments exist.
func TestExamplesOfHelp(t *testing.T) {
	var visit func(c *cobra.Command, do func(*cobra.Command))
	visit = func(c *cobra.Command, do func(*cobra.Command)) {
		do(c)
		for _, sub := range c.Commands() {
			visit(sub, do)
		}
	}
	s := newShell(t)
	examples := 0
	visit(tree(), func(c *cobra.Command) {
		list, err := markdown.Statements("bash", c.Example)
		if err != nil {
			t.Errorf("%s: %v", c.CommandPath(), err)
		}
		for _, line := range list {
			examples++
			live := false
			for _, c := range line.Calls {
				if err := parses(c); err != nil {
					t.Errorf("%s: %v", line.Text, err)
				}
				live = live || needsCluster(c)
			}
			if live {
				continue
			}
			one := markdown.Step{Statement: line}
			if r := s.run(t, "bash", []markdown.Step{one})[0]; !answered(one, r.code) {
				t.Errorf("%s\nends with exit code %d:\n%s", line.Text, r.code, r.output)
			}
		}
	})
	const least = 30 // what there was when this was written
	if examples < least {
		t.Errorf("only %d examples", examples)
	}
}

// needsCluster reports whether a call is of something that no dump answers.
func needsCluster(c markdown.Call) bool {
	args, ours := c.OfProgram()
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
func parses(c markdown.Call) error {
	args, ours := c.OfProgram()
	if !ours {
		return builds(c)
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

var targetForm = regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):`)

// targets are what make can be asked for.
func targets() ([]string, error) {
	tree := os.DirFS(root)
	files, err := fs.Glob(tree, "hack/*.mk")
	if err != nil {
		return nil, err
	}
	var found []string
	for _, name := range append(files, "Makefile") {
		raw, err := fs.ReadFile(tree, name)
		if err != nil {
			return nil, err
		}
		for _, match := range targetForm.FindAllStringSubmatch(string(raw), -1) {
			found = append(found, match[1])
		}
	}
	return found, nil
}

// builds says what is wrong with a call of make or go, which are never run here: a
// target or a package that does not exist.
func builds(c markdown.Call) error {
	switch c[0] {
	case "make":
		known, err := targets()
		if err != nil {
			return err
		}
		for _, word := range c[1:] {
			if !strings.ContainsAny(word, "=-") && !slices.Contains(known, word) {
				return fmt.Errorf("make has no target %s", word)
			}
		}
	case "go":
		for _, word := range c[1:] {
			name, ok := strings.CutPrefix(word, "./")
			if !ok {
				continue
			}
			name = path.Clean(strings.TrimSuffix(name, "..."))
			if _, err := fs.Stat(os.DirFS(root), name); err != nil {
				return err
			}
		}
	}
	return nil
}
