package docs

import (
	"fmt"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/yuin/goldmark/ast"
)

// TestLinks: whatever a page refers to in the repository is there, the heading too.
func TestLinks(t *testing.T) {
	all := pages(t)
	links := 0
	for _, p := range all {
		for _, link := range p.links() {
			links++
			if problem := p.dead(link, all); problem != "" {
				t.Errorf("%s: %s", p.Path, problem)
			}
		}
	}
	const least = 80 // what there was when this was written
	if links < least {
		t.Errorf("only %d links", links)
	}
}

var (
	htmlLink  = regexp.MustCompile(`(?i)\b(?:href|src|srcset)="([^"\s]+)`)
	htmlName  = regexp.MustCompile(`(?i)\b(?:id|name)="([^"]+)"`)
	heardHTML = func(p page, n ast.Node) (text []byte, ok bool) {
		switch n := n.(type) {
		case *ast.HTMLBlock:
			return n.Lines().Value(p.Source), true
		case *ast.RawHTML:
			return n.Segments.Value(p.Source), true
		}
		return nil, false
	}
)

// links are where the page points to, with pictures.
func (p page) links() []string {
	var found []string
	p.Walk(func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Link:
			found = append(found, string(n.Destination))
		case *ast.Image:
			found = append(found, string(n.Destination))
		}
		if text, ok := heardHTML(p, n); ok {
			for _, match := range htmlLink.FindAllSubmatch(text, -1) {
				found = append(found, string(match[1]))
			}
		}
	})
	return found
}

// dead says why a link leads nowhere. What is not in the repository is not looked at.
func (p page) dead(link string, all []page) string {
	u, err := url.Parse(link)
	if err != nil {
		return err.Error()
	}
	if u.Scheme != "" || u.Host != "" {
		if u.Scheme != "https" && u.Scheme != "mailto" {
			return fmt.Sprintf("%s is no https link", link)
		}
		return ""
	}
	target := p.target(u)
	if strings.HasPrefix(target, "..") || path.IsAbs(u.Path) {
		return fmt.Sprintf("%s is not in the repository", link)
	}
	if _, err := os.Stat(filepath.Join(root, target)); err != nil {
		return fmt.Sprintf("%s is not there", link)
	}
	if u.Fragment == "" || path.Ext(target) != ".md" {
		return ""
	}
	for _, other := range all {
		if other.Path == target && !slices.Contains(other.anchors(), u.Fragment) {
			return fmt.Sprintf("%s has no heading #%s", target, u.Fragment)
		}
	}
	return ""
}

// target is the file of the repository that a link of the page is about.
func (p page) target(u *url.URL) string {
	if u.Path == "" {
		return p.Path
	}
	return path.Join(path.Dir(p.Path), u.Path)
}

// anchors are the names of headings as GitHub makes them, and those that are given.
func (p page) anchors() []string {
	var found []string
	times := map[string]int{}
	p.Walk(func(n ast.Node) {
		if heading, ok := n.(*ast.Heading); ok {
			name := slug(string(p.textOf(heading)))
			times[name]++
			if n := times[name]; n > 1 {
				name = fmt.Sprintf("%s-%d", name, n-1)
			}
			found = append(found, name)
		}
		if text, ok := heardHTML(p, n); ok {
			for _, match := range htmlName.FindAllSubmatch(text, -1) {
				found = append(found, string(match[1]))
			}
		}
	})
	return found
}

func slug(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ' || r == '-':
			return '-'
		case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

// TestReachable: a reader who begins at docs/README.md comes to every page.
func TestReachable(t *testing.T) {
	all := pages(t)
	seen := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		for _, p := range all {
			if path.Dir(p.Path) == name && p.Path != "README.md" {
				visit(p.Path) // a directory shows what is in it
			}
			if p.Path != name {
				continue
			}
			for _, link := range p.links() {
				if u, err := url.Parse(link); err == nil && u.Host == "" {
					visit(p.target(u))
				}
			}
		}
	}
	visit("docs/README.md")
	for _, p := range all {
		if strings.HasPrefix(p.Path, "docs/") && !seen[p.Path] {
			t.Errorf("%s: nobody who begins at docs/README.md comes here", p.Path)
		}
	}
}

// TestDeadLinks: each way in which a link can be wrong is seen.
func TestDeadLinks(t *testing.T) {
	other := parse("docs/output.md", "# A `code` title: twice!\n\n## Über_x y\n\n# A `code` title: twice!\n\n<a name=\"given\"></a>\n")
	for link, dead := range map[string]bool{
		"output.md#a-code-title-twice": false, "output.md#a-code-title-twice-1": false, "output.md#über_x-y": false, "output.md#given": false, "#here": false,
		"../README.md": false, "schema": false, "https://example.com/x": false, "../examples/shop.yaml": false, "../LICENSE#x": false,
		"output.md#a-code-title-twice-2": true, "#there": true, "nothing.md": true, "../../x": true, "/docs/stuck.md": true, "http://example.com": true, "file:///x": true,
	} {
		p := parse("docs/stuck.md", "# Here\n\n[x]("+link+")\n")
		links := p.links()
		if len(links) != 1 {
			t.Fatalf("links of %s: %q", link, links)
		}
		got := p.dead(links[0], []page{p, other, parse("README.md", "")})
		if got != "" != dead {
			t.Errorf("%s: %q", link, got)
		}
	}
	if got := parse("a.md", "![x](x.svg)\n\n<picture><img src=\"y.svg\"></picture>\n\ntext <a href=\"z.md\">z</a>\n").links(); !slices.Equal(got, []string{"x.svg", "y.svg", "z.md"}) {
		t.Errorf("links are %q", got)
	}
}

var (
	hostForm = regexp.MustCompile(`https?://([A-Za-z0-9.-]+)`)
	// ownPath is a path of the machine on which somebody has written a page. Ann is
	// whoever reads it.
	ownPath = regexp.MustCompile("(?:^|[\\s\"'`(=:])(/(?:work|root|Users|home|mnt|var/folders|tmp/bash)\\b[^\\s\"'`)]*)")
)

// TestHosts compares the hosts that pages name with testdata/hosts.txt: one more is
// seen in a review.
func TestHosts(t *testing.T) {
	hosts := map[string]bool{}
	for _, p := range pages(t) {
		for _, found := range hostForm.FindAllSubmatch(p.Source, -1) {
			hosts[string(found[1])] = true
		}
	}
	golden(t, "testdata/hosts.txt", "# The hosts that pages name. Written by go test ./test/docs -update.\n"+
		strings.Join(slices.Sorted(maps.Keys(hosts)), "\n")+"\n")
}

// TestOwnPaths: no page has a path of the machine that it was written on.
func TestOwnPaths(t *testing.T) {
	for _, p := range pages(t) {
		for _, found := range ownPaths(string(p.Source)) {
			t.Errorf("%s: %s is a path of a machine", p.Path, found)
		}
	}
	if got := ownPaths("see /home/ann/x and (/home/bob/y) `/mnt/z` /rooted a/root"); !slices.Equal(got, []string{"/home/bob/y", "/mnt/z"}) {
		t.Errorf("own paths are %q", got)
	}
}

func ownPaths(text string) []string {
	var found []string
	for _, match := range ownPath.FindAllStringSubmatch(text, -1) {
		if !strings.HasPrefix(match[1], "/home/ann/") {
			found = append(found, match[1])
		}
	}
	return found
}
