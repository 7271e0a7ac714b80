package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
)

// Flags that users of kubectl expect, by the purpose of the command.
var (
	answers = []string{"output", "no-headers", "color", "ascii", "template", "allow-missing-template-keys"}
	rows    = []string{"sort-by"}
	reads   = []string{"from", "allow-partial", "treat-missing-as-absent", "chunk-size", "namespaces", "include", "exclude", "qps", "burst"}
	chooses = []string{"namespace", "all-namespaces", "selector"}
	finds   = []string{"field-selector", "filename", "kustomize", "recursive", "all"}
	judges  = []string{"require-complete"}
	writes  = []string{"dry-run", "confirm"}
	always  = []string{"context", "kubeconfig", "request-timeout", "as", "progress"}
)

// expected are the purposes of every command. A missing command fails the test, so that it is not
// forgotten.
var expected = map[string][][]string{
	"check":                 {answers, rows, reads, judges},
	"collect":               {answers, rows, reads, judges, writes, {"namespace", "all-namespaces", "fail-on", "steps"}},
	"completion":            {},
	"completion bash":       {},
	"completion fish":       {},
	"completion powershell": {},
	"completion zsh":        {},
	"controller":            {},
	"delete":                {answers, rows, chooses, finds, judges, writes, {"cascade", "wait", "timeout", "chunk-size"}},
	"doctor":                {answers, rows, reads, judges},
	"dry-run":               {},
	"dry-run delete":        {answers, rows, reads, chooses, finds, judges, {"cascade", "fail-on", "steps", "explore"}},
	"explain":               {answers, reads, chooses, finds, judges},
	"graph":                 {answers, reads, chooses, finds},
	"lost":                  {answers, rows, judges, {"namespace", "all-namespaces", "since", "since-revision"}},
	"options":               {},
	"rbac":                  {answers, {"from"}},
	"remove-finalizer":      {answers, rows, reads, chooses, judges, writes, {"wait", "timeout", "steps"}},
	"risk":                  {answers, rows, reads, judges, {"namespace", "all-namespaces", "top"}},
	"snapshot":              {reads, {"to", "compression"}},
	"stuck":                 {answers, rows, reads, judges, {"namespace", "all-namespaces"}},
	"undo":                  {answers, writes},
	"version":               {answers},
}

// TestFlags: every command has its required flags, and every flag and argument has a completion.
func TestFlags(t *testing.T) {
	root := cli.NewCommand("kubectl gc", genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &bytes.Buffer{}, ErrOut: &bytes.Buffer{}})
	seen := map[string]bool{}
	eachCommand(root, func(c *cobra.Command) {
		path := strings.TrimSpace(strings.TrimPrefix(c.CommandPath(), "kubectl gc"))
		seen[path] = true
		groups, ok := expected[path]
		if !ok && path != "" {
			t.Errorf("%s: what must it have? Add it to the table", path)
		}
		for _, name := range slices.Concat(append(groups, always)...) {
			if c.Flag(name) == nil && c.InheritedFlags().Lookup(name) == nil {
				t.Errorf("%s has no --%s", path, name)
			}
		}
		if c.ValidArgsFunction == nil {
			t.Errorf("%s: nothing completes its arguments", path)
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if _, ok := c.GetFlagCompletionFunc(f.Name); !ok && f.Value.Type() != "bool" {
				t.Errorf("%s --%s: nothing completes its value", path, f.Name)
			}
		})
		if path != "" && c.Example == "" && !c.HasSubCommands() {
			t.Errorf("%s: no example", path)
		}
	})
	for path := range expected {
		if !seen[path] {
			t.Errorf("%s is in the table and not a command", path)
		}
	}
}

// TestHelpIsShort: the help of read-only commands lists only flags that most users need.
func TestHelpIsShort(t *testing.T) {
	const most = 12
	root := cli.NewCommand("kubectl gc", genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &bytes.Buffer{}, ErrOut: &bytes.Buffer{}})
	for _, path := range []string{"check", "doctor", "explain", "graph", "lost", "rbac", "risk", "snapshot", "stuck", "version"} {
		c, _, err := root.Find(strings.Fields(path))
		if err != nil {
			t.Fatal(err)
		}
		c.InitDefaultHelpFlag()
		shown := 0
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && c.PersistentFlags().Lookup(f.Name) == nil && root.PersistentFlags().Lookup(f.Name) == nil {
				shown++
			}
		})
		if shown > most {
			t.Errorf("%s --help lists %d flags, more than %d", path, shown, most)
		}
	}
}

// TestFormats: every command with an answer supports every format of kubectl.
func TestFormats(t *testing.T) {
	t.Chdir("../..")
	const from = " --from examples/payments-stuck.yaml -n payments"
	commands := map[string]string{
		"check":            "check --from examples/cluster.yaml",
		"collect":          "collect --from examples/garbage.yaml",
		"doctor":           "doctor --from examples/garbage.yaml",
		"dry-run delete":   "dry-run delete database/orders" + from,
		"explain":          "explain database/orders" + from,
		"graph":            "graph database/orders" + from,
		"rbac":             "rbac --for controller",
		"remove-finalizer": "remove-finalizer configmap/orders-archive example.com/keep-archive" + from,
		"risk":             "risk --from examples/cluster.yaml",
		"stuck":            "stuck" + from,
		"version":          "version",
	}
	for path, groups := range expected {
		if _, ok := commands[path]; !ok && slices.ContainsFunc(groups, func(g []string) bool { return slices.Equal(g, answers) }) && !slices.Contains([]string{"delete", "lost", "undo"}, path) {
			t.Errorf("%s answers and is not tried", path)
		}
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"path": "{.kind}", "template": "{{.kind}}", "columns": "KIND\n.kind\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for path, command := range commands {
		var document struct {
			Kind  string
			Items []any
		}
		if err := json.Unmarshal([]byte(answer(t, command+" -o json")), &document); err != nil || document.Kind == "" {
			t.Errorf("%s: %v, kind %q", path, err, document.Kind)
		}
		rows := len(document.Items) > 0 || path != "explain" && path != "rbac" && path != "version"
		for format, want := range map[string]string{
			"-o yaml": "kind: ", "-o kyaml": "kind: ", "-o jsonl": `"kind":"` + document.Kind + `"`, "-o name": "", "-o wide": "", "": "",
			"-o jsonpath={.kind}": document.Kind, "-o jsonpath-file=" + dir + "/path": document.Kind, "-o jsonpath --template={.kind}": document.Kind,
			"-o go-template={{.kind}}": document.Kind, "-o go-template-file=" + dir + "/template": document.Kind, "--template={{.kind}}": document.Kind,
			"-o custom-columns=KIND:.kind": "KIND\n" + document.Kind, "-o custom-columns=KIND:.kind --no-headers": document.Kind + "\n",
			"-o custom-columns-file=" + dir + "/columns": "KIND\n" + document.Kind,
		} {
			if format == "-o name" && path == "version" {
				continue // it has no objects
			}
			if strings.Contains(format, "custom-columns") && rows {
				want = "" // columns are of the rows
			}
			got := answer(t, strings.TrimSpace(command+" "+format))
			if !strings.Contains(got, want) || strings.HasPrefix(want, document.Kind) && !strings.HasPrefix(got, want) {
				t.Errorf("%s %s: %q, want %q", path, format, got, want)
			}
		}
	}
}

// answer returns the stdout of a command. Findings and refusals are answers.
func answer(t *testing.T, line string) string {
	t.Helper()
	var out, errs bytes.Buffer
	code := cli.Main(t.Context(), append([]string{"kubectl-gc"}, strings.Fields(line)...), genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &errs})
	if code == 1 || code == 2 {
		t.Errorf("%s: exit code %d: %s", line, code, errs.String())
	}
	return out.String()
}

func eachCommand(c *cobra.Command, visit func(*cobra.Command)) {
	visit(c)
	for _, sub := range c.Commands() {
		eachCommand(sub, visit)
	}
}
