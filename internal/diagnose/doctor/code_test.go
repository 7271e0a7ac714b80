package doctor_test

import (
	"os"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// TestEveryCodeIsShown: the tables of these tests produce every code.
func TestEveryCodeIsShown(t *testing.T) {
	shown := ""
	for _, name := range []string{"examine_test.go", "compare_test.go", "refused_test.go"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		shown += string(text)
	}
	for _, c := range reason.Doctor.Codes() {
		if !strings.Contains(shown, `"`+c+" ") {
			t.Errorf("no finding %s", c)
		}
	}
}
