package commands

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// writing is a command that writes, with what it needs.
type writing struct {
	controllers []string
	// prepare makes what it is about, and returns its arguments.
	prepare func(*stage) []string
	// writes is how many requests it sends when all goes well.
	writes int
}

// writers are the commands that write.
var writers = map[string]writing{
	"delete": {nil, func(s *stage) []string {
		for _, name := range []string{"a", "b"} {
			s.configMap(name, "", "")
		}
		return []string{"delete", "configmap/a", "configmap/b", "-n", s.namespace, "--wait=false"}
	}, 2},
	"delete what is held": {nil, func(s *stage) []string {
		s.create(`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, finalizers: [example.com/lock]}}`)
		s.t.Cleanup(func() {
			_, _ = plane.Do(s.ctx, http.MethodPatch, s.path("a"), "application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
		})
		return []string{"delete", "configmap/a", "-n", s.namespace, "--wait=false"}
	}, 1},
	"collect": {nil, func(s *stage) []string {
		s.garbage("a", "b")
		return []string{"collect", "-n", s.namespace, "--patience=3s"}
	}, 4},
	"collect in the foreground": {nil, func(s *stage) []string {
		s.configMap("below", "owner", s.configMap("owner", "", ""))
		s.kubectl(nil, "delete", "configmap", "owner", "-n", s.namespace, "--cascade=foreground", "--wait=false")
		return []string{"collect", "-n", s.namespace, "--patience=3s"}
	}, 2},
	"remove-finalizer": {nil, func(s *stage) []string {
		for _, name := range []string{"a", "b"} {
			s.create(`{apiVersion: v1, kind: ConfigMap, metadata: {name: ` + name + `, finalizers: [example.com/lock, example.com/other]}}`)
			s.kubectl(nil, "delete", "configmap", name, "-n", s.namespace, "--wait=false")
		}
		s.t.Cleanup(func() {
			for _, name := range []string{"a", "b"} {
				_, _ = plane.Do(s.ctx, http.MethodPatch, s.path(name), "application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
			}
		})
		return []string{"remove-finalizer", "configmaps", "--all-of-kind", "example.com/lock", "-n", s.namespace}
	}, 2},
	"undo": {[]string{collector}, func(s *stage) []string {
		s.configMap("below", "owner", s.configMap("owner", "", ""))
		s.confirmed("delete", "configmap/owner", "-n", s.namespace, "--cascade=orphan").want(s.t, 0)
		found, err := filepath.Glob(filepath.Join(s.state, "kubectl-gc", "backups", "*"))
		if err != nil || len(found) != 1 {
			s.t.Fatalf("%v, %v", found, err)
		}
		return []string{"undo", found[0]}
	}, 2},
}

func (s *stage) path(name string) string {
	return "/api/v1/namespaces/" + s.namespace + "/configmaps/" + name
}

// account is what a command says of each of its writes, by name of the object.
func (s *stage) account(a answer) map[string]string {
	s.t.Helper()
	all := map[string]string{}
	if strings.Contains(a.stdout, `"kind": "Undo"`) {
		var u report.Undo
		if err := json.Unmarshal([]byte(a.stdout), &u); err != nil {
			s.t.Fatal(err)
		}
		for _, step := range u.Steps {
			all[step.Object.Name] = string(step.State)
		}
		return all
	}
	for _, w := range a.run(s.t).Writes {
		all[w.Verb+" "+w.Object.Name] = string(w.State)
	}
	return all
}

// name is the object of a request.
func (x exchanged) name() string {
	var o struct{ Metadata struct{ Name string } }
	if x.method == http.MethodPost && json.Unmarshal([]byte(x.body), &o) == nil {
		return o.Metadata.Name
	}
	return x.path[strings.LastIndex(x.path, "/")+1:]
}

// twice lists the requests that were sent more than once.
func twice(all []exchanged) []string {
	var list []string
	seen := map[exchanged]bool{}
	for _, x := range all {
		x.code = 0
		if seen[x] {
			list = append(list, x.method+" "+x.path+" "+x.body)
		}
		seen[x] = true
	}
	return list
}

// TestLosesAnswers has the connection break after the server has done the work of each
// write: nothing is sent twice, everything is done, and the account says so.
func TestLosesAnswers(t *testing.T) {
	for name, x := range writers {
		t.Run(name, func(t *testing.T) {
			s := enter(t, x.controllers...)
			args := append(x.prepare(s), "-o", "json")
			confirm := s.confirmation(args...)
			p := s.proxy(func(exchanged) bool { return true })
			a := s.gc(s.ctx, append(append(args, confirm), p.flags()...)...).want(t, 0)
			sent := p.writes()
			if again := twice(sent); len(again) > 0 {
				t.Errorf("sent twice: %q", again)
			}
			for _, x := range sent {
				if x.code >= 300 {
					t.Errorf("%s %s: the server answers %d", x.method, x.path, x.code)
				}
			}
			account := s.account(a)
			for what, state := range account {
				if state != string(report.Confirmed) && state != string(report.StepMade) && state != string(report.StepRestored) {
					t.Errorf("%s is said to be %s", what, state)
				}
			}
			if len(sent) != x.writes || len(account) != x.writes {
				t.Errorf("%d requests, want %d; the account: %v", len(sent), x.writes, account)
			}
		})
	}
}

// TestLosesRequests has the connection break before the server sees the first write:
// nothing says that it was not carried out, so that it is not sent again, and the
// account calls it unknown.
func TestLosesRequests(t *testing.T) {
	for name, x := range writers {
		t.Run(name, func(t *testing.T) {
			s := enter(t, x.controllers...)
			args := append(x.prepare(s), "-o", "json")
			confirm := s.confirmation(args...)
			before := s.world()
			p := s.proxy(nil)
			p.cut = func(exchanged) bool { return len(p.writes()) == 0 }
			a := s.gc(s.ctx, append(append(args, confirm), p.flags()...)...).want(t, 6)
			sent := p.writes()
			if again := twice(sent); len(again) > 0 {
				t.Errorf("sent twice: %q", again)
			}
			if len(sent) == 0 || before["ConfigMap/"+sent[0].name()] != s.world()["ConfigMap/"+sent[0].name()] {
				t.Fatalf("the first one was carried out: %+v", sent)
			}
			done := map[string]bool{}
			for _, x := range sent[1:] {
				done[x.name()] = done[x.name()] || x.code < 300
			}
			for what, state := range s.account(a) {
				of := what[strings.LastIndex(what, " ")+1:]
				want := []string{string(report.NotDone), string(report.StepNotDone), string(report.StepRefused)}
				switch {
				case of == sent[0].name():
					want = []string{string(report.UnknownWrite)}
				case done[of]:
					want = []string{string(report.Confirmed), string(report.StepMade), string(report.StepRestored)}
				}
				if !slices.Contains(want, state) {
					t.Errorf("%s is said to be %s, want one of %v", what, state, want)
				}
			}
		})
	}
}
