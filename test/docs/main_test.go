package docs

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"

	gojq "github.com/itchyny/gojq/cli"
	"github.com/rogpeppe/go-internal/testscript"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
)

// update writes what commands print into the pages that show it, and the lists of
// testdata. The diff is the review.
var update = flag.Bool("update", false, "rewrite the outputs in pages, and the lists of commands")

// TestMain makes the commands of pages that are not of every machine: the program,
// in the ways in which pages call it, and a jq.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"kubectl-gc": func() { program(os.Args[1:]) },
		"kubectl":    kubectl,
		"go":         goRun,
		"jq":         func() { end(gojq.Run()) },
	})
}

// end ends the process that a page has started.
func end(code int) { os.Exit(code) } //nolint:forbidigo // it is a program of its own, not the test

// program is kubectl-gc, as kubectl runs it.
func program(args []string) {
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	end(cli.Main(context.Background(), append([]string{"kubectl-gc"}, args...), streams))
}

// kubectl runs the plugin. Of everything else it says that there is no cluster.
func kubectl() {
	if len(os.Args) > 1 && os.Args[1] == "gc" {
		program(os.Args[2:])
	}
	fmt.Fprintln(os.Stderr, "kubectl: there is no cluster here: mark the block with <!-- live: what it needs -->")
	end(1)
}

// goRun runs the program from its source, and nothing else.
func goRun() {
	if len(os.Args) > 2 && os.Args[1] == "run" && os.Args[2] == "./cmd/kubectl-gc" {
		program(os.Args[3:])
	}
	fmt.Fprintln(os.Stderr, "go: only `go run ./cmd/kubectl-gc` is run here: mark the block with <!-- not run: build -->")
	end(1)
}
