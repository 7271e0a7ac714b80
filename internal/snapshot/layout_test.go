package snapshot

import (
	"os"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
)

// TestLayoutsAreDocumented compares the table in docs/offline.md with the program: what a list as
// the server returns it proves, and what a `kind: List`.
func TestLayoutsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/offline.md")
	if err != nil {
		t.Fatal(err)
	}
	worth := func(l layout, kind string) string {
		s := &sighting{location: location{resource: "pods", scope: inNamespace}, list: manifest.List{Kind: kind}}
		return map[proof]string{nothing: "nothing", taken: "taken", whole: "whole"}[l.proof(s)]
	}
	rows := map[string]string{"named": "`kubectl cluster-info dump`"}
	passed := map[string]bool{"discovery": true, "sonobuoy's results": true}
	for _, l := range layouts {
		if passed[l.name] {
			continue
		}
		want := worth(l, "PodList")
		if other := worth(l, "List"); other != want {
			want += "; a `kind: List`: " + other
		}
		name, found := rows[l.name], false
		if name == "" {
			name = l.name
		}
		for line := range strings.Lines(string(page)) {
			cells := strings.Split(line, " | ")
			if found = len(cells) == 3 && strings.Contains(cells[0], name) && cells[1] == want; found {
				break
			}
		}
		if !found {
			t.Errorf("docs/offline.md has no row of %q whose lists are %q", name, want)
		}
	}
}
