package main

import (
	"errors"
	"flag"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// update rewrites the expected outputs of the scripts; the diff is the review.
var update = flag.Bool("update", false, "rewrite what scripts expect")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"kubectl-gc": main, "kubectl_complete-gc": main})
}

// TestScripts runs command lines as a user does. Each script has one or more dumps, the commands,
// and their exact output.
func TestScripts(t *testing.T) {
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "helm-record": helmRecord},
		Setup: func(e *testscript.Env) error {
			e.Setenv("EXAMPLES", examples)
			program, err := exec.LookPath("kubectl-gc") // this test, under the name of the program
			e.Setenv("KUBECTL_GC", program)
			return err
		},
	})
}

// exits runs a command and requires the exit code in its first argument:
// `exits 3 kubectl-gc check --from dump.yaml`.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARGUMENT…]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}
