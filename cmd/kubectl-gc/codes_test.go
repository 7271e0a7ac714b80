package main

import (
	"os"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// TestEveryCodeIsShown: the scripts of check show each code once.
func TestEveryCodeIsShown(t *testing.T) {
	var scripts strings.Builder
	for _, name := range []string{"check", "breaks"} { // the latter has --references
		script, err := os.ReadFile("testdata/script/" + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		scripts.Write(script)
	}
	for _, c := range reason.Check.Codes() {
		if !strings.Contains(scripts.String(), "   "+c+" ") {
			t.Errorf("no finding %s", c)
		}
	}
}
