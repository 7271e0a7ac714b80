package cluster

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// Program is kubectl-gc, built from the sources as they are. The tests of all
// packages have one file, so that it is linked once for all of them.
func Program() (string, error) {
	root, err := repository()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, "bin", "tested")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	defer func() { _ = lock.Close() }() // which unlocks it
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("%s: %w", lock.Name(), err)
	}
	path := filepath.Join(dir, "kubectl-gc")
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", path, "./cmd/kubectl-gc")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
}

// Install puts kubectl and kubectl-gc into a directory, for a shell that has it on its
// PATH: there `kubectl gc` is the plugin.
func Install(dir string) error {
	plane, err := binary()
	if err != nil {
		return err
	}
	program, err := Program()
	if err != nil {
		return err
	}
	script := "#!/bin/sh\nexec '" + plane + "' kubectl \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "kubectl"), []byte(script), 0o755); err != nil {
		return err
	}
	return os.Symlink(program, filepath.Join(dir, "kubectl-gc"))
}
