package main

import (
	"os"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// TestEveryCodeIsShown: the script of check shows each code once.
func TestEveryCodeIsShown(t *testing.T) {
	script, err := os.ReadFile("testdata/script/check.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range reason.Check.Codes() {
		if !strings.Contains(string(script), "   "+c+" ") {
			t.Errorf("no finding %s", c)
		}
	}
}
