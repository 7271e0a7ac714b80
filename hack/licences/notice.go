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
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// allowed has the SPDX names of the licences that a dependency may have: the program is under the
// Apache licence and is distributed with these notices.
var allowed = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"}

// Files that hold a licence, and files that have to come along with one.
var (
	granting     = regexp.MustCompile(`(?i)^(licen[cs]e|copying)([-.].*)?$`)
	accompanying = regexp.MustCompile(`(?i)^(notice|patents)([-.].*)?$`)
)

// certain is how much of a licence, in percent, has to be found in a file that
// calls itself one.
const certain = 75

// notice is what has to be said about one module.
type notice struct {
	module
	licences []string
	texts    []string
}

// noticeOf reads the licence of a module.
func noticeOf(m module) (notice, error) {
	files, err := os.ReadDir(m.Dir)
	if err != nil {
		return notice{}, fmt.Errorf("%s %s: %w", m.Path, m.Version, err)
	}
	n := notice{module: m}
	for _, f := range files {
		grants := granting.MatchString(f.Name())
		if f.IsDir() || !grants && !accompanying.MatchString(f.Name()) || filepath.Ext(f.Name()) == ".go" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(m.Dir, f.Name()))
		if err != nil {
			return notice{}, err
		}
		n.texts = append(n.texts, strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")))
		if !grants {
			continue
		}
		cover := licensecheck.Scan(text)
		if cover.Percent < certain {
			return notice{}, fmt.Errorf("%s %s: only %.0f %% of %s is a licence that is known", m.Path, m.Version, cover.Percent, f.Name())
		}
		for _, match := range cover.Match {
			n.licences = append(n.licences, match.ID)
		}
	}
	slices.Sort(n.licences)
	n.licences = slices.Compact(n.licences)
	if len(n.licences) == 0 {
		return notice{}, fmt.Errorf("%s %s: no licence was found in %s", m.Path, m.Version, m.Dir)
	}
	for _, id := range n.licences {
		if !slices.Contains(allowed, id) {
			return notice{}, fmt.Errorf("%s %s: licence %s is not allowed; allowed are %s", m.Path, m.Version, id, strings.Join(allowed, ", "))
		}
	}
	return n, nil
}

// page is the file of notices: a list, then every text once, with the modules
// that it belongs to.
func page(found []notice) []byte {
	var out bytes.Buffer
	out.WriteString("kubectl gc is made of the modules below, each under its own licence.\n\n")
	var order []string
	of := map[string][]string{}
	for _, n := range found {
		fmt.Fprintf(&out, "%s (%s)\n", strings.TrimSpace(n.Path+" "+n.Version), strings.Join(n.licences, ", "))
		for _, text := range n.texts {
			if of[text] == nil {
				order = append(order, text)
			}
			of[text] = append(of[text], n.Path)
		}
	}
	for _, text := range order {
		fmt.Fprintf(&out, "\n%s\n%s\n\n%s\n", strings.Repeat("-", 80), strings.Join(of[text], "\n"), text)
	}
	return out.Bytes()
}

// module is one of those that the program is linked from.
type module struct {
	Path    string
	Version string
	Dir     string
}

// standard is the name of Go's library in the notices. It has no version, which depends on the
// build.
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
