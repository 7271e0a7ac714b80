package snapshot

import "testing"

// TestGuessPlural: a command with a plural that no server has would fail.
func TestGuessPlural(t *testing.T) {
	for kind, want := range map[string]string{
		"Gateway": "gateways", "Elasticsearch": "elasticsearches", "Mesh": "meshes", "Policy": "policies", "Widget": "widgets", "KubeletConfig": "kubeletconfigs", "Index": "indexes",
	} {
		if got := guessPlural(kind); got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
	}
}
