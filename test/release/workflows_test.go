// Package release checks what publishes: workflows, whose mistakes show when it is
// too late, and the image.
package release

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

type workflow struct {
	On          map[string]any    `json:"true"` // what YAML makes of `on`
	Permissions map[string]string `json:"permissions"`
	Concurrency map[string]any    `json:"concurrency"`
	Jobs        map[string]job    `json:"jobs"`
}

type job struct {
	RunsOn      string            `json:"runs-on"`
	Timeout     int               `json:"timeout-minutes"`
	Permissions map[string]string `json:"permissions"`
	Steps       []step            `json:"steps"`
}

type step struct {
	Uses string         `json:"uses"`
	Run  string         `json:"run"`
	With map[string]any `json:"with"`
}

var (
	// pinned is an action by the hash of its commit, and the version that was.
	pinned = regexp.MustCompile(`^\s*(- )?uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	uses   = regexp.MustCompile(`^\s*(- )?uses:`)
	made   = regexp.MustCompile(`\bmake ([^"\n]*)`)
)

// faults lists what is wrong with a workflow.
func faults(text string, targets []string) []string {
	var w workflow
	if err := yaml.Unmarshal([]byte(text), &w); err != nil {
		return []string{err.Error()}
	}
	var bad []string
	refuse := func(cond bool, format string, args ...any) {
		if cond {
			bad = append(bad, fmt.Sprintf(format, args...))
		}
	}
	refuse(w.Permissions == nil || len(w.Permissions) > 0, "permissions of the workflow: %v, want {}", w.Permissions)
	refuse(w.Concurrency["group"] == nil, "no concurrency")
	refuse(len(w.On) == 0 || len(w.Jobs) == 0, "nothing starts it, or it does nothing")
	for event := range w.On {
		refuse(event == "pull_request_target" || event == "workflow_run", "%s runs foreign code with our permissions", event)
	}
	for name, j := range w.Jobs {
		refuse(j.Timeout == 0, "%s: no timeout", name)
		refuse(len(j.Permissions) == 0, "%s: no permissions", name)
		refuse(strings.HasSuffix(j.RunsOn, "-latest"), "%s runs on %s, which changes", name, j.RunsOn)
		for _, s := range j.Steps {
			refuse(strings.Contains(s.Run, "${{"), "%s: an expression in a script: %s", name, s.Run)
			refuse(strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["persist-credentials"] != false, "%s: the checkout keeps its token", name)
			for _, m := range made.FindAllStringSubmatch(s.Run, -1) {
				for word := range strings.FieldsSeq(m[1]) {
					target := !strings.Contains(word, "=") && !strings.HasPrefix(word, "-") && word != ">>"
					refuse(target && !slices.Contains(targets, word), "%s: there is no make %s", name, word)
				}
			}
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		refuse(uses.MatchString(line) && !pinned.MatchString(line), "not pinned: %s", strings.TrimSpace(line))
	}
	return bad
}

// targets are those of the Makefile and what it includes.
func targets(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, name := range []string{"../../Makefile", "../../hack/release.mk", "../../hack/controlplane.mk"} {
		for _, m := range regexp.MustCompile(`(?m)^([a-z-]+):`).FindAllStringSubmatch(read(t, name), -1) {
			all = append(all, m[1])
		}
	}
	return all
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestWorkflows(t *testing.T) {
	files, err := filepath.Glob("../../.github/workflows/*")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d workflows, error %v", len(files), err)
	}
	versions := map[string]string{}
	for _, name := range files {
		text := read(t, name)
		for _, bad := range faults(text, targets(t)) {
			t.Errorf("%s: %s", name, bad)
		}
		for line := range strings.Lines(text) {
			if _, action, ok := strings.Cut(strings.TrimSpace(line), "uses: "); ok {
				path, pin, _ := strings.Cut(action, "@")
				if have, ok := versions[path]; ok && have != pin {
					t.Errorf("%s is pinned to %s and to %s", path, have, pin)
				}
				versions[path] = pin
			}
		}
	}
}

const harmless = `
on: {push: {branches: [main]}}
permissions: {}
concurrency: {group: x}
jobs:
  one:
    runs-on: ubuntu-24.04
    timeout-minutes: 5
    permissions: {contents: read}
    steps:
      - uses: actions/checkout@8e8c483db84b4bee98b60c0593521ed34d9990e8 # v6.0.1
        with:
          persist-credentials: false
      - run: make test
`

func TestFaults(t *testing.T) {
	if bad := faults(harmless, []string{"test"}); bad != nil {
		t.Fatalf("a harmless workflow: %q", bad)
	}
	for _, c := range []struct{ name, old, with, want string }{
		{"a tag", "8e8c483db84b4bee98b60c0593521ed34d9990e8 # v6.0.1", "v6", "not pinned"},
		{"a short hash", "8e8c483db84b4bee98b60c0593521ed34d9990e8", "8e8c483d", "not pinned"},
		{"no version", " # v6.0.1", "", "not pinned"},
		{"permissions for all jobs", "permissions: {}", "permissions: {contents: write}", "permissions of the workflow"},
		{"permissions by default", "permissions: {}\n", "", "permissions of the workflow"},
		{"a job without permissions of its own", "    permissions: {contents: read}\n", "", "one: no permissions"},
		{"no limit of time", "    timeout-minutes: 5\n", "", "no timeout"},
		{"side by side", "concurrency: {group: x}\n", "", "no concurrency"},
		{"foreign code", "push: {branches: [main]}", "pull_request_target: {}", "foreign code"},
		{"a title in a script", "make test", `echo "${{ github.event.pull_request.title }}"`, "expression in a script"},
		{"a token that stays", "persist-credentials: false", "fetch-depth: 0", "keeps its token"},
		{"a machine that changes", "ubuntu-24.04", "ubuntu-latest", "which changes"},
		{"no such target", "make test", "make tset", "no make tset"},
		{"no workflow", "on:", "on: [", "yaml"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(harmless, c.old, c.with, 1)
			if text == harmless {
				t.Fatalf("%q is not in the workflow", c.old)
			}
			if found := strings.Join(faults(text, []string{"test"}), "\n"); !strings.Contains(found, c.want) {
				t.Errorf("found %q, want %q in it", found, c.want)
			}
		})
	}
}

// TestImage wants the image built as the archives are, on bases that cannot change.
func TestImage(t *testing.T) {
	text := read(t, "../../Dockerfile")
	bases := regexp.MustCompile(`(?m)^FROM .*$`).FindAllString(text, -1)
	for _, base := range bases {
		if !regexp.MustCompile(`:[\w.-]+@sha256:[0-9a-f]{64}( AS \w+)?$`).MatchString(base) {
			t.Errorf("not by tag and digest: %s", base)
		}
	}
	if len(bases) != 2 {
		t.Errorf("%d stages, want 2", len(bases))
	}
	config := read(t, "../../.goreleaser.yaml")
	for _, flag := range []string{"CGO_ENABLED=0", "-trimpath", "-buildvcs=false", "-s -w -X github.com/kubectl-gc/kubectl-gc/internal/cli/command.version="} {
		if !strings.Contains(text, flag) || !strings.Contains(config, flag) {
			t.Errorf("%s is not in both, Dockerfile and .goreleaser.yaml", flag)
		}
	}
	if !strings.Contains(text, "\nUSER 65532:65532\n") {
		t.Error("the image does not name its user by number")
	}
}
