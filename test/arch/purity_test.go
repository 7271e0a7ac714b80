package arch

import (
	"fmt"
	"go/ast"
	"slices"
)

// pure are the packages whose answers depend on their arguments alone.
var pure = []string{
	"object", "reason", "release", "graph", "engine", "apisim", "apisim/controllers", "finalizer", "plan", "plan/outcome", "diagnose",
	"report", "render", "draw", "manifest", "backup/undo",
}

// liveDriver is the one file of a pure package with goroutines and timers.
const liveDriver = "internal/engine/run.go"

// seeded is what the file may take from math/rand. Chance is a generator made
// from a seed, never one of the functions of the package: a plan makes it, the
// exploring driver is given it.
func (s source) seeded() []string {
	switch {
	case s.house() == "plan":
		return []string{"Rand", "New", "NewPCG"}
	case s.path == "internal/engine/explore.go":
		return []string{"Rand"}
	default:
		return nil
	}
}

// policy is the one file of an impure package that judges by its arguments alone.
const policy = "internal/apply/protect.go"

// isPure reports whether the rules of purity hold for the file.
func (s source) isPure() bool {
	return !s.isTest() && (s.path == policy || slices.Contains(pure, s.house()) && s.path != liveDriver)
}

// goStatements reports goroutines in pure packages.
func goStatements(sources []source) []string {
	var bad []string
	for _, s := range sources {
		if !s.isPure() {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if g, ok := n.(*ast.GoStmt); ok {
				bad = append(bad, s.at(g)+": a goroutine in a pure package")
			}
			return true
		})
	}
	return bad
}

// pureImports reports what makes a pure package impure.
func pureImports(sources []source) []string {
	var bad []string
	for _, s := range sources {
		if !s.isPure() {
			continue
		}
		for _, p := range s.imports() {
			if impure(s, p) {
				bad = append(bad, fmt.Sprintf("%s: %s is pure and may not import %s", s.path, s.house(), p))
			}
		}
	}
	return bad
}

func impure(s source, p string) bool {
	switch p {
	case "sync", "sync/atomic":
		// The simulated server serves the live driver in tests, from many goroutines.
		return s.house() != "apisim"
	case "time":
		// Reading a timestamp needs the package; reading the clock is another rule.
		return s.house() != "manifest" && s.path != "internal/health/record.go"
	case "math/rand", "math/rand/v2":
		return s.seeded() == nil
	case "os", "os/exec", "os/signal", "os/user", "syscall", "crypto/rand", "unsafe", "runtime":
		return true
	default:
		return false
	}
}

// chance reports uses of math/rand beyond a seeded generator.
func chance(sources []source) []string {
	var bad []string
	for _, s := range sources {
		if !s.isPure() {
			continue
		}
		for _, pkg := range []string{"math/rand", "math/rand/v2"} {
			s.uses(pkg, func(name string, at ast.Node) {
				if !slices.Contains(s.seeded(), name) {
					bad = append(bad, s.at(at)+": rand."+name+" does not come from a seed that was handed in")
				}
			})
		}
	}
	return bad
}

// clock reports readings of the clock outside the packages that face the world.
func clock(sources []source) []string {
	var bad []string
	for _, s := range sources {
		if s.isTest() || s.house() == "" || s.house() == "kube" || s.house() == "apply" || s.house() == "controller" || s.house() == "deleters" || s.in("internal/cli") || s.path == liveDriver {
			continue
		}
		s.uses("time", func(name string, at ast.Node) {
			switch name {
			case "Now", "Since", "Until", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Sleep", "Local":
				bad = append(bad, s.at(at)+": time."+name+" depends on the clock or the place of the machine")
			}
		})
	}
	return bad
}

// sleeps reports tests that wait for time to pass.
func sleeps(sources []source) []string {
	var bad []string
	for _, s := range sources {
		if !s.isTest() {
			continue
		}
		s.uses("time", func(name string, at ast.Node) {
			if name == "Sleep" {
				bad = append(bad, s.at(at)+": a test that sleeps is slow on a fast machine and wrong on a slow one")
			}
		})
	}
	return bad
}

// prints reports writing to standard output behind the caller's back.
func prints(sources []source) []string {
	var bad []string
	for _, s := range sources {
		if s.isTest() || s.house() == "" || s.house() == "render" || s.in("internal/cli") {
			continue
		}
		s.uses("fmt", func(name string, at ast.Node) {
			switch name {
			case "Print", "Printf", "Println":
				bad = append(bad, s.at(at)+": fmt."+name+" outside render and cli")
			}
		})
	}
	return bad
}

// exits reports ends of the process outside main.
func exits(sources []source) []string {
	var bad []string
	for _, s := range sources {
		if s.house() == "" {
			continue
		}
		s.uses("os", func(name string, at ast.Node) {
			if name == "Exit" {
				bad = append(bad, s.at(at)+": os.Exit outside cmd")
			}
		})
	}
	return bad
}
