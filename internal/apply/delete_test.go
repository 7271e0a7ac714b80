package apply

import (
	"slices"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// TestCollected: a collector runs if an object was deleted immediately without a request. Deleted
// targets, and objects deleted by other controllers, prove nothing.
func TestCollected(t *testing.T) {
	owner := object.Ref{APIVersion: "apps/v1", Kind: "ReplicaSet", Namespace: "shop", Name: "web", UID: "0"}
	for _, tt := range []struct {
		name string
		when report.When
		now  map[object.Ref]currentState
		want bool
	}{
		{"the dependent is gone", report.AtOnce, map[object.Ref]currentState{owner: {}, web: {}}, true},
		{"only the target is gone", report.AtOnce, map[object.Ref]currentState{owner: {}, web: {o: like(false, nil)}}, false},
		{"a controller took it", report.ControllerActs, map[object.Ref]currentState{owner: {}, web: {}}, false},
		{"nobody has looked", report.AtOnce, map[object.Ref]currentState{owner: {}}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &run{
				order: []*planned{{write: plan.Write{Object: owner, Deletes: true}}},
				expected: []expectation{
					{&report.Effect{Object: owner, Outcome: report.Deleted, Consequence: &report.Consequence{When: report.AtOnce}}},
					{&report.Effect{Object: web, Outcome: report.Deleted, Consequence: &report.Consequence{When: tt.when}}},
				},
			}
			if got := r.hasCollected(tt.now); got != tt.want {
				t.Errorf("%v", got)
			}
		})
	}
}

// TestDue: pods that pod GC deletes are not due before it had its time; everything else is.
func TestDue(t *testing.T) {
	pod, other := object.Pod.Ref("shop", "p"), object.Pod.Ref("shop", "q")
	r := &run{expected: []expectation{
		{&report.Effect{Object: pod, Consequence: &report.Consequence{When: report.ControllerActs, Controller: plan.PodGC}}},
		{&report.Effect{Object: other, Consequence: &report.Consequence{When: report.AtOnce}}},
	}}
	for quiet, want := range map[time.Duration][]object.Ref{time.Minute: {other}, 2 * time.Minute: {pod, other}} {
		if got := r.overdue([]object.Ref{pod, other}, quiet); !slices.Equal(got, want) {
			t.Errorf("nothing has moved for %s: %v are due, want %v", quiet, got, want)
		}
	}
}
