package docs

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

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
