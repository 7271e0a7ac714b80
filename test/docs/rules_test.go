package docs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// whyNot are the reasons for which a command of a page is never run by a test, and
// the programs that each of them is about.
var whyNot = map[string][]string{
	// It builds or tests this repository, which is what runs the test.
	"build": {"make", "go", "git", "cd"},
	// It puts software on a machine, or takes it off.
	"install": {"brew", "kubectl", "go", "docker", "podman", "apt-get", "curl", "tar", "install", "mv", "sudo", "helm"},
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
		bad = append(bad, fmt.Sprintf("%s:%d: ", p.path, line)+fmt.Sprintf(format, a...))
	}
	for _, b := range p.blocks() {
		if !b.isShell() {
			if first := b.hiddenCommand(); first != "" && !strings.HasPrefix(p.path, generated) {
				report(b.line, "%q is a command in a block that is not of a shell: begin it with ```sh, or ```console if outputs are shown", first)
			}
			if b.marker.kind != "" {
				report(b.line, "<!-- %s --> belongs above a block of a shell", b.marker.kind)
			}
			continue
		}
		steps, err := b.steps()
		if err != nil {
			report(b.line, "%v", err)
			continue
		}
		if len(steps) == 0 {
			report(b.line, "a block of a shell without a command")
		}
		for _, s := range steps {
			for _, c := range s.calls {
				if err := c.parses(); err != nil {
					report(b.line+s.line, "%s: %v", s.text, err)
				}
			}
		}
		if wrong := b.marker.wrong(steps); wrong != "" {
			report(b.line, "%s", wrong)
		}
	}
	return append(bad, p.loneMarkers()...)
}

// wrong says why the marker may not stand above these steps.
func (m marker) wrong(steps []step) string {
	var calls []call
	for _, s := range steps {
		calls = append(calls, s.calls...)
	}
	switch m.kind {
	case live:
		if m.reason == "" {
			return "<!-- live: … --> has to say what it needs"
		}
		if !slices.ContainsFunc(calls, call.mayNeedCluster) {
			return "nothing in a block that is marked live needs a cluster: take the marker off"
		}
	case notRun:
		programs, known := whyNot[m.reason]
		if !known {
			return fmt.Sprintf("<!-- not run: %s --> is none of the reasons of test/docs", m.reason)
		}
		for _, c := range calls {
			if programs != nil && !slices.Contains(programs, c[0]) {
				return fmt.Sprintf("<!-- not run: %s --> is no reason not to run %s", m.reason, c[0])
			}
		}
	}
	return ""
}

// mayNeedCluster is true of kubectl, and of ours without a dump.
func (c call) mayNeedCluster() bool {
	args, ours := c.ofProgram()
	if !ours {
		return c[0] == "kubectl" || c[0] == "helm"
	}
	return !slices.ContainsFunc(args, func(a string) bool { return a == "--from" || strings.HasPrefix(a, "--from=") })
}

// hiddenCommand is the first line of a block that a reader would type.
func (b block) hiddenCommand() string {
	if b.fenced && b.language != "" && b.language != "text" {
		return ""
	}
	for line := range strings.Lines(b.text) {
		line = strings.TrimSpace(line)
		first, _, _ := strings.Cut(line, " ")
		if strings.HasPrefix(line, prompt) || b.language == "" && slices.Contains(typed, first) {
			return line
		}
	}
	return ""
}

// loneMarkers are the markers that stand above no block.
func (p page) loneMarkers() []string {
	var bad []string
	p.walk(func(n ast.Node) {
		comment, ok := n.(*ast.HTMLBlock)
		if !ok || p.markerOf(comment).kind == "" {
			return
		}
		switch n.NextSibling().(type) {
		case *ast.FencedCodeBlock, *ast.CodeBlock:
		default:
			line := p.lineAt(comment.Lines().At(0).Start)
			bad = append(bad, fmt.Sprintf("%s:%d: a marker has to stand right above a block", p.path, line))
		}
	})
	return bad
}
