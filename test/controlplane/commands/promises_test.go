package commands

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// unchanged fails if the server has something else than before.
func (s *stage) unchanged(before map[string]string) {
	s.t.Helper()
	if diff := cmp.Diff(before, s.world()); diff != "" {
		s.t.Errorf("something was written:\n%s", diff)
	}
}

// said is somebody who types the name of the context, whatever is asked.
func (s *stage) said() person {
	s.t.Helper()
	context := strings.TrimSpace(string(s.kubectl(nil, "config", "current-context")))
	return person{strings.NewReader(context + "\n")}
}

// TestGarbageCounts names five Secrets that are garbage already. Each is a delete of
// ours, and a limit of one is a limit of one: with the digest of the same plan under
// another limit, and with a yes.
func TestGarbageCounts(t *testing.T) {
	s := enter(t)
	args := []string{"delete", "-n", s.namespace, "--wait=false"}
	for i := range 5 {
		name := fmt.Sprintf("garbage-%d", i)
		s.create(`{apiVersion: v1, kind: Secret, metadata: {name: ` + name + `, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: gone, uid: x}]}}`)
		args = append(args, "secret/"+name)
	}
	before := s.world()
	confirm := s.confirmation(append(args, "--max-deletes=5")...)
	s.gc(s.ctx, append(args, "--max-deletes=1", confirm)...).want(t, 5, "5 objects", "at most 1 are allowed")
	s.unchanged(before)
	s.typed(s.ctx, s.said(), append(args, "--max-deletes=1")...).want(t, 5, "at most 1 are allowed")
	s.unchanged(before)
	s.gc(s.ctx, append(args, "--max-deletes=5", confirm)...).want(t, 0)
	if left := s.names("Secret"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestGarbageIsProtected deletes a namespace that is garbage itself, and that has
// something protected in it.
func TestGarbageIsProtected(t *testing.T) {
	s := enter(t)
	s.create(`{apiVersion: v1, kind: ConfigMap, metadata: {name: kept, annotations: {kubectl-gc.io/protect: "true"}}}`)
	s.kubectl(nil, "patch", "namespace", s.namespace, "--type=merge", "-p",
		`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"gone","uid":"x"}]}}`)
	defer s.kubectl(nil, "patch", "namespace", s.namespace, "--type=merge", "-p", `{"metadata":{"ownerReferences":null}}`)
	before := s.world()
	args := []string{"delete", "namespace/" + s.namespace, "--unlock=namespace", "--wait=false"}
	s.typed(s.ctx, s.said(), args...).want(t, 5, "cm/kept", "protected by its annotation kubectl-gc.io/protect")
	s.unchanged(before)
	if at := s.kubectl(nil, "get", "namespace", s.namespace, "-o", "jsonpath={.metadata.deletionTimestamp}"); len(at) > 0 {
		t.Errorf("the namespace is being deleted since %s", at)
	}
}

// TestCollectKeepsBelow does not delete what is protected by way of its owner, which is
// garbage and not protected.
func TestCollectKeepsBelow(t *testing.T) {
	s := enter(t)
	s.garbage("a", "b")
	s.kubectl(nil, "annotate", "configmap", "below-a", "-n", s.namespace, "kubectl-gc.io/protect=true")
	s.confirmed("collect", "-n", s.namespace).want(t, 0, "protected")
	s.configMaps(append([]string{"below-a"}, living...)...)
}

// TestDigestCoversTheGuards: a plan that weakens a guard is another plan, and the
// digest of the one is no yes to the other.
func TestDigestCoversTheGuards(t *testing.T) {
	s := enter(t)
	s.configMap("plain", "", "")
	s.configMap("held", "", "")
	s.kubectl(nil, "patch", "configmap", "held", "-n", s.namespace, "--type=merge", "-p", `{"metadata":{"finalizers":["example.com/hold"]}}`)
	s.kubectl(nil, "delete", "configmap", "held", "-n", s.namespace, "--wait=false")
	before := s.world()
	for _, x := range []struct {
		args  []string
		flags []string
	}{
		{[]string{"delete", "configmap/plain"}, []string{"--no-backup", "--backup-secrets", "--unlock=pv", "--max-deletes=2000"}},
		{[]string{"remove-finalizer", "configmap/held", "example.com/hold"}, []string{"--no-backup", "--unlock=in-use"}},
	} {
		args := append(x.args, "-n", s.namespace, "--wait=false")
		without := s.confirmation(args...)
		seen := []string{without}
		for _, flag := range x.flags {
			with := s.confirmation(append(args, flag)...)
			if slices.Contains(seen, with) {
				t.Errorf("%v %s has the digest of a plan without it", x.args, flag)
			}
			seen = append(seen, with)
			s.gc(s.ctx, append(args, flag, without)...).want(t, 5, "has the digest")
			s.unchanged(before)
		}
	}
	s.kubectl(nil, "patch", "configmap", "held", "-n", s.namespace, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
}

// TestDigestOfABusyNamespace: what goes on in a namespace all the time does not change
// the digest of its delete, and what was seen can be confirmed. One more object does.
func TestDigestOfABusyNamespace(t *testing.T) {
	s := enter(t, deployments, replicas)
	s.deployed()
	s.create(`{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: leader}, spec: {holderIdentity: a}}`)
	args := []string{"delete", "namespace/" + s.namespace, "--unlock=namespace", "--wait=false"}
	was := s.confirmation(args...)
	if err := plane.Controllers(); err != nil { // nobody else writes from here on
		t.Fatal(err)
	}
	pod := s.names("Pod")[0]
	for _, x := range []struct {
		name string
		do   func()
		same bool
	}{
		{"an Event", func() {
			s.create(`{apiVersion: v1, kind: Event, metadata: {name: e}, involvedObject: {kind: Pod, name: ` + pod + `, namespace: ` + s.namespace + `}, reason: Seen}`)
		}, true},
		{"a Lease that is renewed", func() {
			s.kubectl(nil, "patch", "lease", "leader", "-n", s.namespace, "--type=merge", "-p", `{"spec":{"holderIdentity":"b"}}`)
		}, true},
		{"one more Lease", func() {
			s.create(`{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: other}, spec: {holderIdentity: a}}`)
		}, true},
		{"a status", func() {
			s.kubectl(nil, "patch", "pod", pod, "-n", s.namespace, "--subresource=status", "--type=merge", "-p", `{"status":{"message":"seen"}}`)
		}, true},
		{"managedFields", func() {
			s.kubectl(nil, "patch", "pod", pod, "-n", s.namespace, "--field-manager=other", "--type=merge", "-p", `{"metadata":{"managedFields":[{}]}}`)
		}, true},
		{"one more object", func() { s.configMap("more", "", "") }, false},
	} {
		before := s.versions()
		x.do()
		if before == s.versions() {
			t.Fatalf("%s: nothing has changed", x.name)
		}
		if now := s.confirmation(args...); (now == was) != x.same {
			t.Errorf("%s: the digest is the same: %v, want %v", x.name, now == was, x.same)
		}
	}
	s.kubectl(nil, "delete", "configmap", "more", "-n", s.namespace)
	s.gc(s.ctx, append(args, was)...).want(t, 0)
	if err := plane.Controllers("namespace-controller"); err != nil {
		t.Fatal(err)
	}
	s.until("what was confirmed is done", func() bool {
		return len(s.kubectl(nil, "get", "namespace", s.namespace, "--ignore-not-found", "-o", "name")) == 0
	})
}

// versions are the resourceVersions of what a busy namespace has.
func (s *stage) versions() string {
	s.t.Helper()
	return s.says("pods,leases,events,configmaps", `{.items[*].metadata.resourceVersion}`)
}

// TestRefusedPlansHaveNoDigest: there is nothing that could be confirmed.
func TestRefusedPlansHaveNoDigest(t *testing.T) {
	s := enter(t)
	s.configMap("plain", "", "")
	s.create(`{apiVersion: v1, kind: ConfigMap, metadata: {name: kept, annotations: {kubectl-gc.io/protect: "true"}}}`)
	s.garbage("a")
	before := s.world()
	for _, args := range [][]string{
		{"delete", "configmap/kept"},
		{"delete", "configmap/plain", "--max-deletes=0"},
		{"delete", "namespace/" + s.namespace},
		{"collect", "--max-deletes=1"},
		{"remove-finalizer", "configmap/plain", "example.com/hold"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			args := append(args, "-n", s.namespace)
			a := s.gc(s.ctx, args...).want(t, 5)
			a.stderr += s.gc(s.ctx, append(args, "--dry-run")...).stderr
			if strings.Contains(a.stdout+a.stderr, "sha256:") {
				t.Errorf("a digest:\n%s%s", a.stdout, a.stderr)
			}
			shown := s.gc(s.ctx, append(args, "--dry-run", "-o", "json")...)
			var p report.Plan
			if err := json.Unmarshal([]byte(shown.stdout), &p); err != nil || p.Digest != "" {
				t.Errorf("%v, the digest %q in the document\n%s", err, p.Digest, shown.stderr)
			}
			s.unchanged(before)
		})
	}
}

// TestNobodySaysYes: of all flags of the commands that write, none is a yes. The error
// of a flag that there is not is fine, too.
func TestNobodySaysYes(t *testing.T) {
	s := enter(t)
	s.configMap("plain", "", "")
	s.garbage("a")
	before := s.world()
	for _, flag := range []string{
		"--yes", "-y", "--assume-yes", "--auto-approve", "--force", "--now", "--confirm=yes", "--confirm=", "--grace-period=0",
		"--no-backup", "--wait=false", "--all", "--ignore-not-found", "--unlock=namespace", "--max-deletes=100000", "--output=name",
	} {
		for _, args := range [][]string{{"delete", "configmap/plain"}, {"collect"}} {
			a := s.gc(s.ctx, append(args, "-n", s.namespace, flag)...)
			if a.code != 2 && a.code != 5 {
				t.Errorf("%v %s: exit code %d\n%s%s", args, flag, a.code, a.stdout, a.stderr)
			}
		}
	}
	s.unchanged(before)
}

// TestCopyFirst looks at the backup in the moment before the first request: it holds
// everything that goes or changes, and the server has everything still.
func TestCopyFirst(t *testing.T) {
	for policy, copied := range map[string][]string{
		"background": {"owner", "below", "below-below"},
		"orphan":     {"owner", "below"},
	} {
		t.Run(policy, func(t *testing.T) {
			s := enter(t, collector)
			s.configMap("below-below", "below", s.configMap("below", "owner", s.configMap("owner", "", "")))
			s.configMap("beside", "", "")
			before := s.world()
			args := []string{"delete", "configmap/owner", "-n", s.namespace, "--cascade=" + policy}
			looked := false
			ctx := s.during("before-write-1", func() {
				looked = true
				s.unchanged(before)
				found, err := filepath.Glob(filepath.Join(s.state, "kubectl-gc", "backups", "*"))
				if err != nil || len(found) != 1 {
					t.Fatalf("backups: %v, %v", found, err)
				}
				b, err := backup.Open(found[0], nil)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = b.Close() }()
				var names []string
				for i := range b.Entries {
					if raw, err := b.Raw(&b.Entries[i]); err != nil || len(raw) == 0 {
						t.Errorf("%s: no content, %v", b.Entries[i].Object.Name, err)
					}
					names = append(names, b.Entries[i].Object.Name)
				}
				slices.Sort(names)
				if diff := cmp.Diff(slices.Sorted(slices.Values(copied)), names); diff != "" {
					t.Errorf("copied (-want +got):\n%s", diff)
				}
			})
			s.gc(ctx, append(args, s.confirmation(args...))...).want(t, 0)
			if !looked {
				t.Error("no request was seen")
			}
		})
	}
}

// TestAskingWritesNothing runs every command that only asks, with the rights to get and
// list, over a proxy that notes every write and every rehearsal of one.
func TestAskingWritesNothing(t *testing.T) {
	s := enter(t)
	s.define("asking.example.com")
	s.garbage("a")
	s.create(`{apiVersion: v1, kind: ConfigMap, metadata: {name: stuck, finalizers: [example.com/hold]}}`)
	s.kubectl(nil, "delete", "configmap", "stuck", "-n", s.namespace, "--wait=false")
	defer s.kubectl(nil, "patch", "configmap", "stuck", "-n", s.namespace, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	role := strings.ReplaceAll(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: NAME}
rules: [{apiGroups: ["*"], resources: ["*"], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: NAME}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: NAME}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: NAME}]
`, "NAME", s.namespace)
	s.kubectl([]byte(role), "create", "-f", "-")
	defer s.kubectl([]byte(role), "delete", "-f", "-")
	before := s.world()
	p := s.proxy(nil)
	for _, args := range [][]string{
		{"explain", "configmap/stuck", "-n", s.namespace},
		{"dry-run", "delete", "configmap/a", "-n", s.namespace},
		{"check", "-A", "--without-version=carts.asking.example.com/v1"},
		{"stuck", "-A"},
		{"check", "-A"},
		{"doctor"},
		{"graph", "configmap/a", "-n", s.namespace},
		{"risk", "-A"},
		{"snapshot", "--to", filepath.Join(t.TempDir(), "snapshot.gz")},
	} {
		a := s.gc(s.ctx, append(append(args, "--as="+s.namespace), p.flags()...)...)
		if a.code != 0 && a.code != 3 || strings.Contains(strings.ToLower(a.stdout+a.stderr), "forbidden") {
			t.Errorf("%v: exit code %d\n%s%s", args, a.code, a.stdout, a.stderr)
		}
	}
	if w := slices.Concat(p.writes(), p.rehearsed()); len(w) > 0 {
		t.Errorf("written or rehearsed: %+v", w)
	}
	s.unchanged(before)
	// The proxy sees a rehearsal where there is one.
	args := []string{"delete", "configmap/a", "-n", s.namespace}
	s.gc(s.ctx, append(append(args, s.confirmation(args...), "--wait=false"), p.flags()...)...).want(t, 0)
	if len(p.rehearsed()) == 0 || len(p.writes()) == 0 {
		t.Errorf("%d rehearsals and %d writes of a delete", len(p.rehearsed()), len(p.writes()))
	}
}

// TestSecretsAreCopiedWhenAsked looks for the contents of a Secret in the backup.
func TestSecretsAreCopiedWhenAsked(t *testing.T) {
	const contents = "bm90IGZvciBhbnlib2R5"
	for _, asked := range []bool{false, true} {
		t.Run(fmt.Sprint(asked), func(t *testing.T) {
			s := enter(t)
			s.create(`{apiVersion: v1, kind: Secret, metadata: {name: key}, data: {key: ` + contents + `}}`)
			args := []string{"delete", "secret/key", "-n", s.namespace, fmt.Sprintf("--backup-secrets=%t", asked)}
			if a := s.confirmed(args...).want(t, 0); strings.Contains(a.stderr, "To bring it back: kubectl gc undo 20") != asked {
				t.Errorf("how it is brought back is said where it can be, and nowhere else:\n%s", a.stderr)
			}
			b, copied := s.bundle(), false
			for i := range b.Entries {
				raw, err := b.Raw(&b.Entries[i])
				if asked && err != nil {
					t.Error(err)
				}
				copied = copied || strings.Contains(string(raw), contents)
			}
			if len(b.Entries) != 1 || copied != asked {
				t.Errorf("%d entries, copied: %t", len(b.Entries), copied)
			}
			if left := s.names("Secret"); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// TestValuesOfSecretsAreRead deletes a Secret with its owner: its values are read if they are saved, and never
// otherwise.
func TestValuesOfSecretsAreRead(t *testing.T) {
	for _, asked := range []bool{false, true} {
		t.Run(fmt.Sprint(asked), func(t *testing.T) {
			s := enter(t, collector)
			s.create(`{apiVersion: v1, kind: Secret, metadata: {name: key, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: ` + s.configMap("owner", "", "") + `}]}, data: {key: bm8=}}`)
			p := s.proxy(nil)
			args := append([]string{"delete", "configmap/owner", "-n", s.namespace, fmt.Sprintf("--backup-secrets=%t", asked)}, p.flags()...)
			s.confirmed(args...).want(t, 0)
			read := slices.ContainsFunc(p.whole, func(path string) bool { return strings.Contains(path, "/secrets") })
			if read != asked {
				t.Errorf("read: %t; whole objects: %q", read, p.whole)
			}
			if b := s.bundle(); len(b.Entries) != 2 {
				t.Errorf("%d entries", len(b.Entries))
			}
		})
	}
}

// TestWaitsForSomebodyElse deletes a namespace that waits for an object which somebody
// else had deleted before: what the namespace owns outside goes when that object does, so
// that it is protected, asked about and copied.
func TestWaitsForSomebodyElse(t *testing.T) {
	s := enter(t, collector, "namespace-controller")
	s.create(`{apiVersion: v1, kind: ConfigMap, metadata: {name: held, finalizers: [example.com/hold]}}`)
	s.kubectl(nil, "delete", "configmap", "held", "-n", s.namespace, "--wait=false")
	uid := string(s.kubectl(nil, "get", "namespace", s.namespace, "-o", "jsonpath={.metadata.uid}"))
	outside := "of-" + s.namespace
	s.create(`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: ` + outside + `, annotations: {kubectl-gc.io/protect: "true"},
  ownerReferences: [{apiVersion: v1, kind: Namespace, name: ` + s.namespace + `, uid: ` + uid + `}]}}`)
	before := s.world()
	args := []string{"delete", "namespace/" + s.namespace, "--unlock=namespace", "--wait=false"}
	s.typed(s.ctx, s.said(), args...).want(t, 5, "clusterrole.rbac.authorization.k8s.io/"+outside, "protected by its annotation kubectl-gc.io/protect")
	s.unchanged(before)
	s.kubectl(nil, "annotate", "clusterrole", outside, "kubectl-gc.io/protect-")
	s.confirmed(args...).want(t, 0)
	s.kubectl(nil, "patch", "configmap/held", "-n", s.namespace, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	there := func() bool {
		return len(s.kubectl(nil, "get", "clusterrole", outside, "--ignore-not-found", "-o", "name")) > 0
	}
	s.until("what it owns outside goes with the namespace", func() bool { return !there() })
	backups, err := filepath.Glob(filepath.Join(s.state, "kubectl-gc", "backups", "*"))
	if err != nil || len(backups) != 1 {
		t.Fatalf("backups: %v, %v", backups, err)
	}
	s.confirmed("undo", backups[0]).want(t, 0)
	if !there() {
		t.Errorf("%s is not there again", outside)
	}
	s.kubectl(nil, "delete", "clusterrole", outside)
}
