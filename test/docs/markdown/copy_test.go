package markdown_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/docs/markdown"
)

// TestCopy: what a page does to its copy never reaches the repository. In a worktree
// .git is a file that leads there.
func TestCopy(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	for name, copied := range map[string]bool{
		".git": false, "README.md": true, "docs/tasks/x.md": true, "internal/x.go": false, "docs/internal/x.md": true,
		"examples/x/node_modules/y/z.js": false,
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("gitdir: elsewhere\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := markdown.Copy(root, dir); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); (err == nil) != copied {
			t.Errorf("%s: %v, copied it has to be: %v", name, err, copied)
		}
	}
}
