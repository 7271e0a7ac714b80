package diagnose_test

import (
	"os"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// TestEveryCodeIsShown: the tables of these tests produce every code.
func TestEveryCodeIsShown(t *testing.T) {
	shown := ""
	for _, name := range []string{"doctor_test.go", "doctor_compare_test.go", "doctor_refused_test.go"} {
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
