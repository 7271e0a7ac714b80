// Command release prepares and judges the archives of a release.
//
//	release stage DIR               write the completion scripts that the
//	                                archives contain
//	release verify DIR              check the archives in DIR: checksums, content,
//	                                krew.yaml; run the one of this machine
//	release sum DIR                 print the hash of each archive in DIR
//	release date VERSION            print the time of the files of a version
//	release krew VERSION DIR        write krew.yaml from the archives in DIR
//	release krew-check VERSION DIR  fail if krew.yaml is not of these archives
//	release sbom ARCHIVE FILE       write what the program in an archive is made of
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 3 {
		switch args[0] {
		case "sbom":
			return sbom(args[1], args[2])
		case "krew":
			return krew(args[1], args[2])
		case "krew-check":
			return checkKrew(args[1], args[2])
		}
	}
	if len(args) != 2 {
		return errors.New("usage: release stage|verify|sum DIR, release date VERSION, release krew|krew-check VERSION DIR, or release sbom ARCHIVE FILE")
	}
	switch verb, dir := args[0], args[1]; verb {
	case "date":
		return date(args[1], out)
	case "stage":
		return stage(ctx, dir)
	case "verify":
		return verify(ctx, dir, out)
	case "sum":
		return sum(dir, out)
	default:
		return fmt.Errorf("unknown verb %q", verb)
	}
}

// completer is what kubectl runs for `kubectl gc <TAB>`, if it finds it in PATH.
const completer = "#!/bin/sh\nexec kubectl-gc __complete \"$@\"\n"

// scripts are the file names of the completion scripts of kubectl-gc, by shell. The shells find them
// by these names.
var scripts = map[string]string{
	"bash":       "kubectl-gc.bash",
	"zsh":        "_kubectl-gc",
	"fish":       "kubectl-gc.fish",
	"powershell": "kubectl-gc.ps1",
}

// stage writes the generated files of the archives into an empty directory.
func stage(ctx context.Context, dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, "completions"), 0o755); err != nil {
		return err
	}
	for shell, name := range scripts {
		script, err := completion(ctx, shell)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "completions", name), script, 0o644); err != nil {
			return err
		}
	}
	pages, err := manPages()
	if err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(dir, "man"), 0o755); err != nil {
		return err
	}
	for name, page := range pages {
		if err := os.WriteFile(filepath.Join(dir, "man", name), page, 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, "kubectl_complete-gc"), []byte(completer), 0o755)
}

// completion has the program print its own script.
func completion(ctx context.Context, shell string) ([]byte, error) {
	var script, complaint bytes.Buffer
	streams := genericiooptions.IOStreams{In: new(bytes.Buffer), Out: &script, ErrOut: &complaint}
	if code := cli.Main(ctx, []string{"kubectl-gc", "completion", shell}, streams); code != 0 {
		return nil, fmt.Errorf("completion %s: exit code %d: %s", shell, code, complaint.String())
	}
	return script.Bytes(), nil
}

// date prints the time of all files of a release as environment variables. It is the release day in
// CHANGELOG.md. The day of a commit would change with every rebase, and with it the hashes in
// krew.yaml.
func date(version string, out io.Writer) error {
	const changelog = "CHANGELOG.md"
	text, err := os.ReadFile(changelog)
	if err != nil {
		return err
	}
	released, err := releasedOn(string(text), version)
	if err != nil {
		return fmt.Errorf("%s: %w", changelog, err)
	}
	_, err = fmt.Fprintf(out, "SOURCE_DATE_EPOCH=%d SOURCE_DATE_RFC3339=%s\n", released.Unix(), released.Format(time.RFC3339))
	return err
}

// heading is that of one version, as Keep a Changelog has it: ## [0.1.0] - 2026-11-22.
var heading = regexp.MustCompile(`(?m)^## \[([^\]\n]+)\] - (\S+)$`)

// releasedOn is the day of a version, such as v0.1.0, in a changelog.
func releasedOn(changelog, version string) (time.Time, error) {
	for _, found := range heading.FindAllStringSubmatch(changelog, -1) {
		if "v"+found[1] == version {
			return time.Parse(time.DateOnly, found[2])
		}
	}
	return time.Time{}, fmt.Errorf("no heading names %s and its day, as in: ## [0.1.0] - 2026-11-22", version)
}
