package lost

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

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
	change := func(revision uint64, kind object.EventType, o *object.Object) history.Change {
		return history.Change{Revision: revision, Type: kind, Object: o}
	}
	for name, test := range map[string]struct {
		orphaned bool
		changes  []history.Change
		want     types.UID
	}{
		"it is gone":                       {changes: []history.Change{change(50, object.Deleted, objectWith(cm, was))}},
		"it was made again":                {changes: []history.Change{change(50, object.Deleted, objectWith(cm, was)), change(60, object.Added, objectWith(cm, is))}, want: is},
		"that is gone, too":                {changes: []history.Change{change(60, object.Added, objectWith(cm, is)), change(70, object.Deleted, objectWith(cm, is))}},
		"it has no owner":                  {orphaned: true, changes: []history.Change{change(50, object.Modified, objectWith(cm, was))}},
		"it has an owner of the same name": {orphaned: true, changes: []history.Change{change(60, object.Modified, objectWith(cm, was, owner))}, want: was},
	} {
		l := history.Loss{Object: objectWith(cm, was), Asked: 50, Gone: 50, Cause: history.Cause{Code: history.Requested, Request: -1}}
		if test.orphaned {
			l.Gone, l.Orphaned, l.Owners = 0, true, []object.Ref{web}
		}
		d := Document(&history.Account{Past: &history.Past{From: history.Moment{Revision: 1}, Changes: test.changes}, Losses: []history.Loss{l}}, Question{Undo: true})
		if got := d.Losses[0].Again; got != test.want || (len(d.Remedies) == 0) != (got != "") {
			t.Errorf("%s: again %q, want %q; remedies %v", name, got, test.want, d.Remedies)
		}
	}
}

// TestOlder: the losses that an undo without a time limit would bring back, with its command.
func TestOlder(t *testing.T) {
	clock := history.NewClock([]history.Moment{{Revision: 1, Time: 1000}, {Revision: 50, Time: 1100}, {Revision: 60, Time: 1110}, {Revision: 100, Time: 1500}})
	lose := func(name string, at uint64) history.Loss {
		return history.Loss{Object: objectWith(object.ConfigMap.Ref("shop", name), types.UID(name)), Asked: at, Gone: at, Cause: history.Cause{Code: history.Requested, Request: -1}}
	}
	a := &history.Account{
		Past:   &history.Past{From: clock.First(), To: clock.Last(), Clock: clock},
		Losses: []history.Loss{lose("b", 60), lose("a", 50), lose("again", 70)},
	}
	a.Past.Changes = []history.Change{{Revision: 80, Type: object.Added, Object: objectWith(object.ConfigMap.Ref("shop", "again"), "is")}}
	older := Older(a, Question{Undo: true})
	if older == nil || older.Objects != 2 || older.Last.Name != "b" || older.At.Revision != 60 || older.Then == nil || older.Then.Command != "kubectl gc undo --since=10m -n shop" {
		t.Errorf("%+v", older)
	}
	if older := Older(&history.Account{Past: a.Past}, Question{Undo: true}); older != nil {
		t.Errorf("of nothing: %+v", older)
	}
}

// TestOneTimeOfARequest: no loss has a time before its request. The audit log knows that time better
// than the clock.
func TestOneTimeOfARequest(t *testing.T) {
	clock := history.NewClock([]history.Moment{{Revision: 1, Time: 1000}, {Revision: 100, Time: 1009}})
	lose := func(name string, at uint64) history.Loss {
		return history.Loss{Object: objectWith(object.ConfigMap.Ref("shop", name), types.UID(name)), Asked: at, Gone: at + 2, Cause: history.Cause{Code: history.Requested}}
	}
	a := &history.Account{
		Past:     &history.Past{From: clock.First(), To: clock.Last(), Clock: clock},
		Losses:   []history.Loss{lose("a", 50), lose("b", 51)},
		Requests: []history.Request{{Losses: []int{0, 1}, At: history.Moment{Revision: 50, Time: 1007}, Took: 2}},
	}
	want := time.Unix(1007, 0).UTC().Format(time.RFC3339)
	for _, l := range Document(a, Question{}).Losses {
		if l.Began.Time != want || l.Gone.Time != want {
			t.Errorf("%s: began %s, gone %s, want %s", l.Object.Name, l.Began.Time, l.Gone.Time, want)
		}
	}
}

// TestNamespaceIsThere: the content of a namespace that is Terminating is saved. The content of one
// that was created again is brought back.
func TestNamespaceIsThere(t *testing.T) {
	ns, cm := object.Namespace.Ref("", "shop"), object.ConfigMap.Ref("shop", "a")
	lose := func(ref object.Ref, uid types.UID, gone uint64) history.Loss {
		return history.Loss{Object: objectWith(ref, uid), Asked: 50, Gone: gone, Cause: history.Cause{Code: history.Requested}}
	}
	clock := history.NewClock([]history.Moment{{Revision: 1, Time: 1000}, {Revision: 100, Time: 1009}})
	for want, x := range map[string]struct {
		gone    uint64
		changes []history.Change
	}{
		"kubectl gc undo --since=5m -n shop --dry-run": {0, nil},
		"kubectl gc undo --since=5m -n shop":           {60, []history.Change{{Revision: 70, Type: object.Added, Object: objectWith(ns, "again")}}},
	} {
		a := &history.Account{
			Past:     &history.Past{From: clock.First(), To: clock.Last(), Clock: clock, Changes: x.changes},
			Losses:   []history.Loss{lose(ns, "ns", x.gone), lose(cm, "a", 55)},
			Requests: []history.Request{{Losses: []int{0}, At: history.Moment{Revision: 50, Time: 1007}, Took: 2}},
		}
		a.Losses[1].Cause = history.Cause{Code: history.NamespaceDeleted, By: a.Losses[0].Object.Ref}
		d := Document(a, Question{Objects: []object.Ref{ns}, Undo: true})
		if len(d.Remedies) != 1 || d.Remedies[0].Command != want {
			t.Errorf("%+v, want %s", d.Remedies, want)
		}
	}
}

// TestRoutineTakesAlong: what an object takes along that Kubernetes cleans up is routine as well.
func TestRoutineTakesAlong(t *testing.T) {
	job, pod, cm := object.Job.Ref("shop", "nightly-1"), object.Pod.Ref("shop", "nightly-1-a"), object.ConfigMap.Ref("shop", "a")
	lose := func(ref object.Ref, uid types.UID, c history.Cause) history.Loss {
		return history.Loss{Object: objectWith(ref, uid), Asked: 50, Gone: 50, Cause: c}
	}
	by := job
	by.UID = "job"
	a := &history.Account{
		Past: &history.Past{From: history.Moment{Revision: 1}},
		Losses: []history.Loss{
			lose(job, "job", history.Cause{Code: history.CleanedUp, Request: -1}), lose(pod, "pod", history.Cause{Code: history.OwnerGone, By: by, Request: -1}),
			lose(cm, "cm", history.Cause{Code: history.Requested}),
		},
		Requests: []history.Request{{Losses: []int{2}, Took: 1}},
	}
	if sum := Document(a, Question{}).Summary; sum.Routine != 2 || sum.Deleted != 1 {
		t.Errorf("%+v", sum)
	}
	if which := Restorable(a, Question{}); len(which) != 1 || which[0] != 2 {
		t.Errorf("%v", which)
	}
	if sum := Document(a, Question{Objects: []object.Ref{pod}}).Summary; sum.Deleted != 1 {
		t.Errorf("named: %+v", sum)
	}
}
