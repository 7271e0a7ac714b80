package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// module is one of those that the program is linked from.
type module struct {
	Path    string
	Version string
	Dir     string
}

// standard is what the library of Go is called here. It bears no version: whoever
// builds chooses that.
const standard = "Go"

// linked are the modules that packages of a program in the module at root come
// from, on any of the platforms, by path. Those of the project itself are none.
func linked(ctx context.Context, root, program string, platforms []string) ([]module, error) {
	modules := map[string]module{}
	for _, platform := range platforms {
		system, processor, _ := strings.Cut(platform, "/")
		command := exec.CommandContext(ctx, "go", "list", "-deps", "-json=ImportPath,Module", program)
		command.Dir = root
		command.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0")
		command.Stderr = os.Stderr
		text, err := command.Output()
		if err != nil {
			return nil, fmt.Errorf("go list for %s: %w", platform, err)
		}
		if err := collect(text, modules); err != nil {
			return nil, fmt.Errorf("go list for %s: %w", platform, err)
		}
	}
	goroot, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	modules[standard] = module{Path: standard, Dir: strings.TrimSpace(string(goroot))}
	paths := slices.Sorted(maps.Keys(modules))
	sorted := make([]module, 0, len(paths))
	for _, path := range paths {
		sorted = append(sorted, modules[path])
	}
	return sorted, nil
}

// collect adds the modules of what `go list -json` printed.
func collect(text []byte, modules map[string]module) error {
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var p struct {
			Module *struct {
				module
				Main    bool
				Replace *module
			}
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		switch m := p.Module; {
		case m == nil || m.Main: // the standard library, or the project
		case m.Replace != nil:
			modules[m.Path] = module{m.Path, m.Replace.Version, m.Replace.Dir}
		default:
			modules[m.Path] = m.module
		}
	}
}
