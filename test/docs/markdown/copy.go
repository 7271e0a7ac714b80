package markdown

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// code is what a reader of pages has no use for. In a worktree .git is a file, by which
// a copy would be the repository itself for git.
var code = []string{".git", "bin", "cmd", "dist", "hack", "internal", "test", "tools"}

// Copy makes in a directory what a reader has before them, who runs commands in the
// root of the repository: everything but the code.
func Copy(root, dir string) error {
	tree := os.DirFS(root)
	return fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		target := filepath.Join(dir, filepath.FromSlash(name))
		switch {
		case err != nil:
			return err
		case d.IsDir() && (slices.Contains(code, name) || d.Name() == "node_modules"): // what npm has installed
			return fs.SkipDir
		case slices.Contains(code, name):
			return nil
		case d.IsDir():
			return os.MkdirAll(target, 0o755)
		}
		raw, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		return os.WriteFile(target, raw, 0o644)
	})
}
