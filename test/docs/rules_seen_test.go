package docs

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/docs/markdown"
)

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
