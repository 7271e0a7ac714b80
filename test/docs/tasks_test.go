package docs

import (
	"bytes"
	"path"
	"strings"
	"testing"
)

// TestTasksAreOneScreen: a page of docs/tasks is read by somebody in a hurry. What
// needs more words is a guide.
func TestTasksAreOneScreen(t *testing.T) {
	const mostWords, mostLines = 260, 55 // besides code; with it and its fences
	for _, p := range pages(t) {
		if path.Dir(p.Path) != "docs/tasks" || path.Base(p.Path) == "README.md" {
			continue
		}
		words := len(bytes.Fields(p.Source))
		for _, b := range p.Blocks() {
			words -= len(strings.Fields(b.Text))
		}
		if words > mostWords {
			t.Errorf("%s has %d words, more than %d", p.Path, words, mostWords)
		}
		if lines := bytes.Count(p.Source, []byte("\n")); lines > mostLines {
			t.Errorf("%s has %d lines, more than %d", p.Path, lines, mostLines)
		}
	}
}
