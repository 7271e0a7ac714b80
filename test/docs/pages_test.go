package docs

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/docs/markdown"
)

// root is the root of the repository, seen from here.
const root = "../.."

// page is one Markdown file.
type page struct{ markdown.Page }

func parse(name, source string) page { return page{markdown.Parse(name, []byte(source))} }

// pages are all pages, sorted by path.
func pages(t *testing.T) []page {
	t.Helper()
	found, err := markdown.Pages(root)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]page, len(found))
	for i, p := range found {
		all[i] = page{p}
	}
	return all
}
