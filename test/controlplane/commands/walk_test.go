package commands

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
)

var update = flag.Bool("update", false, "rewrite what pages of documentation show")

// TestWalk runs what the pages show, in their order, each page on a control plane
// as it describes it, and compares what is printed. A command without --dry-run and
// --confirm is run by a person, who types what is asked for.
func TestWalk(t *testing.T) {
	t.Run("delete", func(t *testing.T) {
		s := enterAs(t, "shop", collector, deployments, replicas)
		s.deployed()
		s.create(`{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, finalizers: [example.com/lock]}}`)
		s.walk("../../../docs/delete.md")
		s.kubectl(nil, "patch", "configmap/settings", "-n", "shop", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	})
	t.Run("collect", func(t *testing.T) {
		s := enterAs(t, "store")
		s.garbage("orders", "prices")
		s.kubectl(nil, "annotate", "configmap", "prices", "-n", "store", "kubectl-gc.io/protect=true")
		s.walk("../../../docs/collect.md")
	})
}

// walk runs the commands of a page.
func (s *stage) walk(page string) {
	s.t.Helper()
	raw, err := os.ReadFile(page)
	if err != nil {
		s.t.Fatal(err)
	}
	var b strings.Builder
	commands, shown := 0, false
	digest := ""
	for line := range strings.Lines(string(raw)) {
		command, isCommand := strings.CutPrefix(strings.TrimSpace(line), "$ kubectl gc ")
		switch {
		case isCommand:
			shown = true
			commands++
			out := s.asShown(strings.Fields(command), &digest)
			b.WriteString(line + out)
		case strings.TrimSpace(line) == "```":
			shown = false
			b.WriteString(line)
		case !shown:
			b.WriteString(line)
		}
	}
	if commands < 3 {
		s.t.Errorf("%s shows %d commands", page, commands)
	}
	if *update {
		if err := os.WriteFile(page, []byte(b.String()), 0o644); err != nil {
			s.t.Fatal(err)
		}
	} else if diff := cmp.Diff(string(raw), b.String()); diff != "" {
		s.t.Errorf("%s shows something else (-shown +printed); -update rewrites it:\n%s", page, diff)
	}
}

// asShown runs one command, and returns what a terminal would show, with fixed
// words for what differs from one run to the next. Digest is the one that was
// printed last.
func (s *stage) asShown(args []string, digest *string) string {
	s.t.Helper()
	s.t.Setenv("XDG_STATE_HOME", s.state)
	s.t.Setenv("LC_ALL", "C.UTF-8")
	typed := person{strings.NewReader("controlplane\n")}
	streams := genericiooptions.IOStreams{In: typed, Out: &bytes.Buffer{}}
	streams.ErrOut = streams.Out
	for i, a := range args {
		if strings.HasPrefix(a, "--confirm=") {
			args[i], streams.In = "--confirm="+*digest, &bytes.Buffer{}
		}
	}
	cli.Main(s.ctx, slices.Concat([]string{"kubectl-gc"}, args, []string{"--kubeconfig=" + plane.Kubeconfig}), streams)
	text := streams.Out.(*bytes.Buffer).String()
	if found := digests.FindStringSubmatch(text); found != nil {
		*digest = found[1]
	}
	return s.same(text)
}

var changing = []struct {
	form *regexp.Regexp
	word string
}{
	{regexp.MustCompile(`sha256:[0-9a-f]{64}`), "sha256:8c2b…"},
	{regexp.MustCompile(`https://127\.0\.0\.1:\d+`), "https://127.0.0.1:6443"},
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "5e1f6a0c-33a8-4c6e-9d54-0d0c2b1f7a10"},
	{regexp.MustCompile(`\d{8}T\d{6}Z-[0-9a-f]{8}`), "20261121T221724Z-8c2b51d0"},
	{regexp.MustCompile(` --kubeconfig=\S+`), ""},
}

// progress are lines of progress, of which the last one is always the same.
var progress = regexp.MustCompile(`(?m)(^\d+ of \d+ gone.*\n)*(^\d+ of \d+ gone.*\n)`)

var podName = regexp.MustCompile(`web-[0-9a-f]+-[a-z0-9]{5}\b`)

// same puts fixed words for what differs. The names of pods keep their order.
func (s *stage) same(text string) string {
	text = strings.ReplaceAll(text, s.state, "/home/ann/.local/state")
	text = strings.ReplaceAll(text, "to go on: ", "to go on: controlplane\n")
	text = progress.ReplaceAllString(text, "$2")
	for _, c := range changing {
		text = c.form.ReplaceAllString(text, c.word)
	}
	names := podName.FindAllString(text, -1)
	slices.Sort(names)
	for i, name := range slices.Compact(names) {
		text = strings.ReplaceAll(text, name, name[:len(name)-5]+[]string{"4xk2p", "9qv7d", "mz6cl"}[i%3])
	}
	return text
}
