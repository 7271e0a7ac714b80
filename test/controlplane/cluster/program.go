package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// Program is kubectl-gc, built from the sources as they are. The tests of all
// packages have one file, so that it is linked once for all of them.
func Program() (string, error) { return build("kubectl-gc", ".", "./cmd/kubectl-gc") }

// Install puts kubectl and kubectl-gc into a directory, for a shell that has it on its
// PATH: there `kubectl gc` is the plugin. This kubectl is not the one in the control
// plane's binary, which takes twice as long to start.
func Install(dir string) error {
	return errors.Join(
		install(dir, "kubectl", "test/controlplane", "k8s.io/kubernetes/cmd/kubectl"),
		install(dir, "kubectl-gc", ".", "./cmd/kubectl-gc"),
	)
}

// InstallKwok puts kwok beside them, in the version of its example.
func InstallKwok(dir string) error {
	return install(dir, "kwok", "examples/kwok", "sigs.k8s.io/kwok/cmd/kwok")
}

// ArgoController is Argo CD's application controller.
func ArgoController() (string, error) {
	return build("argocd-controller", "test/controlplane/argo/controller", ".")
}

func install(dir, name, module, pkg string) error {
	path, err := build(name, module, pkg)
	if err != nil {
		return err
	}
	return os.Symlink(path, filepath.Join(dir, name))
}

// build builds a package of the module in a directory of the repository.
func build(name, module, pkg string) (string, error) {
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
	path := filepath.Join(dir, name)
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", path, pkg)
	build.Dir = filepath.Join(root, filepath.FromSlash(module))
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as everything else, see the Makefile
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
}
