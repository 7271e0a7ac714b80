package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// release is the source of a version of Kubernetes: the tree of each of its modules that
// a marker names.
type release map[string]fs.FS

const kubernetes = "k8s.io/kubernetes"

// locate divides a file into the module that has it and its path in there. Every folder
// but those of k8s.io/kubernetes itself is a module beside it.
func locate(file string) (module, inside string) {
	first, rest, _ := strings.Cut(file, "/")
	if slices.Contains([]string{"cmd", "pkg", "plugin"}, first) {
		return kubernetes, file
	}
	return "k8s.io/" + first, rest
}

// full is the other way round.
func full(module, inside string) string {
	if module == kubernetes {
		return inside
	}
	return path.Join(strings.TrimPrefix(module, "k8s.io/"), inside)
}

var requirement = regexp.MustCompile(`(?m)^\s*k8s\.io/kubernetes (v\S+)$`)

// pinned is the version whose control plane the tests run.
func pinned(repository fs.FS) (string, error) {
	const file = "test/controlplane/go.mod"
	text, err := fs.ReadFile(repository, file)
	if err != nil {
		return "", err
	}
	m := requirement.FindSubmatch(text)
	if m == nil {
		return "", fmt.Errorf("%s does not require %s", file, kubernetes)
	}
	return string(m[1]), nil
}

// resolve is the version that a word such as latest stands for.
func resolve(version string) (string, error) {
	if strings.Count(version, ".") == 2 {
		return version, nil
	}
	out, err := outsideModules("list", "-m", "-f", "{{.Version}}", kubernetes+"@"+version)
	return strings.TrimSpace(string(out)), err
}

// download opens the modules of a version that the markers need.
func download(version string, markers []marker) (release, error) {
	cache, err := outsideModules("env", "GOMODCACHE")
	if err != nil {
		return nil, err
	}
	r, missing := release{}, []string{}
	for _, m := range markers {
		module, _ := locate(m.file)
		if r[module] != nil {
			continue
		}
		// The libraries beside v1.37.2 are v0.37.2.
		at := module + "@" + version
		if module != kubernetes {
			at = module + "@v0" + strings.TrimPrefix(version, "v1")
		}
		dir := filepath.Join(strings.TrimSpace(string(cache)), filepath.FromSlash(at))
		if _, err := os.Stat(dir); err != nil {
			missing = append(missing, at)
		}
		r[module] = os.DirFS(dir)
	}
	if len(missing) == 0 {
		return r, nil
	}
	_, err = outsideModules(append([]string{"mod", "download"}, missing...)...)
	return r, err
}

// outsideModules runs go where no go.mod decides what is downloaded, or is changed by it.
func outsideModules(args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = os.TempDir()
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	out, err := cmd.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, failed.Stderr)
	}
	return out, err
}
