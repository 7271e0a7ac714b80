package commands

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// released has the collector release an object of the namespace before the write with
// the number: of all schedules the one in which the versions have moved.
func (s *stage) released(names ...string) func(at string) {
	return func(at string) {
		if at != "before-intent-2" {
			return
		}
		for _, name := range names {
			s.until(name+" is released", func() bool {
				return s.says("configmaps", `{.items[?(@.metadata.name=="`+name+`")].metadata.ownerReferences}`) == ""
			})
		}
	}
}

// TestDeleteOwnerWithDependents deletes an owner and its dependents under orphan. The
// collector takes the references to the owner off the dependents, so that these are
// not in the version any more that was planned for: all go as planned.
func TestDeleteOwnerWithDependents(t *testing.T) {
	for _, policy := range []string{"orphan", "background", "foreground"} {
		t.Run(policy, func(t *testing.T) {
			s := enter(t, collector)
			owner := s.configMap("a-owner", "", "")
			s.configMap("b", "a-owner", owner)
			s.configMap("c", "a-owner", owner)
			s.configMap("stays", "b", s.uid("b"))
			args := []string{"delete", "configmap/a-owner", "configmap/b", "configmap/c", "-n", s.namespace, "--cascade=" + policy, "-o", "json"}
			confirm := s.confirmation(args...)
			ctx := s.ctx
			if policy == "orphan" {
				ctx = s.at(s.released("b", "c"))
			}
			r := s.gc(ctx, append(args, confirm)...).want(t, 0).run(t)
			if r.State != report.Complete || r.Summary.Confirmed+r.Summary.AlreadyDone != 3 || len(r.Differences) > 0 {
				t.Errorf("%+v", r)
			}
			if policy == "orphan" {
				s.configMaps("stays")
			} else {
				s.configMaps()
			}
			undo := []string{"undo", r.Bundle}
			s.gc(s.ctx, append(undo, s.confirmation(undo...))...).want(t, 0)
			for dependent, owner := range map[string]string{"b": "a-owner", "c": "a-owner", "stays": "b"} {
				if got := s.says("configmaps", `{.items[?(@.metadata.name=="`+dependent+`")].metadata.ownerReferences[*].uid}`); got != s.uid(owner) {
					t.Errorf("after the undo %s is owned by %q, want %s", dependent, got, owner)
				}
			}
		})
	}
}

// TestDeleteOwnerWithDependentsUnsaved does the same without a backup.
func TestDeleteOwnerWithDependentsUnsaved(t *testing.T) {
	s := enter(t, collector)
	owner := s.configMap("a-owner", "", "")
	s.configMap("b", "a-owner", owner)
	args := []string{"delete", "configmap/a-owner", "configmap/b", "-n", s.namespace, "--cascade=orphan", "--no-backup", "-o", "json"}
	confirm := s.confirmation(args...)
	r := s.gc(s.at(s.released("b")), append(args, confirm)...).want(t, 0).run(t)
	if r.Summary.Confirmed != 2 {
		t.Errorf("%+v", r)
	}
	s.configMaps()
}

// TestDeleteOwnerWithChangedDependent changes the dependent, too, when the collector
// has released it: what changed is not what was planned for, and it stays.
func TestDeleteOwnerWithChangedDependent(t *testing.T) {
	for name, change := range map[string]string{
		"data":       `{"data":{"key":"new"}}`,
		"label":      `{"metadata":{"labels":{"changed":"yes"}}}`,
		"protection": `{"metadata":{"annotations":{"kubectl-gc.io/protect":"true"}}}`,
		"finalizer":  `{"metadata":{"finalizers":["example.com/lock"]}}`,
		"owner":      `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"other","uid":"OTHER"}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := enter(t, collector)
			s.configMap("b", "a-owner", s.configMap("a-owner", "", ""))
			change = strings.ReplaceAll(change, "OTHER", s.configMap("other", "", ""))
			args := []string{"delete", "configmap/a-owner", "configmap/b", "-n", s.namespace, "--cascade=orphan", "-o", "json"}
			confirm := s.confirmation(args...)
			released := s.released("b")
			ctx := s.at(func(at string) {
				released(at)
				if at == "before-intent-2" {
					s.kubectl(nil, "patch", "configmap", "b", "-n", s.namespace, "--type=merge", "-p", change)
				}
			})
			r := s.gc(ctx, append(args, confirm)...).want(t, 6).run(t)
			if r.State != report.Partial || r.Summary.Confirmed != 1 || r.Summary.Contended+r.Summary.NotDone != 1 {
				t.Errorf("%+v", r)
			}
			s.configMaps("b", "other")
			if got := s.says("configmaps", `{.items[?(@.metadata.name=="b")].metadata.deletionTimestamp}`); got != "" {
				t.Errorf("it is being deleted since %s", got)
			}
			s.kubectl(nil, "patch", "configmap", "b", "-n", s.namespace, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
		})
	}
}

// TestDeletesArePinned looks at every DELETE that such a run sends: each is for one
// version.
func TestDeletesArePinned(t *testing.T) {
	s := enter(t, collector)
	owner := s.configMap("a-owner", "", "")
	for i := range 5 {
		s.configMap(fmt.Sprintf("b-%d", i), "a-owner", owner)
	}
	proxy := s.proxy(nil)
	args := []string{"delete", "configmap", "--all", "-n", s.namespace, "--cascade=orphan", "-o", "json"}
	confirm := s.confirmation(args...)
	s.gc(s.ctx, append(append(args, confirm), proxy.flags()...)...)
	deletes := 0
	for _, x := range proxy.writes() {
		if x.method != http.MethodDelete {
			t.Errorf("%s %s", x.method, x.path)
			continue
		}
		deletes++
		if !strings.Contains(x.body, `"resourceVersion":`) || !strings.Contains(x.body, `"uid":`) {
			t.Errorf("a DELETE for any version: %s", x.body)
		}
	}
	if left := s.names("ConfigMap"); deletes < 6 || len(left) > 0 {
		t.Errorf("%d deletes, left %v", deletes, left)
	}
}
