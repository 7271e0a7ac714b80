// Package inventory holds the table of those who delete in a cluster against the release
// whose behaviour is reproduced: no controller may be missing in it, and none may be in
// it that the release does not have.
package inventory

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

const table = "../../../hack/inventory/controllers.tsv"

var plane *cluster.Cluster

func TestMain(m *testing.M) { os.Exit(cluster.Main(m, &plane)) }

// named are the names that the table has of the controllers of a component. What it has
// in parentheses has no name there.
func named(t *testing.T, component string) []string {
	t.Helper()
	text, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "\t")
		if cells[0] == component && !strings.HasPrefix(cells[1], "(") {
			names = append(names, cells[1])
		}
	}
	return names
}

// disagreement says which names upstream has that the table lacks, and the other way
// round; empty for none.
func disagreement(table, upstream []string) string {
	var wrong []string
	for _, name := range upstream {
		if !slices.Contains(table, name) {
			wrong = append(wrong, fmt.Sprintf("%s is not in the table", name))
		}
	}
	for _, name := range table {
		if !slices.Contains(upstream, name) {
			wrong = append(wrong, fmt.Sprintf("%s is in the table, and not in this release", name))
		}
	}
	slices.Sort(wrong)
	return strings.Join(wrong, "\n")
}

// TestControllerManager: the table has the controllers of kube-controller-manager, those
// that are off by default too.
func TestControllerManager(t *testing.T) {
	if wrong := disagreement(named(t, "kube-controller-manager"), known(t)); wrong != "" {
		t.Error(wrong)
	}
}

func known(t *testing.T) []string {
	t.Helper()
	names, err := cluster.KnownControllers()
	if err != nil || len(names) < 40 {
		t.Fatalf("%d controllers: %v", len(names), err)
	}
	return names
}

// TestServer: the table has what kube-apiserver starts, as its source says.
func TestServer(t *testing.T) {
	if wrong := disagreement(named(t, "kube-apiserver"), hooks(t)); wrong != "" {
		t.Error(wrong)
	}
}

// TestRunningServer: what a kube-apiserver that runs has started is what its source was
// read for, and in the table.
func TestRunningServer(t *testing.T) {
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, plane.URL+"/livez?verbose", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+plane.Token)
	answer, err := plane.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text := new(strings.Builder)
	if err := answer.Write(text); err != nil {
		t.Fatal(err)
	}
	var started []string
	for _, m := range regexp.MustCompile(`poststarthook/(\S+)`).FindAllStringSubmatch(text.String(), -1) {
		started = append(started, m[1])
	}
	if len(started) < 15 {
		t.Fatalf("it has started %q:\n%s", started, text)
	}
	have := named(t, "kube-apiserver")
	for _, name := range started {
		if !slices.Contains(have, name) {
			t.Errorf("%s is not in the table", name)
		}
	}
}

// TestDisagreement: a controller that the table lacks is found, and one that upstream
// lacks.
func TestDisagreement(t *testing.T) {
	have := known(t)
	if got := disagreement(have[1:], have); got != have[0]+" is not in the table" {
		t.Errorf("one is missing: %q", got)
	}
	if got := disagreement(append([]string{"new-controller"}, have...), have); got != "new-controller is in the table, and not in this release" {
		t.Errorf("one is too many: %q", got)
	}
}

// sources are the modules that make a kube-apiserver, and where in them hooks are added.
var sources = map[string][]string{
	"k8s.io/kubernetes":              {"pkg/controlplane", "pkg/registry", "cmd/kube-apiserver"},
	"k8s.io/apiserver":               {"pkg/server"},
	"k8s.io/apiextensions-apiserver": {"pkg/apiserver"},
	"k8s.io/kube-aggregator":         {"pkg/apiserver"},
}

var (
	added    = regexp.MustCompile(`AddPostStartHook(?:OrDie)?\(\s*"([^"]+)"`)
	constant = regexp.MustCompile(`(?i)\w*HookName\s*:?=\s*"([^"]+)"`)
	provided = regexp.MustCompile(`PostStartHook\(\) \(string, genericapiserver\.PostStartHookFunc, error\) \{\s*return "([^"]+)"`)
)

// hooks are what a kube-apiserver starts: each part of it that does something by itself
// is started by a hook with a name.
func hooks(t *testing.T) []string {
	t.Helper()
	var names []string
	for module, folders := range sources {
		out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
		if err != nil {
			t.Fatalf("%s: %v", module, err)
		}
		for _, folder := range folders {
			dir := filepath.Join(strings.TrimSpace(string(out)), folder)
			err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
					return err
				}
				text, err := os.ReadFile(path)
				for _, form := range []*regexp.Regexp{added, constant, provided} {
					for _, m := range form.FindAllStringSubmatch(string(text), -1) {
						names = append(names, m[1])
					}
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(names) < 30 {
		t.Fatalf("only %q were found: the forms in which hooks are added have changed", names)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
