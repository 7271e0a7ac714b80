package main

import (
	"strings"
	"testing"
	"testing/fstest"
)

func modules(kubernetes, library fstest.MapFS) release {
	return release{"k8s.io/kubernetes": kubernetes, "k8s.io/client-go": library}
}

var before = modules(
	fstest.MapFS{
		"pkg/gc/gc.go": file(`package gc

// same is about to get another comment.
func same() { return }
func changes() { return }
func (c *C) moves() {}
func (d D) moves() {}
func away() {}
func goes() {}

const (
	first  = 1
	second = 2 // seconds
)
`),
		"pkg/registry/a/strategy.go": file("package a\n\nfunc (strategy) Allow() bool { return true }\n"),
		"pkg/registry/c/strategy.go": file("package c\n"),
	},
	fstest.MapFS{"cache/store.go": file("package cache\n\ntype Set[T any] struct{}\n\nfunc (s *Set[T]) Add(x T) {}\n")},
)

var after = modules(
	fstest.MapFS{
		"pkg/gc/gc.go": file(`package gc

// same has another comment.
func same()   { return }
func changes() { panic(1) }

const (
	first = 1

	second = 3
)
`),
		"pkg/gc/beside.go":              file("package gc\n\nfunc (c *C) moves() {}\nfunc (d D) moves() { panic(2) }\n"),
		"pkg/gc/beside_test.go":         file("package gc\n\nfunc goes() {}\n"),
		"pkg/gc/testdata/broken.go":     file("goes() away()\n"),
		"pkg/registry/a/strategy.go":    file("package a\n\nfunc (strategy) Allow() bool { return true }\n"),
		"pkg/registry/b/strategy.go":    file("package b\n\nfunc (strategy) Allow() bool { return false }\n"),
		"pkg/registry/c/strategy.go":    file("package c\n"),
		"pkg/controlplane/elsewhere.go": file("package controlplane\n\nfunc (x X) goes() {}\n"),
	},
	fstest.MapFS{
		"cache/store.go": file("package cache\n\ntype Set[T any] struct{}\n\nfunc (s *Set[T]) Add(x T) { panic(3) }\n"),
		"tools/away.go":  file("package tools\n\nfunc away() {}\n"),
	},
)

func listed(t *testing.T, names bool, markers ...marker) string {
	t.Helper()
	list, err := compare(markers, before, after)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	write(&b, list, "v1.1.0", "v1.2.0", names)
	return b.String()
}

func TestCompare(t *testing.T) {
	got := listed(t, true,
		marker{"a.go:1", "pkg/gc/gc.go", []string{"same", "changes", "C.moves", "D.moves", "away", "goes", "first", "second"}},
		marker{"a.go:2", "pkg/gc/gc.go", []string{"changes"}},
		marker{"b.go:3", "pkg/registry/*/strategy.go", []string{"Allow"}},
		marker{"c.go:4", "client-go/cache/store.go", []string{"Set", "Set.Add"}},
		marker{"d.go:5", "pkg/gc/never.go", []string{"f"}},
	)
	want := `gone       pkg/gc/gc.go goes
           reproduced at a.go:1
gone       pkg/gc/never.go f
           reproduced at d.go:5
moved      pkg/gc/gc.go C.moves
           to pkg/gc/beside.go
           reproduced at a.go:1
moved      pkg/gc/gc.go D.moves
           to pkg/gc/beside.go
           reproduced at a.go:1
moved      pkg/gc/gc.go away
           to client-go/tools/away.go
           reproduced at a.go:1
changed    client-go/cache/store.go Set.Add
           reproduced at c.go:4
changed    pkg/gc/gc.go changes
           reproduced at a.go:1, a.go:2
changed    pkg/gc/gc.go second
           reproduced at a.go:1
new        pkg/registry/b/strategy.go Allow
           reproduced at b.go:3
unchanged  client-go/cache/store.go Set
unchanged  pkg/gc/gc.go first
unchanged  pkg/gc/gc.go same
unchanged  pkg/registry/a/strategy.go Allow

v1.1.0 to v1.2.0: 2 gone 3 moved 3 changed 1 new 4 unchanged
`
	if got != want {
		t.Errorf("listed\n%s\nwant\n%s", got, want)
	}
}

// TestDifference: what has changed is shown, also of a method that is elsewhere now and of
// all that bear a name.
func TestDifference(t *testing.T) {
	got := listed(t, false, marker{"a.go:1", "pkg/gc/gc.go", []string{"D.moves", "second"}})
	for _, line := range []string{"-func (d D) moves() {}", "+func (d D) moves() { panic(2) }", "-const second = 2", "+const second = 3"} {
		if !strings.Contains(got, "\n"+line+"\n") {
			t.Errorf("no line %q in\n%s", line, got)
		}
	}
}

// TestNamesake: a method that is named without its type stands for all of that name.
func TestNamesake(t *testing.T) {
	found, err := before.find("pkg/gc/gc.go", "moves")
	if err != nil || joined(found["pkg/gc/gc.go"]) != "func (c *C) moves() {}\nfunc (d D) moves() {}\n" {
		t.Errorf("found %v: %v", found, err)
	}
}
