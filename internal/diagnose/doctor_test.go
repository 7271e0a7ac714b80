package diagnose_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// The times of these tests, in seconds.
const (
	now      = 1_000_000
	hour     = 3600
	old      = now - 5*hour
	patience = 20 * 60
)

// thing describes a ConfigMap in namespace shop, unless its fields say otherwise.
type thing struct {
	kind, name string
	uid        string // the name unless given
	// owners are ConfigMaps, as name or name=uid. A trailing ! makes the reference block.
	owners           []string
	created, deleted int64
	finalizers       []string
}

func (x thing) object() *object.Object {
	o := &object.Object{ResourceVersion: "1", Created: x.created}
	o.Ref = object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: x.name, UID: types.UID(x.name)}
	if x.kind != "" {
		o.Kind = x.kind
	}
	if x.kind == "Widget" {
		o.APIVersion = "example.com/v1"
	}
	if x.uid != "" {
		o.UID = types.UID(x.uid)
	}
	for _, owner := range x.owners {
		owner, blocks := strings.CutSuffix(owner, "!")
		name, uid, given := strings.Cut(owner, "=")
		if !given {
			uid = name
		}
		ref := object.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: name, UID: types.UID(uid)}
		if blocks {
			ref.BlockOwnerDeletion = object.True
		}
		o.Owners = append(o.Owners, ref)
	}
	if x.deleted != 0 || x.finalizers != nil {
		r := o.Edit()
		r.DeletionTimestamp, r.Finalizers = x.deleted, x.finalizers
	}
	return o
}

// snapshotOf returns a snapshot of a server with discovery.
func snapshotOf(t *testing.T, coverage *snapshot.Coverage, things ...thing) *snapshot.Snapshot {
	t.Helper()
	objects := make([]*object.Object, len(things))
	for i, x := range things {
		objects[i] = x.object()
	}
	s, err := snapshot.New(objects, scenario.Resources(), coverage, snapshot.Source{Discovered: true, KubernetesVersion: "v1.36.3"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// messagesOf summarizes a checkup: the verdict, and a line for each finding about objects of the test.
func messagesOf(c *report.Checkup) []string {
	lines := []string{string(c.Verdict)}
	for _, f := range c.Findings {
		line := f.Code + " " + f.Object.KubectlName() + ": " + f.Message
		if f.Evidence != "" {
			line += " (" + f.Evidence + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

func examined(t *testing.T, s *snapshot.Snapshot, o diagnose.CheckupOptions) *report.Checkup {
	t.Helper()
	c, err := diagnose.Examine(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var (
	foreground = []string{object.Foreground}
	orphan     = []string{object.Orphan}
)

func TestExamine(t *testing.T) {
	for name, c := range map[string]struct {
		things  []thing
		earlier []thing
		options diagnose.CheckupOptions
		want    []string
	}{
		"nothing is wrong": {
			things: []thing{{name: "a", created: old}, {name: "b", owners: []string{"a"}, created: old}},
			want:   []string{"NoProblemFound"},
		},
		"nobody has an owner": {
			things: []thing{{name: "a", created: old}},
			want:   []string{"NoProblemFound"},
		},
		"garbage, nobody knows since when": {
			things: []thing{{name: "b", owners: []string{"a"}, created: old}},
			want:   []string{"Unknown", "GarbageLeft configmap/b: its owner cm/a is absent (created 4 hours ago)"},
		},
		"garbage that is new": {
			things: []thing{{name: "b", owners: []string{"a"}, created: now - 60}},
			want:   []string{"NoProblemFound", "GarbageYoung configmap/b: its owner cm/a is absent (created 59 seconds ago)"},
		},
		"garbage without a time": {
			things: []thing{{name: "b", owners: []string{"a"}}},
			want:   []string{"Unknown", "GarbageLeft configmap/b: its owner cm/a is absent"},
		},
		"the owner's name is taken since long": {
			things: []thing{{name: "a", uid: "a2", created: old + hour}, {name: "b", owners: []string{"a"}, created: old}},
			want:   []string{"NotWorking", "GarbageOld configmap/b: its owner cm/a is absent, for at least 3 hours (cm/a was created again)"},
		},
		"the owner's name is taken since a moment": {
			things: []thing{{name: "a", uid: "a2", created: now - 5}, {name: "b", owners: []string{"a"}, created: old}},
			want:   []string{"Unknown", "GarbageLeft configmap/b: its owner cm/a is absent (created 4 hours ago)"},
		},
		"the object is younger than who has the name: the owner may be younger still": {
			things: []thing{{name: "a", uid: "a2", created: old}, {name: "b", owners: []string{"a"}, created: old + 1}},
			want:   []string{"Unknown", "GarbageLeft configmap/b: its owner cm/a is absent (created 4 hours ago)"},
		},
		"one of two owners is gone since nobody knows when": {
			things: []thing{{name: "a", uid: "a2", created: old + hour}, {name: "b", owners: []string{"a", "c"}, created: old}},
			want:   []string{"Unknown", "GarbageLeft configmap/b: its owners cm/a and cm/c are absent (created 4 hours ago)"},
		},
		"a garbage owner is still an owner": {
			things: []thing{{name: "b", owners: []string{"a"}, created: now - 60}, {name: "c", owners: []string{"b"}, created: old}},
			want:   []string{"NoProblemFound", "GarbageYoung configmap/b: its owner cm/a is absent (created 59 seconds ago)"},
		},
		"garbage on its way out": {
			things: []thing{{name: "b", owners: []string{"a"}, created: old, deleted: old, finalizers: []string{"example.com/hold"}}},
			want:   []string{"NoProblemFound"},
		},
		"garbage in both dumps": {
			things:  []thing{{name: "b", owners: []string{"a"}, created: old}},
			earlier: []thing{{name: "b", owners: []string{"a"}, created: old}},
			want:    []string{"NotWorking", "GarbageOld configmap/b: its owner cm/a is absent, for at least 59 minutes (the earlier dump shows it as garbage)"},
		},
		"garbage in both dumps, with other owners": {
			things:  []thing{{name: "b", owners: []string{"a"}, created: old}},
			earlier: []thing{{name: "b", owners: []string{"z"}, created: old}},
			want:    []string{"Unknown", "GarbageLeft configmap/b: its owner cm/a is absent (created 4 hours ago)"},
		},
		"not garbage in the earlier dump": {
			things:  []thing{{name: "b", owners: []string{"a"}, created: old}},
			earlier: []thing{{name: "a"}, {name: "b", owners: []string{"a"}, created: old}},
			want:    []string{"Unknown", "GarbageLeft configmap/b: its owner cm/a is absent (created 4 hours ago)"},
		},
		"a foreground deletion that has not begun": {
			things: []thing{
				{name: "a", created: old, deleted: old + hour, finalizers: foreground},
				{name: "b", owners: []string{"a!"}, created: old}, {name: "c", owners: []string{"a!"}, created: now - 5},
			},
			want: []string{"NotWorking", "ForegroundStuck configmap/a: it waits for cm/b, which the garbage collector has not even begun to delete for at least 3 hours (deleted 3 hours ago)"},
		},
		"a foreground deletion that waits for a patch": {
			things: []thing{
				{name: "a", created: old, deleted: old + hour, finalizers: foreground}, {name: "s", created: old},
				{name: "b", owners: []string{"a!", "s"}, created: old},
			},
			want: []string{"Unknown", "ForegroundWaits configmap/a: it waits for cm/b, after the garbage collector has removed its reference (deleted 3 hours ago)"},
		},
		"a foreground deletion of now": {
			things: []thing{{name: "a", created: old, deleted: now - 5, finalizers: foreground}, {name: "b", owners: []string{"a!"}, created: old}},
			want:   []string{"NoProblemFound"},
		},
		"a foreground deletion that somebody else holds up": {
			things: []thing{
				{name: "a", created: old, deleted: old, finalizers: foreground},
				{name: "b", owners: []string{"a!"}, created: old, deleted: old, finalizers: []string{"example.com/hold"}},
			},
			want: []string{"NoProblemFound"},
		},
		"a foreground deletion that nothing blocks": {
			things: []thing{{name: "a", created: old, deleted: old, finalizers: foreground}},
			want:   []string{"Unknown", "ForegroundWaits configmap/a: nothing blocks it any more, and the finalizer foregroundDeletion is still there (deleted 4 hours ago)"},
		},
		"a foreground deletion that nothing has blocked for long": {
			things:  []thing{{name: "a", created: old, deleted: old, finalizers: foreground}},
			earlier: []thing{{name: "a", created: old, deleted: old, finalizers: foreground}},
			want:    []string{"NotWorking", "ForegroundStuck configmap/a: nothing blocks it any more, and the finalizer foregroundDeletion is still there, for at least 59 minutes (the earlier dump shows it like that)"},
		},
		"a foreground deletion that was blocked in the earlier dump": {
			things: []thing{{name: "a", created: old, deleted: old, finalizers: foreground}},
			earlier: []thing{
				{name: "a", created: old, deleted: old, finalizers: foreground},
				{name: "b", owners: []string{"a!"}, created: old, deleted: old, finalizers: []string{"example.com/hold"}},
			},
			want: []string{"Unknown", "ForegroundWaits configmap/a: nothing blocks it any more, and the finalizer foregroundDeletion is still there (deleted 4 hours ago)"},
		},
		"a chain of foreground deletions, of which the last is free": {
			things: []thing{
				{name: "a", created: old, deleted: old, finalizers: foreground},
				{name: "b", owners: []string{"a!"}, created: old, deleted: old, finalizers: foreground},
			},
			want: []string{"Unknown", "ForegroundWaits configmap/b: nothing blocks it any more, and the finalizer foregroundDeletion is still there (deleted 4 hours ago)"},
		},
		"an orphaning that was left": {
			things: []thing{{name: "a", created: old, deleted: old, finalizers: orphan}, {name: "b", owners: []string{"a"}, created: old}},
			want:   []string{"NotWorking", "OrphanStuck configmap/a: its dependents were to be released when it was deleted, 4 hours ago (the finalizer orphan is still there)"},
		},
		"an orphaning of now": {
			things: []thing{{name: "a", created: old, deleted: now - 5, finalizers: orphan}},
			want:   []string{"NoProblemFound"},
		},
		"both finalizers": {
			things: []thing{{name: "a", created: old, deleted: old, finalizers: []string{object.Foreground, object.Orphan}}},
			want:   []string{"Unknown", "CollectorMissedDeletion configmap/a: it has the finalizers orphan and foregroundDeletion, and was deleted 4 hours ago"},
		},
		"the lease has expired": {
			things:  []thing{{name: "a"}},
			options: diagnose.CheckupOptions{Lease: &diagnose.Lease{Holder: "master-1", Renewed: now - hour, Read: now, Duration: 15}},
			want:    []string{"NotWorking", "LeaseExpired lease.coordination.k8s.io/kube-controller-manager: it has not been renewed for 60 minutes (the last holder was master-1)"},
		},
		"the lease is of now, by another clock": {
			things:  []thing{{name: "a"}},
			options: diagnose.CheckupOptions{Lease: &diagnose.Lease{Holder: "master-1", Renewed: now - 75, Read: now, Duration: 15}},
			want:    []string{"NoProblemFound"},
		},
		"there is no lease": {
			things:  []thing{{name: "a"}},
			options: diagnose.CheckupOptions{Lease: &diagnose.Lease{State: diagnose.LeaseNotThere}},
			want:    []string{"Unknown", "LeaseAbsent lease.coordination.k8s.io/kube-controller-manager: there is none"},
		},
		"the lease may not be read": {
			things:  []thing{{name: "a"}},
			options: diagnose.CheckupOptions{Lease: &diagnose.Lease{State: diagnose.LeaseNotRead, Why: "forbidden"}},
			want:    []string{"NoProblemFound", "LeaseUnread lease.coordination.k8s.io/kube-controller-manager: it could not be read (forbidden)"},
		},
		"the lease is from other days": {
			things: []thing{{name: "a", created: old}, {name: "b", owners: []string{"a"}, created: old}},
			options: diagnose.CheckupOptions{Lease: &diagnose.Lease{Holder: "master-1", Renewed: now - hour, Read: now, Duration: 15},
				Graph: &diagnose.CollectorGraph{Read: []*report.Graph{believed("a b b>a")}, Live: true}},
			want: []string{"Working"},
		},
		"one of two is switched off": {
			things: []thing{{name: "a"}},
			options: diagnose.CheckupOptions{Manager: []diagnose.Process{
				{Args: []string{"kube-controller-manager", "--controllers=*,-garbage-collector-controller"}}, {Args: []string{"kube-controller-manager"}},
			}},
			want: []string{"NoProblemFound"},
		},
		"switched off, beside something else": {
			things: []thing{{name: "a"}},
			options: diagnose.CheckupOptions{Manager: []diagnose.Process{
				{Pod: object.Ref{APIVersion: "v1", Kind: "Pod", Name: "kcm"}, Args: []string{"kube-controller-manager", "--enable-garbage-collector=false"}}, {Args: []string{"sidecar"}},
			}},
			want: []string{"NotWorking", "CollectorSwitchedOff pod/kcm: it runs with --enable-garbage-collector=false"},
		},
		"switched off": {
			things:  []thing{{name: "a"}},
			options: diagnose.CheckupOptions{Manager: []diagnose.Process{{Pod: object.Ref{APIVersion: "v1", Kind: "Pod", Name: "kcm"}, Args: []string{"/usr/bin/kube-controller-manager", "--controllers=*,-garbage-collector-controller"}}}},
			want:    []string{"NotWorking", "CollectorSwitchedOff pod/kcm: it runs with --controllers=*,-garbage-collector-controller"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := c.options
			o.At, o.Patience = now, patience
			if c.earlier != nil {
				o.Earlier, o.EarlierAt = snapshotOf(t, snapshot.CoversEverything(), c.earlier...), now-hour
			}
			if diff := cmp.Diff(c.want, messagesOf(examined(t, snapshotOf(t, snapshot.CoversEverything(), c.things...), o))); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// Without discovery, it is unknown which kinds exist apart from those seen.
func TestKindsNotKnown(t *testing.T) {
	s := *snapshotOf(t, snapshot.CoversEverything(), thing{name: "a"})
	s.Source.Discovered = false
	c := examined(t, &s, diagnose.CheckupOptions{At: now})
	if c.Verdict != report.CollectorUnknown || c.Complete || codesOf(c.Reasons) != "KindsNotKnown NotAllSeen" {
		t.Errorf("%+v", c)
	}
}

// What was not seen is unknown, and so is what depends on an unknown time.
func TestUnknown(t *testing.T) {
	seen := &snapshot.Coverage{}
	seen.Add(schema.GroupResource{Resource: "configmaps"}, "")
	dangling := thing{name: "b", owners: []string{"a"}, created: old}
	waiting := thing{name: "a", created: old, deleted: old, finalizers: foreground}
	for name, c := range map[string]struct {
		coverage *snapshot.Coverage
		at       int64
		things   []thing
		want     []string
		reasons  string
	}{
		"the owner may be where nobody looked": {
			coverage: &snapshot.Coverage{}, at: now, things: []thing{dangling},
			want: []string{"Unknown"}, reasons: "NotAllSeen",
		},
		"a dependent may be where nobody looked": {
			coverage: seen, at: now, things: []thing{waiting},
			want: []string{"Unknown"}, reasons: "NotAllSeen",
		},
		"nobody knows when": {
			coverage: snapshot.CoversEverything(), things: []thing{waiting, {name: "o", deleted: old, finalizers: orphan}},
			want: []string{"Unknown"}, reasons: "TimeUnknown",
		},
		"nothing found where nobody looked everywhere": {
			coverage: seen, at: now, things: []thing{{name: "a"}},
			want: []string{"Unknown"}, reasons: "NotAllSeen",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := examined(t, snapshotOf(t, c.coverage, c.things...), diagnose.CheckupOptions{At: c.at, Patience: patience})
			if diff := cmp.Diff(c.want, messagesOf(got)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if reasons := codesOf(got.Reasons); reasons != c.reasons {
				t.Errorf("the reasons are %q, want %q", reasons, c.reasons)
			}
		})
	}
}

func codesOf(reasons []report.CheckupReason) string {
	codes := make([]string, len(reasons))
	for i, r := range reasons {
		codes[i] = r.Code
	}
	return strings.Join(codes, " ")
}

// Kinds that the collector cannot see are named. Their effect on a restart depends on the version.
func TestKinds(t *testing.T) {
	resources := scenario.Resources()
	resources.Add(object.Resource{Group: "example.com", Version: "v1", Name: "blinds", Kind: "Blind", Namespaced: true, Verbs: object.AllVerbs &^ object.Watch})
	resources.Add(object.Resource{Group: "metrics.k8s.io", Version: "v1", Name: "readings", Kind: "Reading", Namespaced: true, Verbs: object.Get | object.List})
	all := func() *snapshot.Coverage {
		c := &snapshot.Coverage{}
		for _, r := range resources.All() {
			c.Add(r.GroupResource(), "")
		}
		return c
	}
	failed := all()
	failed.Fail(schema.GroupResource{Group: "example.com", Resource: "widgets"}, "", reason.ListFailed, "conversion webhook: connection refused")
	forbidden := all()
	forbidden.Fail(schema.GroupResource{Group: "example.com", Resource: "widgets"}, "", reason.Forbidden, "no")
	down := []snapshot.Missing{{GroupVersion: "down.example.com/v1", Why: "503"}}
	unwatched := "KindUnwatched blind.example.com/: it cannot be collected: it lacks watch"
	for name, c := range map[string]struct {
		coverage *snapshot.Coverage
		missing  []snapshot.Missing
		version  string
		want     []string
	}{
		"all are well":              {all(), nil, "v1.36.3", []string{"NoProblemFound", unwatched}},
		"a list fails":              {failed, nil, "v1.36.3", []string{"Unknown", unwatched, "KindUnlisted widget.example.com/: it cannot be listed: a collector that starts now is blind for it (conversion webhook: connection refused)"}},
		"a list fails, before 1.32": {failed, nil, "v1.31.9+k3s1", []string{"Unknown", unwatched, "KindUnlisted widget.example.com/: it cannot be listed: a collector that starts now does not start at all, and one that runs stops when other kinds come or go (conversion webhook: connection refused)"}},
		"a list fails, somewhere":   {failed, nil, "", []string{"Unknown", unwatched, "KindUnlisted widget.example.com/: it cannot be listed: a collector that starts now is blind for it; before Kubernetes 1.32 it does not start at all, and one that runs stops when other kinds come or go (conversion webhook: connection refused)"}},
		"we may not list it":        {forbidden, nil, "v1.36.3", []string{"Unknown", unwatched}},
		"an API is down": {all(), down, "v1.36.3", []string{"Unknown",
			"GroupUndiscovered apiservice.apiregistration.k8s.io/v1.down.example.com: what it serves is unknown (discovery: 503)", unwatched}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := snapshot.Listed([]*object.Object{thing{name: "a"}.object()}, resources, c.missing, c.coverage, snapshot.Source{KubernetesVersion: c.version})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, messagesOf(examined(t, s, diagnose.CheckupOptions{At: now, Patience: patience}))); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// Two dumps are compared only if the comparison is meaningful.
func TestEarlierRefused(t *testing.T) {
	s := snapshotOf(t, nil, thing{name: "a"})
	other := *s
	other.Source.ClusterUID = "other"
	mine := *s
	mine.Source.ClusterUID = "mine"
	for name, c := range map[string]struct {
		snap    *snapshot.Snapshot
		options diagnose.CheckupOptions
		want    string
	}{
		"another cluster": {&mine, diagnose.CheckupOptions{At: now, Earlier: &other, EarlierAt: old}, "the earlier dump is of another cluster"},
		"no time":         {s, diagnose.CheckupOptions{Earlier: s, EarlierAt: old}, "one of the two dumps does not say when it was taken, so they cannot be compared"},
		"no earlier time": {s, diagnose.CheckupOptions{At: now, Earlier: s}, "one of the two dumps does not say when it was taken, so they cannot be compared"},
		"not earlier":     {s, diagnose.CheckupOptions{At: now, Earlier: s, EarlierAt: now}, "the earlier dump is not earlier"},
	} {
		if _, err := diagnose.Examine(t.Context(), c.snap, c.options); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The command line of a controller manager shows whether it runs the collector.
func TestSwitchedOff(t *testing.T) {
	for line, want := range map[string]string{
		"kube-controller-manager":                                                                  "",
		"kube-controller-manager --controllers=*":                                                  "",
		"kube-controller-manager --controllers=*,bootstrapsigner,-tokencleaner":                    "",
		"kube-controller-manager --controllers=*,-garbage-collector-controller":                    "--controllers=*,-garbage-collector-controller",
		"kube-controller-manager --controllers=*,-garbagecollector":                                "--controllers=*,-garbagecollector",
		"kube-controller-manager --controllers *,-garbagecollector":                                "--controllers=*,-garbagecollector",
		"kube-controller-manager --controllers=namespace-controller":                               "--controllers=namespace-controller",
		"kube-controller-manager --controllers=namespace-controller,garbage-collector-controller":  "",
		"kube-controller-manager --controllers=garbagecollector --controllers=-garbagecollector":   "",
		"kube-controller-manager --controllers=* --controllers=-garbage-collector-controller":      "--controllers=*,-garbage-collector-controller",
		"kube-controller-manager --enable-garbage-collector=false":                                 "--enable-garbage-collector=false",
		"kube-controller-manager --enable-garbage-collector=false --enable-garbage-collector=true": "",
		"kube-controller-manager --enable-garbage-collector":                                       "",
		"sh -c sleep": "",
		"kube-controller-manager controllers=none --enable-garbage-collector=perhaps --controllers=*,": "",
	} {
		s := snapshotOf(t, snapshot.CoversEverything(), thing{name: "a"})
		c := examined(t, s, diagnose.CheckupOptions{At: now, Manager: []diagnose.Process{{Args: strings.Fields(line)}}})
		got := ""
		for _, f := range c.Findings {
			got = strings.TrimPrefix(f.Message, "it runs with ")
		}
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
