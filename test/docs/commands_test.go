package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

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
