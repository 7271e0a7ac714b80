package docs

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path"
	"strings"
	"testing"

	gojq "github.com/itchyny/gojq/cli"
	"github.com/rogpeppe/go-internal/testscript"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
	"github.com/kubectl-gc/kubectl-gc/test/docs/markdown"
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

// root is the root of the repository, seen from here.
const root = "../.."

// page is one Markdown file.
type page struct{ markdown.Page }

func parse(name, source string) page { return page{markdown.Parse(name, []byte(source))} }

// pages are all pages, sorted by path.
func pages(t *testing.T) []page {
	t.Helper()
	found, err := markdown.Pages(root)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]page, len(found))
	for i, p := range found {
		all[i] = page{p}
	}
	return all
}

// TestTasksAreOneScreen: a page of docs/tasks is read by somebody in a hurry. What
// needs more words is a guide.
func TestTasksAreOneScreen(t *testing.T) {
	const mostWords, mostLines = 260, 55 // besides code; with it and its fences
	for _, p := range pages(t) {
		if path.Dir(p.Path) != "docs/tasks" || path.Base(p.Path) == "README.md" {
			continue
		}
		words := len(bytes.Fields(p.Source))
		for _, b := range p.Blocks() {
			words -= len(strings.Fields(b.Text))
		}
		if words > mostWords {
			t.Errorf("%s has %d words, more than %d", p.Path, words, mostWords)
		}
		if lines := bytes.Count(p.Source, []byte("\n")); lines > mostLines {
			t.Errorf("%s has %d lines, more than %d", p.Path, lines, mostLines)
		}
	}
}
