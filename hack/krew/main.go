// Command krew writes krew.yaml from .krew.yaml, the template that
// krew-release-bot fills, too, and from the archives of a release: their names
// say which platform they are for, their bytes are hashed. With -check it writes
// nothing and fails when krew.yaml is not what the archives say. With -unreleased
// it leaves the hashes empty: krew refuses such a manifest, as it should while there
// is nothing to install.
package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
)

const (
	templateFile = ".krew.yaml"
	manifestFile = "krew.yaml"
)

func main() {
	version := flag.String("version", "", "the version of the archives, such as v0.1.0")
	dist := flag.String("dist", "dist", "the directory that holds the archives")
	unreleased := flag.Bool("unreleased", false, "leave the hashes empty and ask for no archives")
	check := flag.Bool("check", false, "fail on a difference instead of writing")
	flag.Parse()
	sum := ofArchives(*dist)
	if *unreleased {
		sum = func(string) (string, error) { return empty, nil }
	}
	if err := run(*version, sum, *check); err != nil {
		fmt.Fprintln(os.Stderr, "krew:", err)
		os.Exit(1)
	}
}

// empty is a hash that is not known yet.
const empty = `""`

// ofArchives looks for the file of an address in a directory.
func ofArchives(dist string) func(url string) (string, error) {
	return func(url string) (string, error) { return hashOf(filepath.Join(dist, path.Base(url))) }
}

func run(version string, sum func(url string) (string, error), check bool) error {
	if version == "" {
		return errors.New("-version is missing")
	}
	text, err := os.ReadFile(templateFile)
	if err != nil {
		return err
	}
	manifest, err := render(string(text), version, sum)
	if err != nil {
		return err
	}
	if !check {
		return os.WriteFile(manifestFile, manifest, 0o644)
	}
	have, err := os.ReadFile(manifestFile)
	if err != nil {
		return err
	}
	if !bytes.Equal(have, manifest) {
		return fmt.Errorf("%s is not the manifest of version %s and its archives: run make krew and commit it", manifestFile, version)
	}
	return nil
}

// hashOf is the SHA-256 of a file as krew wants it: in lower case.
func hashOf(name string) (string, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sha256.Sum256(text)), nil
}
