package commands

import (
	"net/http"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// TestBusyServer: a DELETE that is answered 429 is sent again by the client itself. It is one
// intent, and its doing: whether or not the first one was carried out, and whether its object is
// gone then or waits for its dependents.
func TestBusyServer(t *testing.T) {
	s := enter(t, collector)
	for name, x := range map[string]struct {
		flags  []string
		passed bool
	}{
		"passed":            {nil, true},
		"not-passed":        {nil, false},
		"foreground-passed": {[]string{"--cascade=foreground"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s.t = t
			owner := s.configMap(name, "", "")
			s.configMap(name+"-child", name, owner)
			p := s.proxy(nil)
			first := true
			p.busy = func(e exchanged) bool {
				defer func() { first = first && e.method != http.MethodDelete }()
				return first && e.method == http.MethodDelete
			}
			if !x.passed {
				cut := false
				p.cut = func(e exchanged) bool {
					c := !cut && e.method == http.MethodDelete
					cut = cut || c
					return c
				}
			}
			a := s.confirmed(append(append([]string{"delete", "configmap/" + name, "-n", s.namespace, "-o", "json"}, x.flags...), p.flags()...)...).want(t, 0)
			run := a.run(t)
			if run.State != report.Complete || len(run.Writes) != 1 || run.Writes[0].State != report.Confirmed {
				t.Errorf("%s %+v", run.State, run.Writes)
			}
			deletes := 0
			for _, w := range p.writes() {
				if w.method == http.MethodDelete {
					deletes++
				}
			}
			b, err := backup.Open(run.Bundle, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = b.Close() }()
			intents := 0
			for _, r := range b.Journal {
				if r.Kind == backup.Intended {
					intents++
				}
			}
			if deletes != 2 || intents != 1 {
				t.Errorf("%d requests, %d intents; want 2 and 1", deletes, intents)
			}
		})
	}
}
