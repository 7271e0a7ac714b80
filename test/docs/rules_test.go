package docs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/yuin/goldmark/ast"

	"github.com/kubectl-gc/kubectl-gc/test/docs/markdown"
)

// whyNot are the reasons for which a command of a page is never run by a test, and
// the programs that each of them is about.
var whyNot = map[string][]string{
	// It builds or tests this repository, which is what runs the test.
	"build": {"make", "go", "git", "cd"},
	// It puts software on a machine, or takes it off.
	"install": {"brew", "kubectl", "go", "docker", "podman", "apt-get", "curl", "tar", "install", "ln", "dirname", "command", "mv", "sudo", "helm"},
	// It is about what only a release has: archives, signatures, images.
	"release": {"cosign", "curl", "gh", "git", "goreleaser", "make", "sha256sum", "shasum", "syft", "docker", "tar", "slsa-verifier", "grype", "diff"},
	// It changes the shell of the reader.
	"shell": {"source", ".", "kubectl", "kubectl-gc", "echo", "mkdir", "complete", "autoload", "compinit"},
	// It runs a program of others that no test has.
	"program": nil,
}

// typed are the programs by which a line of code without a language is known to be
// a command.
var typed = []string{
	"kubectl", "kubectl-gc", "go", "make", "brew", "docker", "helm", "curl", "git", "npm", "npx", "node", "apt-get", "cosign",
	"goreleaser", "jq", "sh", "bash",
}

// problems are what is wrong with the blocks of a page, without running anything.
func (p page) problems() []string {
	var bad []string
	report := func(line int, format string, a ...any) {
		bad = append(bad, fmt.Sprintf("%s:%d: ", p.Path, line)+fmt.Sprintf(format, a...))
	}
	for _, b := range p.Blocks() {
		if !b.IsShell() {
			if first := hiddenCommand(b); first != "" {
				report(b.Line, "%q is a command in a block that is not of a shell: begin it with ```sh, or ```console if outputs are shown", first)
			}
			if b.Marker.Kind != "" {
				report(b.Line, "<!-- %s --> belongs above a block of a shell", b.Marker.Kind)
			}
			continue
		}
		steps, err := b.Steps()
		if err != nil {
			report(b.Line, "%v", err)
			continue
		}
		if len(steps) == 0 {
			report(b.Line, "a block of a shell without a command")
		}
		for _, s := range steps {
			for _, c := range s.Calls {
				if err := parses(c); err != nil {
					report(b.Line+s.Line, "%s: %v", s.Text, err)
				}
			}
		}
		if wrong := wrong(b.Marker, steps); wrong != "" {
			report(b.Line, "%s", wrong)
		}
	}
	return append(bad, p.loneMarkers()...)
}

// wrong says why the marker may not stand above these steps.
func wrong(m markdown.Marker, steps []markdown.Step) string {
	var calls []markdown.Call
	for _, s := range steps {
		calls = append(calls, s.Calls...)
	}
	switch m.Kind {
	case markdown.Live:
		if m.Reason == "" {
			return "<!-- live: … --> has to say what it needs"
		}
		if !slices.ContainsFunc(calls, mayNeedCluster) {
			return "nothing in a block that is marked live needs a cluster: take the marker off"
		}
	case markdown.NotRun:
		programs, known := whyNot[m.Reason]
		if !known {
			return fmt.Sprintf("<!-- not run: %s --> is none of the reasons of test/docs", m.Reason)
		}
		for _, c := range calls {
			if programs != nil && !slices.Contains(programs, c[0]) {
				return fmt.Sprintf("<!-- not run: %s --> is no reason not to run %s", m.Reason, c[0])
			}
		}
	}
	return ""
}

// mayNeedCluster is true of kubectl, and of ours without a dump.
func mayNeedCluster(c markdown.Call) bool {
	args, ours := c.OfProgram()
	if !ours {
		return c[0] == "kubectl" || c[0] == "helm"
	}
	return !slices.ContainsFunc(args, func(a string) bool { return a == "--from" || strings.HasPrefix(a, "--from=") })
}

// hiddenCommand is the first line of a block that a reader would type.
func hiddenCommand(b markdown.Block) string {
	if b.Fenced && b.Language != "" && b.Language != "text" {
		return ""
	}
	for line := range strings.Lines(b.Text) {
		line = strings.TrimSpace(line)
		first, _, _ := strings.Cut(line, " ")
		if strings.HasPrefix(line, markdown.Prompt) || b.Language == "" && slices.Contains(typed, first) {
			return line
		}
	}
	return ""
}

// loneMarkers are the markers that stand above no block.
func (p page) loneMarkers() []string {
	var bad []string
	p.Walk(func(n ast.Node) {
		comment, ok := n.(*ast.HTMLBlock)
		if !ok || p.MarkerOf(comment).Kind == "" {
			return
		}
		switch n.NextSibling().(type) {
		case *ast.FencedCodeBlock, *ast.CodeBlock:
		default:
			line := p.LineAt(comment.Lines().At(0).Start)
			bad = append(bad, fmt.Sprintf("%s:%d: a marker has to stand right above a block", p.Path, line))
		}
	})
	return bad
}

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

// TestRulesCanFail: each rule is broken once, and says so; next to it is a page that
// keeps it.
func TestRulesCanFail(t *testing.T) {
	const sh, console, end = "```sh\n", "```console\n", "```\n"
	rows := []struct{ rule, bad, want, good string }{
		{"a command has a language", "```\nkubectl gc check\n" + end, "not of a shell", "```\nA ─► B\n" + end},
		{"not in plain text", "```text\n$ kubectl gc check\n" + end, "not of a shell", "```text\nthe answer\n" + end},
		{"not only indented", "text\n\n    make test\n", "not of a shell", "text\n\n    a picture\n"},
		{"a command exists", sh + "kubectl gc chekc --from x\n" + end, "no command", sh + "kubectl gc check --from x\n" + end},
		{"in a pipe too", sh + "cat x | kubectl gc chekc --from -\n" + end, "no command", sh + "cat x | kubectl gc check --from -\n" + end},
		{"behind a marker too", "<!-- live: a cluster -->\n" + sh + "kubectl gc chekc\n" + end, "no command", "<!-- live: a cluster -->\n" + sh + "kubectl gc check\n" + end},
		{"a flag exists", sh + "kubectl gc check --form x\n" + end, "unknown flag: --form", sh + "kubectl gc check --from=x\n" + end},
		{"arguments are those of the command", sh + "kubectl gc version extra\n" + end, "version", sh + "kubectl gc version\n" + end},
		{"a script parses", sh + "if true; then\n" + end, "must end with", sh + "if true; then echo; fi\n" + end},
		{"console begins with a prompt", console + "kubectl gc version\n" + end, "begins with", console + "$ kubectl gc version\nx\n" + end},
		{"live says what it needs", "<!-- live -->\n" + sh + "kubectl gc check\n" + end, "what it needs", "<!-- live: all -->\n" + sh + "kubectl gc check\n" + end},
		{"live is for clusters", "<!-- live: all -->\n" + sh + "kubectl gc check --from x\n" + end, "nothing in a block", "<!-- live: all -->\n" + sh + "kubectl get pods\n" + end},
		{"reasons are known", "<!-- not run: lazy -->\n" + sh + "make test\n" + end, "none of the reasons", "<!-- not run: build -->\n" + sh + "make test\n" + end},
		{"reasons fit", "<!-- not run: build -->\n" + sh + "kubectl gc check --from x\n" + end, "no reason not to run", "<!-- not run: install -->\n" + sh + "brew install x\n" + end},
		{"targets exist", "<!-- not run: build -->\n" + sh + "make tset\n" + end, "no target", "<!-- not run: build -->\n" + sh + "make test PKG=./x\n" + end},
		{"packages exist", "<!-- not run: build -->\n" + sh + "go test ./intrenal/...\n" + end, "intrenal", "<!-- not run: build -->\n" + sh + "go test ./internal/...\n" + end},
		{"markers stand above blocks", "<!-- live: all -->\n\ntext\n", "right above", "<!-- a remark -->\n\ntext\n"},
		{"markers are for shells", "<!-- live: all -->\n```yaml\na: b\n" + end, "belongs above", "```yaml\na: b\n" + end},
	}
	for _, row := range rows {
		t.Run(row.rule, func(t *testing.T) {
			found := strings.Join(parse("a.md", row.bad).problems(), "\n")
			if !strings.Contains(found, row.want) {
				t.Errorf("%s\nfound %q, want something with %q", row.bad, found, row.want)
			}
			if found := parse("a.md", row.good).problems(); len(found) > 0 {
				t.Errorf("%s\nfound %q", row.good, found)
			}
		})
	}
}

// TestMentionsCanFail: names and flags are looked at, placeholders are not.
func TestMentionsCanFail(t *testing.T) {
	for line, wrong := range map[string]bool{
		"kubectl gc stcuk": true, "kubectl gc stuck --nothing=3s": true,
		"kubectl gc stuck": false, "kubectl gc rbac --for": false, "kubectl gc …": false, "kubectl get pods": false, "a (b": false,
	} {
		n := 0
		if err := mentioned(line, &n); err != nil != wrong {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// TestShell: what fails is seen, steps follow one another in one shell, and nothing
// of the machine is in it.
func TestShell(t *testing.T) {
	s := newShell(t)
	script := strings.Join([]string{
		"kubectl gc dry-run delete deployment/web -n shop --from examples/shop.yaml -o json > /tmp/plan.json",
		"digest=$(jq -r .digest /tmp/plan.json)",
		"test ${#digest} = 71",
		"kubectl gc check --from examples/garbage.yaml",
		"kubectl gc check --from examples/nothing.yaml",
		"kubectl get pods",
		"curl example.com",
		"echo $?",
	}, "\n")
	list, err := markdown.Statements("sh", script)
	if err != nil {
		t.Fatal(err)
	}
	steps := make([]markdown.Step, len(list))
	for i, one := range list {
		steps[i] = markdown.Step{Statement: one}
	}
	want := []struct {
		code     int
		answered bool
	}{{0, true}, {0, true}, {0, true}, {3, true}, {1, false}, {1, false}, {127, false}, {0, true}}
	results := s.run(t, "sh", steps)
	for i, r := range results {
		if r.code != want[i].code || answered(steps[i], r.code) != want[i].answered {
			t.Errorf("%s: exit code %d, answered %v:\n%s", steps[i].Text, r.code, answered(steps[i], r.code), r.output)
		}
	}
	if got := results[len(results)-1].output; got != "127\n" {
		t.Errorf("the exit code of the step before is %q", got)
	}
}
