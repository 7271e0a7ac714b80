package commands

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/apply"
	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// drivers makes CSIDrivers, which have no namespace, labelled as of the test.
func (s *stage) drivers(names ...string) {
	s.t.Helper()
	for _, name := range names {
		s.create(fmt.Sprintf(`{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: %s.example.com, labels: {of: %s}, finalizers: [example.com/hold]}, spec: {}}`, name, s.namespace))
	}
	s.t.Cleanup(func() {
		for _, name := range names {
			s.kubectl(nil, "patch", "csidriver", name+".example.com", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
		}
		s.kubectl(nil, "delete", "csidriver", "-l", "of="+s.namespace, "--ignore-not-found")
	})
}

// deleted is when the CSIDrivers of the test were deleted; empty when none is.
func (s *stage) deleted() string {
	return strings.TrimSpace(string(s.kubectl(nil, "get", "csidriver", "-l", "of="+s.namespace, "-o", "jsonpath={.items[*].metadata.deletionTimestamp}")))
}

// TestSelectionIsConfined selects in a namespace what is in none. kubectl warns and
// takes all of the cluster; a published outage began like this. Not even the digest of
// the plan without the namespace is a yes to that.
func TestSelectionIsConfined(t *testing.T) {
	s := enter(t)
	s.drivers("one", "two")
	for name, args := range map[string][]string{
		"all":      {"csidrivers", "--all"},
		"labels":   {"csidrivers", "-l", "of=" + s.namespace},
		"fields":   {"csidrivers", "--field-selector", "metadata.name!=none"},
		"together": {"configmaps,csidrivers", "--all"},
	} {
		t.Run(name, func(t *testing.T) {
			shown := s.gc(s.ctx, "delete", "csidrivers", "-l", "of="+s.namespace, "--dry-run").want(t, 0)
			confirm := "--confirm=" + digests.FindStringSubmatch(shown.stderr)[1]
			args = append(args, "-n", s.namespace)
			s.gc(s.ctx, append(append([]string{"delete"}, args...), "--wait=false", confirm)...).want(t, 2, "csidrivers are cluster-scoped: -n "+s.namespace)
			s.gc(s.ctx, append([]string{"dry-run", "delete"}, args...)...).want(t, 2, "does not limit")
			if deleted := s.deleted(); deleted != "" {
				t.Errorf("deleted at %s", deleted)
			}
		})
	}
	s.kubectl(nil, "delete", "csidriver", "-l", "of="+s.namespace, "--wait=false")
	s.gc(s.ctx, "remove-finalizer", "csidrivers", "example.com/hold", "--all-of-kind", "-n", s.namespace).want(t, 2, "--all-of-kind")
	if held := s.says("csidrivers", `{.items[*].metadata.name}`); strings.Count(held, "example.com") != 2 {
		t.Errorf("held are only %q", held)
	}
}

// TestNamedIsMeant names what is in no namespace: as kubectl does, it warns and goes on.
func TestNamedIsMeant(t *testing.T) {
	s := enter(t)
	s.drivers("named")
	a := s.confirmed("delete", "csidriver/named.example.com", "-n", s.namespace, "--wait=false")
	a.want(t, 0, "warning: csidriver.storage.k8s.io/named.example.com is cluster-scoped: -n "+s.namespace+" does not apply to it")
	if s.deleted() == "" {
		t.Error("it is not being deleted")
	}
}

// TestNamedTwice names one object more than once: it is one object, in the plan, in what
// is asked, and in what is sent.
func TestNamedTwice(t *testing.T) {
	for _, args := range [][]string{
		{"cm/x", "cm/x"}, {"cm", "x", "x"}, {"cm/x", "configmap/x"}, {"configmaps.v1./x", "cm/x"}, {"cm,configmaps", "-l", "changed=yes"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			s := enter(t)
			s.configMap("x", "", "")
			s.label("x")
			args = append([]string{"delete"}, append(args, "-n", s.namespace, "--max-deletes=1", "--wait=false", "-o", "json")...)
			r := s.confirmed(args...).want(t, 0).run(t)
			if len(r.Writes) != 1 || r.Summary.Confirmed != 1 || len(r.Seed.Targets) != 1 {
				t.Errorf("%+v, writes %+v", r.Seed.Targets, r.Writes)
			}
			s.configMaps()
			sent := slices.DeleteFunc(s.bundle().Journal, func(r backup.Record) bool { return r.Kind != backup.Intended })
			if len(sent) != 1 {
				t.Errorf("%d requests in the journal", len(sent))
			}
		})
	}
}

// TestInterruptedUndoTellsOnce interrupts an undo that is under way.
func TestInterruptedUndoTellsOnce(t *testing.T) {
	s := enter(t)
	var names []string
	for i := range 20 {
		names = append(names, fmt.Sprintf("made-%02d", i))
	}
	s.garbage(names...)
	s.confirmed("collect", "-n", s.namespace).want(t, 0)
	s.configMap("owner", "", "") // another one: the references to it are not written again
	backups, err := filepath.Glob(filepath.Join(s.state, "kubectl-gc", "backups", "*"))
	if err != nil || len(backups) != 1 {
		t.Fatal(backups, err)
	}
	dry := s.gc(s.ctx, "undo", backups[0], "--dry-run").want(t, 0)
	confirm := "--confirm=" + digests.FindStringSubmatch(dry.stderr)[1]
	before := len(s.world())
	ctx, stop := context.WithCancel(s.ctx)
	defer stop()
	var watching sync.WaitGroup
	watching.Go(func() {
		s.until("something is made again", func() bool { return ctx.Err() != nil || len(s.world()) > before })
		stop()
	})
	a := s.gc(ctx, "undo", backups[0], confirm, "--qps=5", "--burst=1", "-o", "wide").want(t, 130)
	stop()
	watching.Wait()
	_, account, ok := strings.Cut(a.stdout, ": interrupted; ")
	if !ok {
		t.Fatalf("no account:\n%s%s", a.stdout, a.stderr)
	}
	for _, name := range names {
		if n := len(regexp.MustCompile(`(?m)^\d+ +\S+ +cm/`+name+`\b`).FindAllString(account, -1)); n != 1 || strings.Count(account, "\ncm/"+name) > 0 {
			t.Errorf("%s is told %d times as a step, and perhaps again below:\n%s", name, n, account)
		}
	}
	if strings.Count(a.stdout+a.stderr, "requests in progress were finished") != 1 {
		t.Errorf("that it was interrupted is told more than once:\n%s%s", a.stdout, a.stderr)
	}
}

// TestInterruptedTellsOnce interrupts each command that writes after its first write:
// what it has to say of an object, it says once.
func TestInterruptedTellsOnce(t *testing.T) {
	names := []string{"a", "b", "c"}
	for _, x := range []struct {
		name string
		args []string
		do   func(*stage)
	}{
		{"collect", []string{"collect"}, func(s *stage) { s.garbage(names...) }},
		{"delete", []string{"delete", "cm", "-l", "changed=yes"}, func(s *stage) {
			for _, name := range names {
				s.configMap("below-"+name, name, s.configMap(name, "", ""))
				s.label(name)
			}
		}},
		{"remove-finalizer", []string{"remove-finalizer", "cm", "example.com/hold", "--all-of-kind"}, func(s *stage) {
			for _, name := range names {
				s.configMap(name, "", "")
				s.kubectl(nil, "patch", "configmap", name, "-n", s.namespace, "--type=merge", "-p", `{"metadata":{"finalizers":["example.com/hold"]}}`)
				s.configMap("below-"+name, name, s.says("configmaps", `{.items[?(@.metadata.name=="`+name+`")].metadata.uid}`))
			}
			s.kubectl(nil, append([]string{"delete", "configmap", "-n", s.namespace, "--wait=false"}, names...)...)
		}},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := enter(t)
			x.do(s)
			args := append(x.args, "-n", s.namespace)
			dry := s.gc(s.ctx, append(args, "--dry-run")...).want(t, 0)
			confirm := "--confirm=" + digests.FindStringSubmatch(dry.stderr)[1]
			interrupted, stop := context.WithCancel(s.ctx)
			ctx := apply.WithFailpoints(interrupted, func(at string) {
				if strings.HasPrefix(at, "after-write-") {
					stop()
				}
			})
			a := s.gc(ctx, append(args, confirm)...).want(t, 130)
			_, account, ok := strings.Cut(a.stdout, ": interrupted; ")
			if !ok {
				t.Fatalf("no account:\n%s%s", a.stdout, a.stderr)
			}
			for _, name := range names {
				for _, o := range []string{name, "below-" + name} {
					if n := len(regexp.MustCompile(`configmap/`+o+`\b`).FindAllString(account, -1)); n > 1 {
						t.Errorf("%s is told %d times:\n%s", o, n, account)
					}
				}
			}
			if !strings.Contains(account, string(report.NotDone)) {
				t.Errorf("what was not done is not told:\n%s", account)
			}
		})
	}
}
