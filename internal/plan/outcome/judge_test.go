package outcome

import "testing"

// TestPasses checks that each pass has a unique name and a reason for its position.
func TestPasses(t *testing.T) {
	named := map[string]bool{}
	for _, p := range passes {
		if p.name == "" || named[p.name] || p.why == "" || p.run == nil {
			t.Errorf("pass %q: it needs a name of its own, a reason for its place, and something to do", p.name)
		}
		named[p.name] = true
	}
}
