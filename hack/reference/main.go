// Command reference writes docs/schema/, docs/reasons.md, docs/known-finalizers.md and
// docs/kubernetes-versions.md from the code: the documents that commands answer with, the
// reasons and codes that these carry, and the tables of finalizers and releases. With -check it writes nothing and fails when
// a file is not what it would write.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	check := flag.Bool("check", false, "fail on a difference instead of writing")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

func run(check bool) error {
	pages := map[string][]byte{"docs/reasons.md": reasonsPage(), "docs/known-finalizers.md": finalizersPage(), "docs/kubernetes-versions.md": releasesPage()}
	schemas, err := schemaPages()
	if err != nil {
		return err
	}
	maps.Copy(pages, schemas)
	if err := removeStale(pages, check); err != nil {
		return err
	}
	for _, name := range sortedNames(pages) {
		have, err := os.ReadFile(name)
		if err == nil && bytes.Equal(have, pages[name]) {
			continue
		}
		if check {
			return fmt.Errorf("%s is out of date: run make docs", name)
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, pages[name], 0o644); err != nil {
			return err
		}
	}
	return nil
}

// removeStale takes away schemas of documents that are no more.
func removeStale(pages map[string][]byte, check bool) error {
	have, err := filepath.Glob(schemaDirectory + "/*.json")
	if err != nil {
		return err
	}
	for _, name := range have {
		if pages[filepath.ToSlash(name)] != nil {
			continue
		}
		if check {
			return fmt.Errorf("%s is of something that is no more: run make docs", name)
		}
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

func sortedNames(pages map[string][]byte) []string {
	names := make([]string, 0, len(pages))
	for name := range pages {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
