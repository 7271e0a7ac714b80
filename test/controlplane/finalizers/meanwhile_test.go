package finalizers

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/apply"
	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// during has something happen at a point of the runs that follow.
func (s *stage) during(point string, do func()) {
	s.ctx = apply.WithFailpoints(s.ctx, func(at string) {
		if at == point {
			do()
		}
	})
}

// change merges something into a ConfigMap.
func (s *stage) change(name string, o body) {
	s.Helper()
	s.do(http.MethodPatch, s.in("configmaps/"+name), "application/merge-patch+json", o)
}

func (s *stage) protect(name string) {
	s.Helper()
	s.change(name, body{"metadata": body{"annotations": body{"kubectl-gc.io/protect": "true"}}})
}

// states are what became of the objects of a run, by name.
func states(r *report.Run) map[string]report.WriteState {
	all := map[string]report.WriteState{}
	for _, w := range r.Writes {
		all[w.Object.Name] = w.State
	}
	return all
}

// What somebody protects after the plan keeps its finalizers, whenever that happens,
// and the other targets are freed.
func TestProtectedAfterThePlan(t *testing.T) {
	for _, point := range []string{"before-backup", "after-backup"} {
		t.Run(point, func(t *testing.T) {
			s := enter(t)
			for _, name := range []string{"a", "b", "c"} {
				s.configMap(name, []string{"example.com/hold"})
				s.delete(s.in("configmaps/"+name), "Background")
			}
			args := []string{"remove-finalizer", "configmaps", "--all-of-kind", "example.com/hold", "-n", s.namespace}
			digest := s.digest(args...)
			s.during(point, func() { s.protect("b") })
			run := document[report.Run](t, s.want(s.gc(append(args, "--confirm="+digest, "-o", "json")...), 6, "annotation kubectl-gc.io/protect"))
			if o := s.at(s.in("configmaps/b")); o == nil || !slices.Equal(o.Finalizers, []string{"example.com/hold"}) {
				t.Errorf("what is protected was written to: %+v", o)
			}
			if s.at(s.in("configmaps/a")) != nil || s.at(s.in("configmaps/c")) != nil {
				t.Error("the others were not freed")
			}
			if got := states(run); got["a"] != report.Confirmed || got["b"] != report.NotDone || got["c"] != report.Confirmed {
				t.Errorf("the account: %v", got)
			}
		})
	}
}

// A target that changes before its copy is made is judged once more, like one that
// changes later, and the copy is of what was written to.
func TestChangedBeforeTheCopy(t *testing.T) {
	s := enter(t)
	for _, name := range []string{"a", "b", "c"} {
		s.configMap(name, []string{"example.com/hold"})
		s.delete(s.in("configmaps/"+name), "Background")
	}
	args := []string{"remove-finalizer", "configmaps", "--all-of-kind", "example.com/hold", "-n", s.namespace}
	digest := s.digest(args...)
	s.during("before-backup", func() { s.change("b", body{"data": body{"of": "somebody else"}}) })
	run := document[report.Run](t, s.want(s.gc(append(args, "--confirm="+digest, "-o", "json")...), 0))
	for _, name := range []string{"a", "b", "c"} {
		if s.at(s.in("configmaps/"+name)) != nil {
			t.Errorf("%s was not freed", name)
		}
		if got := states(run)[name]; got != report.Confirmed {
			t.Errorf("%s is %s", name, got)
		}
	}
	if !s.saved("b", "somebody else") {
		t.Error("the backup has no copy of what was freed")
	}
}

// saved reports whether the backup of the one run has an object in a version that holds
// a text.
func (s *stage) saved(name, text string) bool {
	s.Helper()
	b, err := backup.Open(s.bundles()[0], nil)
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	for i := range b.Entries {
		if e := &b.Entries[i]; e.Object.Name == name {
			raw, err := b.Raw(e)
			if err != nil {
				s.Fatal(err)
			}
			return strings.Contains(string(raw), text)
		}
	}
	return false
}

// What was protected, or changed in any way, between the plan of an undo and its
// patch does not get its references back.
func TestUndoLeavesWhatHasChanged(t *testing.T) {
	s := enter(t, collector)
	uid := s.configMap("owner", nil)
	s.configMap("below", nil, "owner", uid)
	s.want(s.confirmed("delete", "configmap/owner", "-n", s.namespace, "--cascade=orphan"), 0)
	s.gone(s.in("configmaps/owner"))
	undo := []string{"undo", s.bundles()[0]}
	digest := s.digest(undo...)
	made := 0
	front := s.between(func(method, path string) {
		if method == http.MethodPost && path == s.in("configmaps") {
			if made++; made == 2 { // the first one is a trial
				s.protect("below")
			}
		}
	})
	s.want(s.gc(append(undo, "--confirm="+digest, "--server="+front, "--insecure-skip-tls-verify")...), 6)
	if o := s.at(s.in("configmaps/below")); o == nil || len(o.OwnerReferences) > 0 {
		t.Errorf("it was written to: %+v", o)
	}
}
