package main

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

func TestScan(t *testing.T) {
	got, err := scan(fstest.MapFS{
		"a/a.go": file(`package a

// F is one.
//
// Upstream: pkg/x/x.go f.
// Upstream: client-go/y.go T.m, g,
// h: all but the last.
// Rule: §1.
func F() {}

const (
	// Upstream: pkg/*/z.go C:
	// as it is
	c = 1
)

//	Upstream: file Function
var s = "Upstream: nothing"
`),
		"b/b_test.go": file("package b\n\n// Upstream: cmd/b.go B.\nfunc b() {}\n"),
		".git/c.go":   file("package c\n\n// Upstream: nonsense\n"),
		"notes.md":    file("// Upstream: nonsense\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := "[{a/a.go:5 pkg/x/x.go [f]} {a/a.go:6 client-go/y.go [T.m g h]} {a/a.go:12 pkg/*/z.go [C]} {b/b_test.go:3 cmd/b.go [B]}]"
	if text := fmt.Sprint(got); text != want {
		t.Errorf("read\n%s\nwant\n%s", text, want)
	}
}

// TestNoMarker: what a person takes for a marker and the list would not compare is
// refused, with its place.
func TestNoMarker(t *testing.T) {
	for name, comment := range map[string]string{
		"no function":      "// Upstream: pkg/x/x.go.",
		"no file":          "// Upstream: isDangling.",
		"prose":            "// Upstream: pkg/x/x.go isDangling looks no further.",
		"no end":           "// Upstream: pkg/x/x.go f",
		"in a sentence":    "// F is one. Upstream: pkg/x/x.go f.",
		"another comment":  "/* Upstream: pkg/x/x.go f. */",
		"without a space":  "//Upstream: pkg/x/x.go f.",
		"a list breaks up": "// Upstream: pkg/x/x.go f,",
	} {
		t.Run(name, func(t *testing.T) {
			found, err := scan(fstest.MapFS{"a.go": file("package a\n\n" + comment + "\nfunc F() {}\n")})
			if err == nil || !strings.HasPrefix(err.Error(), "a.go:3: ") {
				t.Errorf("read %v, error %v", found, err)
			}
		})
	}
}
