package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

// TestCommands runs every command that a page shows, block after block in one copy
// of the repository for each page, and compares what is shown below it with what it
// prints.
func TestCommands(t *testing.T) {
	ran := 0
	for _, p := range pages(t) {
		if n := p.runnable(); n > 0 {
			ran += n
			t.Run(p.path, func(t *testing.T) {
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
	for _, b := range p.blocks() {
		if steps, err := b.steps(); err == nil && b.isShell() && b.marker.kind == "" {
			n += len(steps)
		}
	}
	return n
}

func (p page) run(t *testing.T) {
	s := newShell(t)
	var fresh strings.Builder
	written := 0
	for _, b := range p.blocks() {
		if !b.isShell() || b.marker.kind != "" {
			continue
		}
		steps, err := b.steps()
		if err != nil {
			t.Fatalf("%s:%d: %v", p.path, b.line, err)
		}
		outputs := make([]string, len(steps))
		for i, r := range s.run(t, b.language, steps) {
			outputs[i] = r.output
			if !steps[i].answered(r.code) {
				t.Errorf("%s:%d: %s\nends with exit code %d:\n%s", p.path, b.line+steps[i].line, steps[i].text, r.code, r.output)
			}
		}
		if b.language == "console" {
			fresh.Write(p.source[written:b.start])
			fresh.WriteString(b.shows(steps, outputs))
			written = b.end
		}
	}
	fresh.Write(p.source[written:])
	if *update && !t.Failed() {
		if err := os.WriteFile(filepath.Join(root, p.path), []byte(fresh.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(string(p.source), fresh.String()); diff != "" {
		t.Errorf("%s shows something else (-shown +printed); go test ./test/docs -update rewrites it:\n%s", p.path, diff)
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

// TestNotRun compares the commands that no test here runs with testdata/not-run.txt:
// one more is seen in a review.
func TestNotRun(t *testing.T) {
	var list strings.Builder
	list.WriteString("# The commands of pages that are not run here, and why. Written by go test ./test/docs -update.\n")
	for _, p := range pages(t) {
		lines := ""
		for _, b := range p.blocks() {
			if !b.isShell() || b.marker.kind == "" {
				continue
			}
			steps, err := b.steps()
			if err != nil {
				t.Fatalf("%s:%d: %v", p.path, b.line, err)
			}
			lines += "  " + b.marker.kind + ": " + b.marker.reason + "\n"
			for _, s := range steps {
				lines += "    " + strings.ReplaceAll(strings.TrimSpace(s.text), "\n", "\n    ") + "\n"
			}
		}
		if lines != "" {
			list.WriteString("\n" + p.path + "\n" + lines)
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

// onceShown are pages with outputs that a control plane printed when they were
// written, and that nothing compares since: what the commands do is tested by
// test/controlplane/finalizers, what they print by internal/render.
var onceShown = []string{"docs/finalizers.md", "docs/undo.md"}

// TestShownLive: what is shown below a command that needs a cluster was printed by
// one. The pages of TestWalk are compared with a real control plane; beside those of
// onceShown no other page may show such a thing.
func TestShownLive(t *testing.T) {
	source, err := os.ReadFile(root + "/test/controlplane/commands/walk_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var walked []string
	for _, found := range regexp.MustCompile(`walk\("\.\./\.\./\.\./(.*\.md)"\)`).FindAllStringSubmatch(string(source), -1) {
		walked = append(walked, found[1])
	}
	if len(walked) == 0 {
		t.Fatal("no page is walked on a control plane")
	}
	for _, p := range pages(t) {
		for _, b := range p.blocks() {
			if b.isShell() && b.language == "console" && b.marker.kind == live && !slices.Contains(walked, p.path) && !slices.Contains(onceShown, p.path) {
				t.Errorf("%s:%d: a test walks through %s, not through this page: show the commands in ```sh, without outputs",
					p.path, b.line, strings.Join(walked, " and "))
			}
		}
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
		list, err := statements("bash", c.Example)
		if err != nil {
			t.Errorf("%s: %v", c.CommandPath(), err)
		}
		for _, line := range list {
			examples++
			needsCluster := false
			for _, call := range line.calls {
				if err := call.parses(); err != nil {
					t.Errorf("%s: %v", line.text, err)
				}
				needsCluster = needsCluster || call.needsCluster()
			}
			if needsCluster {
				continue
			}
			one := step{statement: line}
			if r := s.run(t, "bash", []step{one})[0]; !one.answered(r.code) {
				t.Errorf("%s\nends with exit code %d:\n%s", line.text, r.code, r.output)
			}
		}
	})
	const least = 30 // what there was when this was written
	if examples < least {
		t.Errorf("only %d examples", examples)
	}
}
