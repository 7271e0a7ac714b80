package commands

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// TestExplainsWhatIsGone: of what was deleted explain says what took it, up to the request, as
// lost does; of what never was it says since when nothing was, and fails.
func TestExplainsWhatIsGone(t *testing.T) {
	s := enter(t, collector)
	root := s.configMap("root", "", "")
	middle := s.configMap("middle", "root", root)
	s.configMap("leaf", "middle", middle)
	s.configMap("other", "", "")
	s.kubectl(nil, "delete", "configmap", "root", "other", "-n", s.namespace)
	s.until("all are gone", func() bool { return len(s.names("ConfigMap")) == 0 })

	a := s.gc(s.ctx, "explain", "configmap/leaf", "-n", s.namespace).want(t, 0)
	for _, text := range []string{"cm/leaf in namespace " + s.namespace + " was deleted at ", "it went with its", "The garbage collector", "That began with a delete of"} {
		if !strings.Contains(a.stdout, text) {
			t.Errorf("no %q in\n%s", text, a.stdout)
		}
	}
	documents := map[string]string{}
	for _, command := range []string{"explain", "lost"} {
		var d report.Lost
		a := s.gc(s.ctx, command, "configmap/leaf", "-n", s.namespace, "-o", "json").want(t, 0)
		if err := json.Unmarshal([]byte(a.stdout), &d); err != nil {
			t.Fatal(err)
		}
		var story []string
		for _, l := range d.Losses {
			story = append(story, l.Object.Name+" "+l.Code)
		}
		documents[command] = strings.Join(story, ", ")
	}
	const want = "root Requested, middle OwnerGone, leaf OwnerGone"
	if documents["explain"] != want || documents["lost"] != want {
		t.Errorf("%q, want %q", documents, want)
	}

	b := s.gc(s.ctx, "explain", "configmap/never", "-n", s.namespace).want(t, 1)
	if !strings.Contains(b.stderr, "was not deleted since") || !strings.Contains(b.stderr, `configmaps "never" not found`) {
		t.Errorf("%s", b.stderr)
	}
	if c := s.gc(s.ctx, "explain", "configmap/leaf", "-n", s.namespace, "-o", "svg").want(t, 1); !strings.Contains(c.stderr, "is gone") {
		t.Errorf("%s", c.stderr)
	}
}
