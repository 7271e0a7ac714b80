package docs

import (
	"fmt"
	"slices"
	"strings"

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
