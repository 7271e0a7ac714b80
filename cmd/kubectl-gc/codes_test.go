package main

import (
	"os"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose/check"
)

// TestEveryCodeIsShown: the script of check brings about each code once.
func TestEveryCodeIsShown(t *testing.T) {
	script, err := os.ReadFile("testdata/script/check.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range check.Codes() {
		if !strings.Contains(string(script), "   "+string(c.Code)+" ") {
			t.Errorf("no finding %s", c.Code)
		}
	}
}
