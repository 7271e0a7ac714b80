package past

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// TestLimits: everything unknown is a limit or a gap, with a code in front of the reason, and makes
// the answer incomplete. Cluster-scoped kinds are not part of a namespace.
func TestLimits(t *testing.T) {
	record := &Record{
		Resources: &object.Resources{},
		From:      Moment{Revision: 100, Time: 1000}, To: Moment{Revision: 900, Time: 1300},
		Limits: []Limit{
			{Resource: object.Pod.Resource(), From: Moment{Revision: 200}, Why: "too old"},
			{Resource: object.ConfigMap.Resource(), From: Moment{Revision: 100}, Why: "there was more"},
			{Resource: object.Secret.Resource(), Why: "secrets is forbidden"},
			{Resource: object.Service.Resource(), Why: "NotServed: 404"},
			{Resource: object.Node.Resource()},
			{Resource: object.CRD.Resource(), Why: "no connection"},
		},
	}
	for _, test := range []struct {
		q        LostQuestion
		complete bool
		gaps     []string
	}{
		{q: LostQuestion{}, gaps: []string{
			"ListFailed: no connection", "Partial: there was more", "ListFailed", "Forbidden: secrets is forbidden", "NotServed: 404",
		}},
		{q: LostQuestion{Namespace: "shop"}, gaps: []string{
			"ListFailed: no connection", "Partial: there was more", "Forbidden: secrets is forbidden", "NotServed: 404",
		}},
	} {
		d := LostDocument(&Account{Past: record}, test.q)
		var whys []string
		for _, g := range d.Gaps {
			whys = append(whys, g.Why)
		}
		if diff := cmp.Diff(test.gaps, whys); diff != "" || d.Complete || len(d.Limits) != 1 || d.Limits[0].Why != "Expired: too old" {
			t.Errorf("%+v: complete %v, limits %v, gaps (-want +got):\n%s", test.q, d.Complete, d.Limits, diff)
		}
	}
	record.Limits = nil
	for q, short := range map[*LostQuestion]bool{
		{}: false, {Since: 5 * time.Minute}: false, {Since: 5*time.Minute + 15*time.Second}: false, {Since: 6 * time.Minute}: true,
		{SinceRevision: 100}: false, {SinceRevision: 99}: true,
	} {
		if d := LostDocument(&Account{Past: record}, *q); d.Short != short || d.Complete == short {
			t.Errorf("%+v: short %v, complete %v", q, d.Short, d.Complete)
		}
	}
}

// TestUndo: the command still reaches the losses some minutes after it was printed, and includes
// every namespace that something must be created in first.
func TestUndo(t *testing.T) {
	clock := NewClock([]Moment{{Revision: 1, Time: 1000}, {Revision: 100, Time: 1500}})
	record := &Record{Resources: &object.Resources{}, From: clock.First(), To: clock.Last(), Clock: clock}
	lose := func(ref object.Ref, request int) Loss {
		return Loss{Object: &object.Object{Ref: ref}, Began: 50, Gone: 50, Cause: Cause{Code: reason.Requested, Request: request}}
	}
	pod, ns, crd := object.Pod.Ref("shop", "web"), object.Namespace.Ref("", "shop"), object.CRD.Ref("", "databases.example.com")
	for want, losses := range map[string][]Loss{
		"":                                    nil,
		"kubectl gc undo --since=15m -n shop": {lose(ns, 0), lose(pod, 0)},
		"kubectl gc undo --since=15m -A":      {lose(crd, 0), lose(pod, 0)},
	} {
		a := &Account{Past: record, Losses: losses}
		if len(losses) > 0 {
			a.Requests = []Request{{Losses: []int{0}, At: Moment{Revision: 50, Time: 1000}, Explains: len(losses)}}
		}
		for _, undo := range []bool{true, false} {
			got := ""
			if d := LostDocument(a, LostQuestion{Undo: undo}); len(d.Remedies) > 0 {
				got = d.Remedies[0].Command
			}
			if undo && got != want || !undo && got != "" {
				t.Errorf("%q, want %q", got, want)
			}
		}
		if d := LostDocument(a, LostQuestion{Undo: true, Namespace: "shop"}); len(losses) > 0 && d.Remedies[0].Command != "kubectl gc undo --since=15m -n shop" {
			t.Errorf("of a namespace: %v", d.Remedies)
		}
	}
}

func objectWith(ref object.Ref, uid types.UID, owners ...object.OwnerReference) *object.Object {
	ref.UID = uid
	return &object.Object{Ref: ref, Owners: owners}
}

// TestAgain: an existing object with the name of a lost one makes up for it, and an owner with the
// same name for a lost owner.
func TestAgain(t *testing.T) {
	const was, is = types.UID("was"), types.UID("is")
	cm, web := object.ConfigMap.Ref("shop", "a"), object.Deployment.Ref("shop", "web")
	owner := object.OwnerReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: "new"}
	change := func(revision uint64, kind object.EventType, o *object.Object) Change {
		return Change{Revision: revision, Type: kind, Object: o}
	}
	for name, test := range map[string]struct {
		orphaned bool
		changes  []Change
		want     types.UID
	}{
		"it is gone":                       {changes: []Change{change(50, object.Deleted, objectWith(cm, was))}},
		"it was made again":                {changes: []Change{change(50, object.Deleted, objectWith(cm, was)), change(60, object.Added, objectWith(cm, is))}, want: is},
		"that is gone, too":                {changes: []Change{change(60, object.Added, objectWith(cm, is)), change(70, object.Deleted, objectWith(cm, is))}},
		"it has no owner":                  {orphaned: true, changes: []Change{change(50, object.Modified, objectWith(cm, was))}},
		"it has an owner of the same name": {orphaned: true, changes: []Change{change(60, object.Modified, objectWith(cm, was, owner))}, want: was},
	} {
		l := Loss{Object: objectWith(cm, was), Began: 50, Gone: 50, Cause: Cause{Code: reason.Requested, Request: -1}}
		if test.orphaned {
			l.Gone, l.Orphaned, l.Owners = 0, true, []object.Ref{web}
		}
		d := LostDocument(&Account{Past: &Record{Resources: &object.Resources{}, From: Moment{Revision: 1}, Changes: test.changes}, Losses: []Loss{l}}, LostQuestion{Undo: true})
		if got := d.Losses[0].Again; got != test.want || (len(d.Remedies) == 0) != (got != "") {
			t.Errorf("%s: again %q, want %q; remedies %v", name, got, test.want, d.Remedies)
		}
	}
}

// TestOlder: the losses that an undo without a time limit would bring back, with its command.
func TestOlder(t *testing.T) {
	clock := NewClock([]Moment{{Revision: 1, Time: 1000}, {Revision: 50, Time: 1100}, {Revision: 60, Time: 1110}, {Revision: 100, Time: 1500}})
	lose := func(name string, at uint64) Loss {
		return Loss{Object: objectWith(object.ConfigMap.Ref("shop", name), types.UID(name)), Began: at, Gone: at, Cause: Cause{Code: reason.Requested, Request: -1}}
	}
	a := &Account{
		Past:   &Record{Resources: &object.Resources{}, From: clock.First(), To: clock.Last(), Clock: clock},
		Losses: []Loss{lose("b", 60), lose("a", 50), lose("again", 70)},
	}
	a.Past.Changes = []Change{{Revision: 80, Type: object.Added, Object: objectWith(object.ConfigMap.Ref("shop", "again"), "is")}}
	older := Older(a, LostQuestion{Undo: true})
	if older == nil || older.Objects != 2 || older.Last.Name != "b" || older.At.Revision != 60 || older.Then == nil || older.Then.Command != "kubectl gc undo --since=10m -n shop" {
		t.Errorf("%+v", older)
	}
	if older := Older(&Account{Past: a.Past}, LostQuestion{Undo: true}); older != nil {
		t.Errorf("of nothing: %+v", older)
	}
}

// TestOneTimeOfARequest: no loss has a time before its request. The audit log knows that time
// better than the clock.
func TestOneTimeOfARequest(t *testing.T) {
	clock := NewClock([]Moment{{Revision: 1, Time: 1000}, {Revision: 100, Time: 1009}})
	lose := func(name string, at uint64) Loss {
		return Loss{Object: objectWith(object.ConfigMap.Ref("shop", name), types.UID(name)), Began: at, Gone: at + 2, Cause: Cause{Code: reason.Requested}}
	}
	a := &Account{
		Past:     &Record{Resources: &object.Resources{}, From: clock.First(), To: clock.Last(), Clock: clock},
		Losses:   []Loss{lose("a", 50), lose("b", 51)},
		Requests: []Request{{Losses: []int{0, 1}, At: Moment{Revision: 50, Time: 1007}, Explains: 2}},
	}
	want := time.Unix(1007, 0).UTC().Format(time.RFC3339)
	for _, l := range LostDocument(a, LostQuestion{}).Losses {
		if l.Began.Time != want || l.Gone.Time != want {
			t.Errorf("%s: began %s, gone %s, want %s", l.Object.Name, l.Began.Time, l.Gone.Time, want)
		}
	}
}

// TestNamespaceIsThere: the content of a namespace that is Terminating is saved. The content of one
// that was created again is brought back.
func TestNamespaceIsThere(t *testing.T) {
	ns, cm := object.Namespace.Ref("", "shop"), object.ConfigMap.Ref("shop", "a")
	lose := func(ref object.Ref, uid types.UID, gone uint64) Loss {
		return Loss{Object: objectWith(ref, uid), Began: 50, Gone: gone, Cause: Cause{Code: reason.Requested}}
	}
	clock := NewClock([]Moment{{Revision: 1, Time: 1000}, {Revision: 100, Time: 1009}})
	for want, x := range map[string]struct {
		gone    uint64
		changes []Change
	}{
		"kubectl gc undo --since=5m -n shop --dry-run": {0, nil},
		"kubectl gc undo --since=5m -n shop":           {60, []Change{{Revision: 70, Type: object.Added, Object: objectWith(ns, "again")}}},
	} {
		a := &Account{
			Past:     &Record{Resources: &object.Resources{}, From: clock.First(), To: clock.Last(), Clock: clock, Changes: x.changes},
			Losses:   []Loss{lose(ns, "ns", x.gone), lose(cm, "a", 55)},
			Requests: []Request{{Losses: []int{0}, At: Moment{Revision: 50, Time: 1007}, Explains: 2}},
		}
		a.Losses[1].Cause = Cause{Code: reason.NamespaceDeleted, By: a.Losses[0].Object.Ref}
		d := LostDocument(a, LostQuestion{Objects: []object.Ref{ns}, Undo: true})
		if len(d.Remedies) != 1 || d.Remedies[0].Command != want {
			t.Errorf("%+v, want %s", d.Remedies, want)
		}
	}
}

// TestRoutineTakesAlong: what an object takes along that Kubernetes cleans up is routine as well.
func TestRoutineTakesAlong(t *testing.T) {
	job, pod, cm := object.Job.Ref("shop", "nightly-1"), object.Pod.Ref("shop", "nightly-1-a"), object.ConfigMap.Ref("shop", "a")
	lose := func(ref object.Ref, uid types.UID, c Cause) Loss {
		return Loss{Object: objectWith(ref, uid), Began: 50, Gone: 50, Cause: c}
	}
	by := job
	by.UID = "job"
	a := &Account{
		Past: &Record{Resources: &object.Resources{}, From: Moment{Revision: 1}},
		Losses: []Loss{
			lose(job, "job", Cause{Code: reason.CleanedUp, Request: -1}), lose(pod, "pod", Cause{Code: reason.OwnerGone, By: by, Request: -1}),
			lose(cm, "cm", Cause{Code: reason.Requested}),
		},
		Requests: []Request{{Losses: []int{2}, Explains: 1}},
	}
	if sum := LostDocument(a, LostQuestion{}).Summary; sum.Routine != 2 || sum.Deleted != 1 {
		t.Errorf("%+v", sum)
	}
	if which := Restorable(a, LostQuestion{}); len(which) != 1 || which[0] != 2 {
		t.Errorf("%v", which)
	}
	if sum := LostDocument(a, LostQuestion{Objects: []object.Ref{pod}}).Summary; sum.Deleted != 1 {
		t.Errorf("named: %+v", sum)
	}
}
