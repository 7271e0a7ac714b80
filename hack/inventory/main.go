// Command inventory writes docs/controllers-inventory.md from controllers.tsv: every
// controller of Kubernetes that might delete something, release something or make it
// again, and where that is modelled or why it is not. That the table has what the
// release has, and nothing else, is a test of the control plane's module.
//
// With -check it writes nothing and fails when the page is out of date.
package main

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
)

//go:embed controllers.tsv
var controllers string

// page is the generated file, from the root of the repository.
const page = "docs/controllers-inventory.md"

func main() {
	check := flag.Bool("check", false, "fail when the page is out of date, write nothing")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, "inventory:", err)
		os.Exit(1)
	}
}

func run(check bool) error {
	rows, err := parse(controllers)
	if err != nil {
		return err
	}
	if err := modelled(os.DirFS("."), rows); err != nil {
		return err
	}
	want := render(rows)
	have, err := os.ReadFile(page)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case string(have) == want:
		return nil
	case check:
		return fmt.Errorf("%s is out of date: run make docs", page)
	default:
		return os.WriteFile(page, []byte(want), 0o644)
	}
}
