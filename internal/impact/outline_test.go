package impact_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/impact"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestOutline: to a map it makes no difference that the collector has not seen the leaves.
func TestOutline(t *testing.T) {
	left := 0
	scenario.CheckUntil(t, func() bool { return left > 0 }, func(t *rapid.T) {
		snap := drawReach(t)
		out := impact.OutlineOf(snap)
		if out == nil {
			return
		}
		left += len(snap.Objects) - len(out.Snapshot().Objects)
		whole, outlined := mapped(snap), out.Map(plan.Start(out.Snapshot(), engine.Upstream).Graph())
		same := func(what string, of func(*impact.Map) []*object.Object) {
			if diff := cmp.Diff(names(of(whole)), names(of(outlined))); diff != "" {
				t.Fatalf("%s (-whole +outline):\n%s\nin\n%s", what, diff, text(snap))
			}
		}
		same("restless", (*impact.Map).Restless)
		for _, o := range snap.Objects {
			about := o.Ref.String()
			same("part of "+about, func(m *impact.Map) []*object.Object { return m.Part(o).Objects })
			same("from "+about, func(m *impact.Map) []*object.Object { return slices.Collect(m.From(o).All()) })
			same("into "+about, func(m *impact.Map) []*object.Object { return slices.Collect(m.Into(o).All()) })
			same("above "+about, func(m *impact.Map) []*object.Object { return m.Above(o) })
			if whole.Settled(o) {
				same("owners of "+about, func(m *impact.Map) []*object.Object { return sorted(m.Owners(o)) })
			}
			if whole.Settled(o) != outlined.Settled(o) || whole.Indifferent(o) != outlined.Indifferent(o) {
				t.Fatalf("%s: settled %v and %v, indifferent %v and %v\nin\n%s", about, whole.Settled(o), outlined.Settled(o), whole.Indifferent(o), outlined.Indifferent(o), text(snap))
			}
			deleted := rapid.SampledFrom(snap.Objects).Draw(t, "deleted")
			same(about+" about "+deleted.Ref.String(), func(m *impact.Map) []*object.Object { return m.About(o, deleted).Objects })
		}
		sameFold(t, whole.Positions().Fold(), outlined.Positions().Fold())
		some := rapid.SliceOfN(rapid.SampledFrom(snap.Objects), 1, 3).Draw(t, "some")
		same("small part", func(m *impact.Map) []*object.Object { return objectsOf(m.SmallPart(len(snap.Objects)/2, some...)) })
	})
}

// sameFold holds that two folds of the same objects are one.
func sameFold(t *rapid.T, a, b *impact.Fold) {
	for i := range a.Len() {
		if a.By(i) != b.By(i) || a.Times(i) != b.Times(i) || a.Limb(i) != b.Limb(i) || a.Limb(i) && a.Above(i) != b.Above(i) {
			t.Fatalf("at %d stands %d and %d, %d and %d times", i, a.By(i), b.By(i), a.Times(i), b.Times(i))
		}
	}
}

// objectsOf are those of a snapshot, which may be nil.
func objectsOf(snap *snapshot.Snapshot) []*object.Object {
	if snap == nil {
		return nil
	}
	return snap.Objects
}

func names(objects []*object.Object) []string {
	var list []string
	for _, o := range objects {
		list = append(list, o.Ref.String())
	}
	return list
}

func sorted(objects []*object.Object) []*object.Object {
	return slices.SortedFunc(slices.Values(objects), func(a, b *object.Object) int { return object.Compare(a.Ref, b.Ref) })
}

// TestLeaves: who is a leaf and who is not, one by one.
func TestLeaves(t *testing.T) {
	snap := parsed(t, `
v1 ConfigMap n/alone
v1 ConfigMap n/owner
v1 ConfigMap n/leaf owners=owner
v1 ConfigMap n/lost owners=v1:ConfigMap:gone:gone
v1 ConfigMap n/misnamed owners=v1:ConfigMap:other:owner
v1 ConfigMap n/deleting deleting
v1 Event n/event`)
	var list []string
	for _, o := range impact.OutlineOf(snap).Snapshot().Objects {
		list = append(list, o.Name)
	}
	if diff := cmp.Diff([]string{"deleting", "lost", "misnamed", "owner", "event"}, list); diff != "" {
		t.Errorf("in the outline (-want +got):\n%s", diff)
	}
}
