package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// example is the first thing that README.md shows, and a line of its answer.
var (
	example = []string{"dry-run", "delete", "deployment/web", "-n", "shop", "--from", "examples/shop.yaml"}
	answer  = "Deleted   rs/web-5d47c484f4          goes with its owner deploy/web"
)

// verify judges the archives of a release and says what it has looked at.
func verify(ctx context.Context, dir string, out io.Writer) error {
	archives, err := archivesIn(dir)
	if err != nil {
		return err
	}
	sums, err := os.ReadFile(filepath.Join(dir, "checksums.txt"))
	if err != nil {
		return err
	}
	ran := false
	for _, name := range archives {
		all, err := entries(name)
		if err != nil {
			return err
		}
		if bad := problems(name, all); bad != nil {
			return errors.New(strings.Join(bad, "\n"))
		}
		hash, err := hashOf(name)
		if err != nil {
			return err
		}
		line := hash + "  " + filepath.Base(name) + "\n"
		if !bytes.Contains(sums, []byte(line)) {
			return fmt.Errorf("%s: checksums.txt does not have its hash %s", name, hash)
		}
		fmt.Fprint(out, line)
		if strings.Contains(name, "_"+runtime.GOOS+"_"+runtime.GOARCH+".") {
			if err := try(ctx, name, all); err != nil {
				return err
			}
			ran = true
		}
	}
	if !ran {
		return fmt.Errorf("%s: no archive for %s/%s, so none was run", dir, runtime.GOOS, runtime.GOARCH)
	}
	fmt.Fprintf(out, "verify: %d archives are whole; the one for %s/%s runs\n", len(archives), runtime.GOOS, runtime.GOARCH)
	return nil
}

// try unpacks an archive and has its program answer the first question of
// README.md, with nothing in HOME or PATH but what was unpacked.
func try(ctx context.Context, name string, all []entry) error {
	home, err := os.MkdirTemp("", "kubectl-gc-home-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	if err := unpack(all, home); err != nil {
		return fmt.Errorf("unpack %s: %w", name, err)
	}
	environment := []string{"HOME=" + home, "PATH=" + home + ":/bin:/usr/bin"}
	for _, step := range []struct {
		args []string
		want string
	}{
		{append([]string{"kubectl-gc"}, example...), answer},
		{[]string{"kubectl-gc", "version"}, "kubectl-gc " + named.FindStringSubmatch(filepath.Base(name))[1] + "\n"},
		{[]string{"kubectl_complete-gc", "dry-run", "del"}, "delete\t"},
	} {
		command := exec.CommandContext(ctx, filepath.Join(home, step.args[0]), step.args[1:]...)
		command.Env = environment
		printed, err := command.Output()
		if err != nil {
			return fmt.Errorf("%s: %s: %w", name, strings.Join(step.args, " "), err)
		}
		if !bytes.Contains(printed, []byte(step.want)) {
			return fmt.Errorf("%s: %s printed\n%s\nwithout %q", name, strings.Join(step.args, " "), printed, step.want)
		}
	}
	return nil
}

// sum prints what two builds are compared by.
func sum(dir string, out io.Writer) error {
	archives, err := archivesIn(dir)
	if err != nil {
		return err
	}
	for _, name := range archives {
		hash, err := hashOf(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s  %s\n", hash, filepath.Base(name))
	}
	return nil
}

// archivesIn are the archives of a directory by name.
func archivesIn(dir string) ([]string, error) {
	archives, err := filepath.Glob(filepath.Join(dir, "kubectl-gc_*_*_*.*"))
	if err != nil {
		return nil, err
	}
	kept := archives[:0]
	for _, name := range archives {
		if named.MatchString(filepath.Base(name)) {
			kept = append(kept, name)
		}
	}
	if len(kept) == 0 {
		return nil, fmt.Errorf("%s: no archive", dir)
	}
	return kept, nil
}

func hashOf(name string) (string, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sha256.Sum256(text)), nil
}
