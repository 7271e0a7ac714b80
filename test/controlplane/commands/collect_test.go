package commands

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/apply"
	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// garbage makes a tree below an owner and removes the owner; nobody collects. Of
// the tree, as many objects hang on the owner as there are names; each has one
// below it. Beside them stands a living pair.
func (s *stage) garbage(names ...string) {
	s.t.Helper()
	owner := s.configMap("owner", "", "")
	s.configMap("below-alive", "alive", s.configMap("alive", "", ""))
	for _, name := range names {
		s.configMap("below-"+name, name, s.configMap(name, "owner", owner))
	}
	path := "/api/v1/namespaces/" + s.namespace + "/configmaps/owner?propagationPolicy=Background"
	if _, err := plane.Do(s.ctx, http.MethodDelete, path, "", nil); err != nil {
		s.t.Fatal(err)
	}
}

var living = []string{"alive", "below-alive"}

func (s *stage) configMaps(want ...string) {
	s.t.Helper()
	got := s.names("ConfigMap")
	slices.Sort(got)
	want = slices.Sorted(slices.Values(want))
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Errorf("ConfigMaps (-want +got):\n%s", diff)
	}
}

// bundle opens the one bundle that the test has made.
func (s *stage) bundle() *backup.Backup {
	s.t.Helper()
	found, err := filepath.Glob(filepath.Join(s.state, "kubectl-gc", "backups", "*"))
	if err != nil || len(found) == 0 {
		s.t.Fatalf("%v bundles, %v", found, err)
	}
	b, err := backup.Open(found[len(found)-1], nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = b.Close() })
	return b
}

// TestCollect collects what is garbage, and nothing else, and has a copy of it.
func TestCollect(t *testing.T) {
	s := enter(t)
	s.garbage("a", "b", "c", "d")
	before := s.world()
	s.gc(s.ctx, "collect", "-n", s.namespace).want(t, 5, "no terminal to ask on")
	if diff := cmp.Diff(before, s.world()); diff != "" {
		t.Fatalf("something was written:\n%s", diff)
	}
	r := s.confirmed("collect", "-n", s.namespace, "--fail-on=count=9", "-o", "json").want(t, 0).run(t)
	if r.State != report.Complete || r.Summary.Confirmed != 8 || r.Summary.Gone != 8 || len(r.Differences) > 0 {
		t.Errorf("%+v", r)
	}
	s.configMaps(living...)
	b := s.bundle()
	kept := 0
	for i := range b.Entries {
		raw, err := b.Raw(&b.Entries[i])
		if e := b.Entries[i]; err != nil || before["ConfigMap/"+e.Object.Name] != e.ResourceVersion || !bytes.Contains(raw, []byte(e.ResourceVersion)) {
			t.Errorf("%+v: %v", e, err)
		}
		kept++
	}
	if kept != 8 || !b.Ended || len(b.Unanswered()) > 0 {
		t.Errorf("%d objects kept, ended %t, unanswered %v", kept, b.Ended, b.Unanswered())
	}
	s.gc(s.ctx, "collect", "-n", s.namespace).want(t, 0, "nothing to collect")
}

// TestCollectKeeps leaves alone what is protected, with what it owns, and whatever
// is outside of the namespace.
func TestCollectKeeps(t *testing.T) {
	s := enter(t)
	s.garbage("a", "b")
	s.kubectl(nil, "annotate", "configmap", "a", "-n", s.namespace, "kubectl-gc.io/protect=true")
	uid := strings.TrimSpace(string(s.kubectl(nil, "get", "configmap", "b", "-n", s.namespace, "-o", "jsonpath={.metadata.ownerReferences[0].uid}")))
	owner := fmt.Sprintf("ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: %s}]", uid)
	s.create(`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: claim, ` + owner + `}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`)
	s.create(`{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: ` + s.namespace + `, ownerReferences: [{apiVersion: v1, kind: Node, name: gone, uid: x}]}, value: 1}`)
	defer s.kubectl(nil, "delete", "priorityclass", s.namespace)
	s.confirmed("collect", "-n", s.namespace).want(t, 0, "garbage, but stays: it is protected")
	s.configMaps(append([]string{"a", "below-a"}, living...)...)
	if got := s.world(); got["PersistentVolumeClaim/claim"] == "" || got["PriorityClass/"+s.namespace] == "" {
		t.Errorf("something protected is gone: %v", got)
	}
	s.confirmed("collect", "-n", s.namespace, "--unlock=pvc").want(t, 0)
	s.until("the PVC is gone or held by its own finalizer", func() bool {
		out := s.kubectl(nil, "get", "pvc", "-n", s.namespace, "-o", "jsonpath={.items[*].metadata.deletionTimestamp}")
		return len(out) > 0 || s.world()["PersistentVolumeClaim/claim"] == ""
	})
	s.kubectl(nil, "patch", "pvc", "claim", "-n", s.namespace, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
}

// TestCollectLeavesTheUnknown does not begin a deletion of which it cannot tell where it
// ends: below the object is one with an owner of a kind that nobody serves.
func TestCollectLeavesTheUnknown(t *testing.T) {
	s := enter(t)
	s.garbage("a")
	root := s.configMap("root", "", "")
	middle := s.configMap("middle", "", "")
	s.create(`{apiVersion: v1, kind: ConfigMap, metadata: {name: open, ownerReferences: [` +
		`{apiVersion: v1, kind: ConfigMap, name: middle, uid: ` + middle + `, blockOwnerDeletion: true},` +
		`{apiVersion: example.com/v1, kind: Unheard, name: other, uid: other}]}}`)
	s.kubectl(nil, "patch", "configmap", "middle", "-n", s.namespace, "--type=merge", "-p",
		`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"root","uid":"`+root+`","blockOwnerDeletion":true}]}}`)
	s.kubectl(nil, "delete", "configmap", "root", "-n", s.namespace, "--cascade=foreground", "--wait=false")
	before := s.world()
	s.confirmed("collect", "-n", s.namespace, "-o", "wide").want(t, 0, "whose outcome is unknown")
	s.configMaps(append([]string{"root", "middle", "open"}, living...)...)
	for _, name := range []string{"root", "middle", "open"} {
		if was, is := before["ConfigMap/"+name], s.world()["ConfigMap/"+name]; was != is {
			t.Errorf("%s was written to: resourceVersion %s, then %s", name, was, is)
		}
	}
	s.kubectl(nil, "patch", "configmap", "root", "-n", s.namespace, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	s.kubectl(nil, "delete", "configmap", "middle", "open", "-n", s.namespace)
}

// TestCollectRefused tries what is refused before anything is written.
func TestCollectRefused(t *testing.T) {
	s := enter(t)
	s.garbage("a")
	before := s.world()
	for name, x := range map[string]struct {
		args []string
		code int
		says string
	}{
		"nowhere":        {nil, 2, "where?"},
		"both":           {[]string{"-A", "-n", s.namespace}, 2, "exclude each other"},
		"upstream rules": {[]string{"-n", s.namespace, "--rules=upstream"}, 2, "only shows"},
		"too many":       {[]string{"-n", s.namespace, "--max-deletes=1"}, 5, "at most 1 are allowed"},
		"another digest": {[]string{"-n", s.namespace, "--confirm=sha256:" + strings.Repeat("0", 64)}, 5, "has the digest"},
		"a condition":    {[]string{"-n", s.namespace, "--fail-on=count=1"}, 3, "the limit is 1"},
		"only shown":     {[]string{"-n", s.namespace, "--dry-run"}, 0, "Nothing was written"},
	} {
		t.Run(name, func(t *testing.T) {
			s.gc(s.ctx, append([]string{"collect"}, x.args...)...).want(t, x.code, x.says)
			if diff := cmp.Diff(before, s.world()); diff != "" {
				t.Errorf("something was written:\n%s", diff)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(s.state, "kubectl-gc")); !os.IsNotExist(err) {
		t.Errorf("a refused run has left something behind: %v", err)
	}
}

// during has something happen at a point of a run.
func (s *stage) during(point string, do func()) context.Context {
	return apply.WithFailpoints(s.ctx, func(at string) {
		if at == point {
			do()
		}
	})
}

// digest is that of the plan to collect in the namespace.
func (s *stage) digest() string {
	s.t.Helper()
	found := digests.FindStringSubmatch(s.gc(s.ctx, "collect", "-n", s.namespace, "--dry-run").stderr)
	if found == nil {
		s.t.Fatal("no digest")
	}
	return found[1]
}

// TestCollectWhileOthersWrite changes the cluster between the plan and the end.
func TestCollectWhileOthersWrite(t *testing.T) {
	for name, x := range map[string]struct {
		point string
		do    func(*stage)
		code  int
		left  []string
		says  string
	}{
		"changed before the backup": {"before-backup", func(s *stage) { s.label("a") }, 5, []string{"a", "below-a"}, "changed since the plan"},
		"changed after the backup":  {"after-backup", func(s *stage) { s.label("a") }, 0, nil, ""},
		"protected after the backup": {"after-backup", func(s *stage) {
			s.kubectl(nil, "annotate", "configmap", "a", "-n", s.namespace, "kubectl-gc.io/protect=true")
		}, 5, []string{"a", "below-a"}, "annotation kubectl-gc.io/protect"},
		"protected right before the write": {"before-write-1", func(s *stage) {
			s.kubectl(nil, "annotate", "configmap", "a", "-n", s.namespace, "kubectl-gc.io/protect=true")
		}, 5, []string{"a", "below-a"}, "annotation kubectl-gc.io/protect"},
		"adopted after the backup": {"after-backup", func(s *stage) { s.adopt("a") }, 5, []string{"a", "below-a"}, "NotDone"},
		"gone after the backup":    {"after-backup", func(s *stage) { s.kubectl(nil, "delete", "configmap", "a", "-n", s.namespace) }, 0, nil, ""},
		"made anew":                {"after-backup", func(s *stage) { s.anew("below-a") }, 3, []string{"below-a"}, "CreatedAgain"},
	} {
		t.Run(name, func(t *testing.T) {
			s := enter(t)
			s.garbage("a")
			ctx := s.during(x.point, func() { x.do(s) })
			a := s.gc(ctx, "collect", "-n", s.namespace, "--confirm="+s.digest(), "-o", "json", "--patience=1s")
			a.want(t, x.code, x.says)
			want := slices.Concat(living, x.left)
			s.configMaps(want...)
			if name == "changed after the backup" {
				s.savedLast("a", "changed")
			}
			for _, w := range a.run(t).Writes {
				if here := slices.Contains(want, w.Object.Name); here && w.State == report.Confirmed && w.Object.Name != "below-a" {
					t.Errorf("%+v is said to be done", w)
				}
			}
		})
	}
}

// savedLast fails unless the last version of an object that the bundle has holds a
// text: it is the version that was deleted.
func (s *stage) savedLast(name, text string) {
	s.t.Helper()
	b := s.bundle()
	for i := range b.Entries {
		if e := &b.Entries[i]; e.Object.Name == name {
			if raw, err := b.Raw(e); err != nil || !bytes.Contains(raw, []byte(text)) {
				s.t.Errorf("%s was deleted in a version that is not in the backup: %v\n%s", name, err, raw)
			}
			return
		}
	}
	s.t.Errorf("%s is not in the backup", name)
}

func (s *stage) label(name string) {
	s.kubectl(nil, "label", "configmap", name, "-n", s.namespace, "changed=yes")
}

// adopt gives an object a living owner.
func (s *stage) adopt(name string) {
	uid := s.kubectl(nil, "get", "configmap", "alive", "-n", s.namespace, "-o", "jsonpath={.metadata.uid}")
	s.kubectl(nil, "patch", "configmap", name, "-n", s.namespace, "--type=merge", "-p",
		fmt.Sprintf(`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"alive","uid":"%s"}]}}`, uid))
}

// anew puts another object, that nobody owns, in the place of one.
func (s *stage) anew(name string) {
	s.kubectl(nil, "delete", "configmap", name, "-n", s.namespace)
	s.create(`{apiVersion: v1, kind: ConfigMap, metadata: {name: ` + name + `}}`)
}

// TestCollectSurprise makes new garbage after the plan: it is not touched, and it
// ends the run.
func TestCollectSurprise(t *testing.T) {
	s := enter(t)
	s.garbage("a")
	confirm := "--confirm=" + s.digest()
	ctx := s.during("after-backup", func() {
		s.create(`{apiVersion: v1, kind: ConfigMap, metadata: {name: new, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: gone, uid: x}]}}`)
	})
	a := s.gc(ctx, "collect", "-n", s.namespace, confirm, "-o", "json")
	r := a.run(t)
	if a.code != 5 && a.code != 6 || len(r.Surprises) != 1 || r.Surprises[0].Object.Name != "new" {
		t.Errorf("exit code %d: %+v", a.code, r)
	}
	if s.world()["ConfigMap/new"] == "" {
		t.Error("what the plan did not have is gone")
	}
}

// TestCollectInterrupted interrupts a run after its first write: it says what it
// has done, and another run does the rest.
func TestCollectInterrupted(t *testing.T) {
	s := enter(t)
	s.garbage("a", "b", "c")
	before := s.world()
	confirm := "--confirm=" + s.digest()
	interrupted, stop := context.WithCancel(s.ctx)
	ctx := apply.WithFailpoints(interrupted, func(at string) {
		if strings.HasPrefix(at, "after-write-") {
			stop()
		}
	})
	a := s.gc(ctx, "collect", "-n", s.namespace, confirm, "-o", "json").want(t, 130)
	r := a.run(t)
	gone := len(before) - len(s.world())
	if r.State != report.Interrupted || r.Summary.Confirmed != gone || r.Summary.Unknown > 0 || gone == 0 || gone == 6 {
		t.Errorf("%d are gone: %+v", gone, r.Summary)
	}
	s.confirmed("collect", "-n", s.namespace).want(t, 0)
	s.configMaps(living...)
}

// TestCollectBesideCollector has the cluster's own collector start when the run
// does: whoever is faster, the end is the same and the report true.
func TestCollectBesideCollector(t *testing.T) {
	s := enter(t)
	s.garbage("a", "b", "c", "d", "e", "f")
	confirm := "--confirm=" + s.digest()
	ctx := s.during("after-backup", func() {
		if err := plane.Controllers(collector); err != nil {
			t.Error(err)
		}
	})
	r := s.gc(ctx, "collect", "-n", s.namespace, confirm, "-o", "json", "--patience=2s").want(t, 0).run(t)
	if r.State != report.Complete || r.Summary.Confirmed+r.Summary.AlreadyDone != 12 || len(r.Differences) > 0 {
		t.Errorf("%+v", r)
	}
	s.configMaps(living...)
}

// TestCollectMany collects as many objects as one run may.
func TestCollectMany(t *testing.T) {
	s := enter(t)
	var names []string
	for i := range 150 {
		names = append(names, fmt.Sprintf("many-%03d", i))
	}
	s.garbage(names...)
	refused := s.gc(s.ctx, "collect", "-n", s.namespace, "--dry-run", "--max-deletes=299").want(t, 0, "300 objects", "--max-deletes=300")
	if strings.Contains(refused.stdout, "Digest:") {
		t.Error("a plan that would be refused has a digest")
	}
	began := time.Now()
	r := s.confirmed("collect", "-n", s.namespace, "--max-deletes=300", "-o", "json").want(t, 0).run(t)
	if r.Summary.Confirmed != 300 || r.Summary.Gone != 300 {
		t.Errorf("%+v", r.Summary)
	}
	t.Logf("300 objects in %s", time.Since(began).Round(time.Millisecond))
	s.configMaps(living...)
}
