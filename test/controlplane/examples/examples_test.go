package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// The examples in the repository are those that a control plane gives today. Where
// they differ, `make examples` writes them anew, and the diff is the review. And
// what is foretold from them comes true in that same control plane.
func TestExamples(t *testing.T) {
	program, err := cluster.Program()
	if err != nil {
		t.Fatal(err)
	}
	files, err := generate(t.Context(), func(s *stage) error {
		comesTrue(t, s, program)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 4 {
		t.Errorf("only %d files were made", len(files))
	}
	for _, f := range files {
		committed, err := os.ReadFile(filepath.Join("..", "..", "..", "examples", f.name))
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(string(committed), string(f.text)); diff != "" {
			t.Errorf("%s is out of date (-committed +made); make examples:\n%s", f.name, diff)
		}
	}
}
