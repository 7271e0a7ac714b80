// Command upstream lists what a new version of Kubernetes changes in the functions that
// are reproduced here. A function that reproduces one of Kubernetes says so in a line of
// its comment:
//
//	Upstream: pkg/controller/garbagecollector/garbagecollector.go attemptToDeleteItem.
//
// docs/testing.md says what such a line may hold. For each function the list says whether
// it is unchanged, changed, moved, gone or new between two versions, with the
// difference. Both are read from the module cache, and downloaded where they are missing.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	from := flag.String("from", "", "the version that is reproduced; that of test/controlplane/go.mod when empty")
	to := flag.String("to", "latest", "the version that is to be adopted")
	names := flag.Bool("names", false, "list the functions without their differences")
	flag.Parse()
	if err := run(os.Stdout, *from, *to, *names); err != nil {
		fmt.Fprintln(os.Stderr, "upstream:", err)
		os.Exit(1)
	}
}

// run works from the root of the repository.
func run(out io.Writer, from, to string, names bool) error {
	tree := os.DirFS(".")
	markers, err := scan(tree)
	if err != nil {
		return err
	}
	if from == "" {
		if from, err = pinned(tree); err != nil {
			return err
		}
	}
	if to, err = resolve(to); err != nil {
		return err
	}
	have, err := download(from, markers)
	if err != nil {
		return err
	}
	want, err := download(to, markers)
	if err != nil {
		return err
	}
	list, err := compare(markers, have, want)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	write(w, list, from, to, names)
	return w.Flush()
}
