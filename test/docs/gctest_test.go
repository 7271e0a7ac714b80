package docs

import (
	"os"
	"strings"
	"testing"
)

// TestFirstSnippet checks that the first Go code of gctest.md is the file that examples/envtest runs.
func TestFirstSnippet(t *testing.T) {
	page, err := os.ReadFile("../../docs/gctest.md")
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile("../../examples/envtest/finalizer/database_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(page), "```go\n")
	if snippet, _, _ := strings.Cut(after, "```"); snippet != string(file) {
		t.Errorf("the snippet of gctest.md is not examples/envtest/finalizer/database_test.go:\n%s", snippet)
	}
}
