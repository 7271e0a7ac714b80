// Command releases writes the module files from which package main of the control plane
// is built for older releases of Kubernetes:
//
//	go run ./releases v1.31.0 v1.32.2
//
// writes releases/v1.31.mod and v1.32.mod, with their sums. Such a file asks for one
// version of k8s.io/kubernetes and for nothing else; everything below it, etcd too, has
// the version that this release was published with. The newest release is the one of
// go.mod.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// upstream is the module that a control plane is made of.
const upstream = "k8s.io/kubernetes"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "releases:", err)
		os.Exit(1)
	}
}

func run(versions []string) error {
	if len(versions) == 0 {
		return errors.New("usage: go run ./releases VERSION…, in test/controlplane")
	}
	for _, v := range versions {
		if err := write(v); err != nil {
			return fmt.Errorf("%s: %w", v, err)
		}
	}
	return nil
}

var full = regexp.MustCompile(`^v1\.(\d+)\.\d+$`)

// write makes the module file of one release from nothing.
func write(version string) error {
	minor := full.FindStringSubmatch(version)
	if minor == nil {
		return errors.New("a version like v1.31.0 is wanted")
	}
	published, err := module(version)
	if err != nil {
		return err
	}
	own, err := read("go.mod")
	if err != nil {
		return err
	}
	name := filepath.Join("releases", "v1."+minor[1])
	if err := errors.Join(absent(name+".mod"), absent(name+".sum")); err != nil {
		return err
	}
	if err := os.WriteFile(name+".mod", published.file(version, own), 0o644); err != nil {
		return err
	}
	// Whatever the packages need besides is added, and their sums are.
	_, err = command("go", "list", "-mod=mod", "-modfile="+name+".mod", "-deps", ".")
	return err
}

func absent(file string) error {
	if err := os.Remove(file); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// moduleFile is what `go mod edit -json` says of one.
type moduleFile struct {
	Module  struct{ Path string }
	Go      string
	Godebug []struct{ Key, Value string }
	Require []struct{ Path, Version string }
	Replace []struct {
		Old, New struct{ Path, Version string }
	}
}

// module is the module file with which a release was published.
func module(version string) (moduleFile, error) {
	out, err := command("go", "mod", "download", "-json", upstream+"@"+version)
	if err != nil {
		return moduleFile{}, err
	}
	var at struct{ GoMod string }
	if err := json.Unmarshal(out, &at); err != nil {
		return moduleFile{}, err
	}
	return read(at.GoMod)
}

func read(file string) (f moduleFile, err error) {
	out, err := command("go", "mod", "edit", "-json", file)
	if err != nil {
		return f, err
	}
	return f, json.Unmarshal(out, &f)
}

// file asks for the release. What lies in its own repository it replaces by folders,
// which are published as modules of the same minor version. The language is that of our
// package; what Go makes depend on a version at run time is as in the release.
func (f moduleFile) file(version string, own moduleFile) []byte {
	staging := "v0" + strings.TrimPrefix(version, "v1")
	var b bytes.Buffer
	fmt.Fprintf(&b, "// Written by `go run ./releases %s`.\n\nmodule %s\n\ngo %s\n\n", version, own.Module.Path, own.Go)
	debug := f.Godebug
	if len(debug) == 0 {
		language, _, _ := strings.Cut(strings.TrimPrefix(f.Go, "1."), ".")
		fmt.Fprintf(&b, "godebug default=go1.%s\n", language)
	}
	for _, d := range debug {
		fmt.Fprintf(&b, "godebug %s=%s\n", d.Key, d.Value)
	}
	fmt.Fprintf(&b, "\nrequire %s %s\n\nreplace (\n", upstream, version)
	for _, r := range f.Replace {
		if r.New.Version == "" {
			fmt.Fprintf(&b, "\t%s => %s %s\n", r.Old.Path, r.Old.Path, staging)
		}
	}
	b.WriteString(")\n")
	return b.Bytes()
}

func command(name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false", "GOWORK=off") // -modfile needs the latter
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, errOut.Bytes())
	}
	return out.Bytes(), nil
}
