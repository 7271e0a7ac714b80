package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/test/docs/markdown"
)

var targetForm = regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):`)

// targets are what make can be asked for.
func targets() ([]string, error) {
	tree := os.DirFS(root)
	files, err := fs.Glob(tree, "hack/*.mk")
	if err != nil {
		return nil, err
	}
	var found []string
	for _, name := range append(files, "Makefile") {
		raw, err := fs.ReadFile(tree, name)
		if err != nil {
			return nil, err
		}
		for _, match := range targetForm.FindAllStringSubmatch(string(raw), -1) {
			found = append(found, match[1])
		}
	}
	return found, nil
}

// builds says what is wrong with a call of make or go, which are never run here: a
// target or a package that does not exist.
func builds(c markdown.Call) error {
	switch c[0] {
	case "make":
		known, err := targets()
		if err != nil {
			return err
		}
		for _, word := range c[1:] {
			if !strings.ContainsAny(word, "=-") && !slices.Contains(known, word) {
				return fmt.Errorf("make has no target %s", word)
			}
		}
	case "go":
		for _, word := range c[1:] {
			name, ok := strings.CutPrefix(word, "./")
			if !ok {
				continue
			}
			name = path.Clean(strings.TrimSuffix(name, "..."))
			if _, err := fs.Stat(os.DirFS(root), name); err != nil {
				return err
			}
		}
	}
	return nil
}
