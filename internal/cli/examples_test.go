package cli_test

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
)

// update writes what commands print into the pages that show it.
var update = flag.Bool("update", false, "rewrite the outputs in documentation")

// TestExamples runs every command line that help and documentation show, in the
// root of the repository. Findings and refusals (3, 4) are answers; failures are
// not.
func TestExamples(t *testing.T) {
	t.Chdir("../..")
	t.Setenv("LC_ALL", "C.UTF-8")
	root := cli.NewCommand("kubectl gc", genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &bytes.Buffer{}, ErrOut: &bytes.Buffer{}})
	total := 0
	eachCommand(root, func(c *cobra.Command) {
		for line := range strings.Lines(c.Example) {
			if commandLine(strings.TrimSpace(line)) == nil {
				continue
			}
			total++
			t.Run(strings.TrimSpace(line), func(t *testing.T) { works(t, strings.TrimSpace(line)) })
		}
	})
	for _, page := range pages(t) {
		for _, line := range shellLines(t, page) {
			total++
			t.Run(page+"/"+line, func(t *testing.T) { works(t, line) })
		}
	}
	if total < 15 {
		t.Errorf("only %d examples found", total)
	}
}

// works runs a line, or where a cluster is needed, sees that its command and flags
// exist.
func works(t *testing.T, line string) {
	t.Helper()
	root := cli.NewCommand("kubectl gc", genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &bytes.Buffer{}, ErrOut: &bytes.Buffer{}})
	c, rest, err := root.Find(commandLine(line)[1:])
	if err != nil {
		t.Fatal(err)
	}
	if err := c.ParseFlags(rest); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if from := c.Flag("from"); c.Annotations[cli.Live] != "" || from != nil && !from.Changed {
		if err := c.ValidateArgs(c.Flags().Args()); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		return
	}
	runs(t, line)
}

// TestShownOutputs compares what pages show below a command with what the command
// prints.
func TestShownOutputs(t *testing.T) {
	t.Chdir("../..")
	t.Setenv("LC_ALL", "C.UTF-8")
	shown := 0
	for _, page := range pages(t) {
		raw, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		got, n := refresh(t, string(raw))
		shown += n
		if *update && got != string(raw) {
			if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if diff := cmp.Diff(got, string(raw)); diff != "" {
			t.Errorf("%s shows other outputs (-printed +shown); -update rewrites them:\n%s", page, diff)
		}
	}
	if shown < 7 {
		t.Errorf("only %d outputs are shown", shown)
	}
}

// refresh puts what the commands of console blocks print into a page.
func refresh(t *testing.T, page string) (refreshed string, commands int) {
	t.Helper()
	var b strings.Builder
	console := false
	for line := range strings.Lines(page) {
		switch text := strings.TrimSpace(line); {
		case text == "```console":
			console = true
		case console && text == "```":
			console = false
		case console && !strings.HasPrefix(text, "$ "):
			continue
		case console:
			commands++
			b.WriteString(line)
			out, _ := runs(t, strings.TrimPrefix(text, "$ "))
			b.WriteString(out)
			continue
		}
		b.WriteString(line)
	}
	return b.String(), commands
}

func eachCommand(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, sub := range c.Commands() {
		eachCommand(sub, visit)
	}
}

// pages are the pages of the repository that are written by hand.
func pages(t *testing.T) []string {
	t.Helper()
	found := []string{"README.md", "CONTRIBUTING.md", "examples/README.md"}
	err := filepath.WalkDir("docs", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".md") {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// shellLines are the lines of a page's shell blocks that call the program.
func shellLines(t *testing.T, page string) []string {
	t.Helper()
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	shell := false
	for line := range strings.Lines(string(raw)) {
		switch text := strings.TrimSpace(line); {
		case text == "```sh" || text == "```bash" || text == "```shell":
			shell = true
		case text == "```":
			shell = false
		case shell && commandLine(text) != nil:
			lines = append(lines, text)
		}
	}
	return lines
}

// commandLine is a line as arguments of the program; nil if it calls something
// else.
func commandLine(line string) []string {
	for _, name := range []string{"kubectl gc ", "kubectl-gc ", "go run ./cmd/kubectl-gc "} {
		if rest, ok := strings.CutPrefix(line, name); ok {
			return append([]string{"kubectl-gc"}, fields(rest)...)
		}
	}
	return nil
}

// fields splits a line at blanks outside of single quotes.
func fields(line string) []string {
	quoted := false
	return splitClean(strings.FieldsFunc(line, func(r rune) bool {
		if r == '\'' {
			quoted = !quoted
		}
		return r == ' ' && !quoted
	}))
}

func splitClean(words []string) []string {
	for i, w := range words {
		words[i] = strings.ReplaceAll(w, "'", "")
	}
	return words
}

// runs runs a line and fails unless it answers. Files for /tmp go to a directory
// of the test.
func runs(t *testing.T, line string) (stdout, stderr string) {
	t.Helper()
	args := commandLine(line)
	if args == nil || strings.ContainsAny(line, "|>;&\\") {
		t.Fatalf("%s: a line that cannot be run", line)
	}
	dir := t.TempDir()
	for i, a := range args {
		if name, ok := strings.CutPrefix(a, "/tmp/"); ok {
			args[i] = filepath.Join(dir, name)
		}
	}
	var out, errOut bytes.Buffer
	code := cli.Main(t.Context(), args, genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &errOut})
	if code == 1 || code == 2 {
		t.Errorf("%s", fmt.Sprintf("%s: exit code %d: %s", line, code, errOut.String()))
	}
	return out.String(), errOut.String()
}
