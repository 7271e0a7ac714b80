// Command semantics writes docs/spec/coverage.md: which behaviours of Kubernetes
// the tests simulate, which wait for what, and which were shown on a real control
// plane. It joins the committed table of behaviours with what tests and scenario
// files say they cover and with what the tests of the control plane have shown.
//
// With -check it writes nothing and fails when the page is out of date or when
// a test claims a number that the table does not have.
package main

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
)

//go:embed scenarios.tsv
var scenarios string

// page is the generated file, from the root of the repository.
const page = "docs/spec/coverage.md"

func main() {
	check := flag.Bool("check", false, "fail when the page is out of date, write nothing")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, "semantics:", err)
		os.Exit(1)
	}
}

func run(check bool) error {
	table, err := parseTable(scenarios)
	if err != nil {
		return err
	}
	claims, err := collect(os.DirFS("."))
	if err != nil {
		return err
	}
	if err := contradictions(table, claims); err != nil {
		return err
	}
	text, err := os.ReadFile(shownFile)
	if err != nil {
		return err
	}
	truth, err := parseLedger(string(text), table)
	if err != nil {
		return err
	}
	want := render(table, claims, truth)
	have, err := os.ReadFile(page)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	switch {
	case string(have) == want:
		return nil
	case check:
		return fmt.Errorf("%s is out of date: run `make docs`", page)
	default:
		return os.WriteFile(page, []byte(want), 0o644)
	}
}
