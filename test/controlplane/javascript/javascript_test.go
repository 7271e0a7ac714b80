// Package javascript runs the tests of deletes in JavaScript that examples/javascript
// shows, against an API server that has no controllers.
package javascript

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
	"github.com/kubectl-gc/kubectl-gc/test/programs"
)

// example is a copy of the example, with its packages installed.
var example string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "javascript-")
	if err != nil {
		panic(err)
	}
	example = filepath.Join(dir, "example")
	code := programs.Main(m, "the example in JavaScript", []string{"node", "npm"}, func() error {
		if err := os.CopyFS(example, os.DirFS("../../../examples/javascript")); err != nil {
			return err
		}
		return programs.InstallPackages(example)
	})
	if err := os.RemoveAll(dir); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// verdict is a line of the report of node's tests.
var verdict = regexp.MustCompile(`(?m)^(ok|not ok) \d+ - (.+)$`)

func TestExample(t *testing.T) {
	plane, err := cluster.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	program, err := cluster.Program()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "node", "--test", "--test-reporter=tap")
	c.Dir = example
	c.Env = append(os.Environ(), "KUBECONFIG="+plane.Kubeconfig, fmt.Sprintf("PATH=%s%c%s", filepath.Dir(program), filepath.ListSeparator, os.Getenv("PATH")))
	out, err := c.CombinedOutput()
	ran := verdict.FindAllSubmatch(out, -1)
	for _, v := range ran {
		t.Run(string(v[2]), func(t *testing.T) {
			if string(v[1]) != "ok" {
				t.Error("fails, as said below")
			}
		})
	}
	if err != nil || len(ran) == 0 {
		t.Errorf("%d tests ran: %v\n%s", len(ran), err, out)
	}
}
