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

// TestDeleteStripped deletes objects whose only finalizers are those of the collector. The
// server refuses such a DELETE for every version, and one for any version would take
// what others write in between along.
func TestDeleteStripped(t *testing.T) {
	const protect = `{"metadata":{"annotations":{"kubectl-gc.io/protect":"true"}}}`
	n := 0
	for name, x := range map[string]struct {
		point, change string
		code          int
		stays         bool
	}{
		"nothing":                      {"", "", 0, false},
		"protected before the patch":   {"before-write-1", protect, 5, true},
		"protected before the delete":  {"before-write-2", protect, 6, true},
		"written to before the patch":  {"before-write-1", `{"data":{"key":"new"}}`, 5, true},
		"written to before the delete": {"before-write-2", `{"data":{"key":"new"}}`, 6, true},
		"held before the patch":        {"before-write-1", `{"metadata":{"finalizers":["orphan","example.com/lock"]}}`, 5, true},
	} {
		for _, finalizers := range []string{"orphan", "foregroundDeletion"} {
			for _, deleting := range []bool{false, true} {
				if x.point != "" && finalizers != "orphan" || deleting && (x.point == "before-write-2" || name == "held before the patch") {
					continue // it goes with its last finalizer, and gets no other
				}
				t.Run(fmt.Sprint(name, finalizers, deleting), func(t *testing.T) {
					n++
					s := enterAs(t, fmt.Sprintf("stripped-%d", n))
					s.create(`{apiVersion: v1, kind: ConfigMap, metadata: {name: x, finalizers: [` + finalizers + `]}}`)
					if deleting {
						s.kubectl(nil, "delete", "configmap/x", "-n", s.namespace, "--cascade=foreground", "--wait=false")
						s.kubectl(nil, "patch", "configmap/x", "-n", s.namespace, "--type=merge", "-p", `{"metadata":{"finalizers":["foregroundDeletion"]}}`)
					}
					proxy := s.proxy(nil)
					args := []string{"delete", "configmap/x", "-n", s.namespace, "-o", "json"}
					confirm := s.confirmation(args...)
					ctx := s.during(x.point, func() {
						s.kubectl(nil, "patch", "configmap/x", "-n", s.namespace, "--type=merge", "-p", x.change)
					})
					a := s.gc(ctx, append(append(args, confirm), proxy.flags()...)...)
					r := a.want(t, x.code).run(t)
					for _, w := range proxy.writes() {
						if w.method == http.MethodDelete && (!strings.Contains(w.body, `"resourceVersion":`) || !strings.Contains(w.body, `"uid":`)) {
							t.Errorf("a DELETE for any version: %s", w.body)
						}
					}
					if x.code == 0 && r.Summary.Confirmed != 2 {
						t.Errorf("%+v", r)
					}
					if there := len(s.names("ConfigMap")) == 1; there != x.stays {
						t.Errorf("it is there: %v, want %v\n%s%s", there, x.stays, a.stdout, a.stderr)
					}
					if x.stays {
						s.kubectl(nil, "patch", "configmap/x", "-n", s.namespace, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
					}
				})
			}
		}
	}
}
