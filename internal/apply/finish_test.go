package apply

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

var web = object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "web", UID: "1"}

// like returns an object with finalizers and owners; deleted reports that it is being deleted.
func like(deleted bool, finalizers []string, owners ...types.UID) *object.Object {
	o := &object.Object{Ref: web, ResourceVersion: "7"}
	for _, uid := range owners {
		o.Owners = append(o.Owners, object.OwnerReference{Kind: "ReplicaSet", Name: string(uid), UID: uid})
	}
	if deleted || len(finalizers) > 0 {
		life := o.Edit()
		life.Finalizers = finalizers
		if deleted {
			life.DeletionTimestamp = 1
		}
	}
	return o
}

func TestCompare(t *testing.T) {
	lock := []string{"example.com/lock"}
	for name, x := range map[string]struct {
		predicted report.Outcome
		now       currentState
		want      *object.Object
		after     []string // finalizers that may come off
		drift     report.DifferenceReason
		pending   bool
		gone      int
		recreator string
	}{
		"deleted":                   {predicted: report.Deleted, gone: 1},
		"deleted, created again":    {predicted: report.Deleted, now: currentState{again: true}, drift: report.CreatedAgain, gone: 1},
		"deleted, as predicted":     {predicted: report.Deleted, now: currentState{again: true}, recreator: "x", gone: 1},
		"deleted, on its way":       {predicted: report.Deleted, now: currentState{o: like(true, nil)}, pending: true},
		"deleted, untouched":        {predicted: report.Deleted, now: currentState{o: like(false, nil)}, drift: report.Survived},
		"deleted, not seen":         {predicted: report.Deleted, now: currentState{err: errors.New("reset")}},
		"blocked":                   {predicted: report.Blocked, now: currentState{o: like(true, lock)}, want: like(true, lock), pending: true},
		"blocked, by another":       {predicted: report.Blocked, now: currentState{o: like(true, []string{"x"})}, want: like(true, lock), pending: true, drift: report.OtherFinalizers},
		"blocked, one comes off":    {predicted: report.Blocked, now: currentState{o: like(true, lock)}, want: like(true, []string{"x", lock[0]}), after: []string{"x", lock[0]}, pending: true},
		"blocked, another one off":  {predicted: report.Blocked, now: currentState{o: like(true, lock)}, want: like(true, []string{"x", lock[0]}), after: lock, pending: true, drift: report.OtherFinalizers},
		"blocked, gone":             {predicted: report.Blocked, gone: 1}, // somebody took the finalizer off
		"blocked, untouched":        {predicted: report.Blocked, now: currentState{o: like(false, lock)}, drift: report.Survived},
		"kept":                      {predicted: report.Kept, now: currentState{o: like(false, nil, "a")}, want: like(false, nil, "a")},
		"kept, gone":                {predicted: report.Kept, drift: report.GoneInstead},
		"kept, on its way":          {predicted: report.Kept, now: currentState{o: like(true, nil)}, drift: report.GoneInstead},
		"orphaned":                  {predicted: report.Orphaned, now: currentState{o: like(false, nil)}, want: like(false, nil)},
		"orphaned, owned":           {predicted: report.Orphaned, now: currentState{o: like(false, nil, "a")}, want: like(false, nil), drift: report.OtherReferences},
		"pruned, in another order":  {predicted: report.Pruned, now: currentState{o: like(false, nil, "a", "b")}, want: like(false, nil, "b", "a")},
		"unknown is never compared": {predicted: report.Unknown},
		"unknown, on its way":       {predicted: report.Unknown, now: currentState{o: like(true, nil)}},
	} {
		t.Run(name, func(t *testing.T) {
			var run report.Run
			e := expectation{&report.Effect{Object: web, Outcome: x.predicted, Recreator: x.recreator, Consequence: &report.Consequence{Certainty: report.Sure}}}
			for _, name := range x.after {
				e.Once = append(e.Once, report.Release{Object: e.Object, Finalizer: name})
			}
			switch x.predicted {
			case report.Unknown:
				e.Consequence.Change, e.Consequence.Certainty = report.ChangeDeleted, report.Undecided
			case report.Deleted, report.Blocked:
				e.Consequence.Change = report.ChangeDeleted
			case report.Orphaned, report.Pruned:
				e.Consequence.Change = report.ChangeEdited
			}
			compare(&run, []expectation{e}, map[object.Ref]currentState{web: x.now}, map[object.Ref]*object.Object{web: x.want})
			var got report.DifferenceReason
			if len(run.Differences) > 0 {
				got = run.Differences[0].Reason
			}
			if got != x.drift || (len(run.Pending) > 0) != x.pending || run.Summary.Gone != x.gone {
				t.Errorf("got %q, %d pending, %d gone; want %q, %t, %d: %+v", got, len(run.Pending), run.Summary.Gone, x.drift, x.pending, x.gone, run.Differences)
			}
		})
	}
}

// TestCompareNotSent: what would have followed from a write that was not done is no drift.
func TestCompareNotSent(t *testing.T) {
	below := object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "below", UID: "below"}
	all := []expectation{}
	for _, ref := range []object.Ref{web, below} {
		all = append(all, expectation{&report.Effect{Object: ref, Outcome: report.Deleted, Consequence: &report.Consequence{Change: report.ChangeDeleted, Certainty: report.Sure}}})
	}
	there := currentState{o: like(false, nil)}
	run := report.Run{Writes: []report.RunWrite{{Object: web, Verb: "DELETE", State: report.Refused}}}
	compare(&run, all, map[object.Ref]currentState{web: there, below: there}, nil)
	if len(run.Differences) > 0 || run.Summary.Compared > 0 {
		t.Errorf("%+v, compared %d", run.Differences, run.Summary.Compared)
	}
}

// TestStripped: objects for which a server refuses a DELETE for any version. (S020)
func TestStripped(t *testing.T) {
	for _, x := range []struct {
		finalizers []string
		policy     engine.Policy
		want       bool
	}{
		{nil, engine.Background, false},
		{[]string{"example.com/lock"}, engine.Background, false},
		{[]string{object.Orphan}, engine.Background, true},
		{[]string{object.Foreground}, engine.Background, true},
		{[]string{object.Orphan, object.Foreground}, engine.Background, true},
		{[]string{object.Orphan, "example.com/lock"}, engine.Background, false},
		{[]string{object.Orphan}, engine.OrphanPolicy, false},
		{[]string{object.Orphan}, engine.ForegroundPolicy, false},
		{[]string{object.Foreground}, engine.OrphanPolicy, false},
	} {
		if got := isStripped(like(false, x.finalizers), x.policy); got != x.want {
			t.Errorf("%v %s: %v, want %v", x.finalizers, x.policy, got, x.want)
		}
	}
}

// TestSubjects: all predicted consequences are saved in the backup, immediate or later, deleted or
// changed, and all objects that we write to.
func TestSubjects(t *testing.T) {
	named := func(name string) object.Ref { return object.Ref{APIVersion: "v1", Kind: "Secret", Name: name} }
	got := map[string]backup.Action{}
	for _, s := range subjectsOf(&report.Plan{Effects: []report.Effect{
		{Object: named("at-once"), Consequence: &report.Consequence{Change: report.ChangeDeleted, When: report.AtOnce}},
		{Object: named("later"), Consequence: &report.Consequence{Change: report.ChangeDeleted, When: report.FinalizerRemoved, Certainty: report.Possible}},
		{Object: named("anyway"), Consequence: &report.Consequence{Change: report.ChangeDeleted, Anyway: true}},
		{Object: named("orphaned"), Consequence: &report.Consequence{Change: report.ChangeEdited}},
		{Object: named("not-ours")},
	}}, []object.Ref{named("written")}) {
		got[s.ref.Name] = s.action
	}
	want := map[string]backup.Action{
		"at-once": backup.Deleted, "later": backup.Deleted, "anyway": backup.Deleted, "orphaned": backup.Changed, "written": backup.Changed,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestExpectations: a run is compared with the consequences, and with the objects that the plan
// keeps.
func TestExpectations(t *testing.T) {
	objects, err := scenario.ParseWorld("v1 ConfigMap n/a\nv1 Secret n/goes owners=a\nrbac.authorization.k8s.io/v1 ClusterRole stays owners=a\nv1 Secret n/held uid=h owners=a fin=x/y", scenario.Names{})
	if err != nil {
		t.Fatal(err)
	}
	snap, err := snapshot.New(objects, scenario.Resources(), snapshot.CoversEverything(), snapshot.Source{})
	if err != nil {
		t.Fatal(err)
	}
	result, err := plan.Simulate(t.Context(), snap, plan.DeleteSeed(engine.Background, object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "n", Name: "a"}), plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, e := range expectationsOf(result) {
		got[e.Object.Name] = e.Outcome == report.Kept
	}
	if diff := cmp.Diff(map[string]bool{"a": false, "goes": false, "held": false, "stays": true}, got); diff != "" {
		t.Error(diff)
	}
}
