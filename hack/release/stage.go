package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
)

// completer is what kubectl runs for `kubectl gc <TAB>`, if it finds it in PATH.
const completer = "#!/bin/sh\nexec kubectl-gc __complete \"$@\"\n"

// scripts are the completion scripts for those who call kubectl-gc itself, under
// the names by which the shells find them.
var scripts = map[string]string{
	"bash":       "kubectl-gc.bash",
	"zsh":        "_kubectl-gc",
	"fish":       "kubectl-gc.fish",
	"powershell": "kubectl-gc.ps1",
}

// stage writes what archives have beside the binary and is in no file of the repository
// into an empty directory.
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
