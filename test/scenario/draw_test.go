package scenario

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// A drawn world can be pasted into a scenario file: what is printed is read back
// as it was.
func TestDrawnWorldsAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := DrawWorld(t, Wild)
		text := w.String()
		objects, err := ParseWorld(text, Names{})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if len(objects) != len(w.Objects) {
			t.Fatalf("%d objects of %d\n%s", len(objects), len(w.Objects), text)
		}
		for i, o := range objects {
			if !object.Equal(o, w.Objects[i]) {
				t.Fatalf("got  %+v\nwant %+v\n%s", o, w.Objects[i], text)
			}
		}
	})
}

// Every variety really occurs, and none occurs that was not allowed: a property
// over worlds that are all alike would say little.
func TestDrawnWorldsVary(t *testing.T) {
	seen := map[Variety]int{}
	rapid.Check(t, func(t *rapid.T) {
		w := DrawWorld(t, Wild)
		for v := Variety(1); v < Wild; v <<= 1 {
			if shows(w, v) {
				seen[v]++
				if !w.Variety.Has(v) {
					t.Fatalf("variety %b was not allowed\n%s", v, w)
				}
			}
		}
	})
	for v := Variety(1); v < Wild; v <<= 1 {
		if seen[v] == 0 {
			t.Errorf("variety %b never occurred", v)
		}
	}
}

// shows reports whether a world has something that only the variety explains.
func shows(w World, v Variety) bool {
	known := map[string]*object.Object{}
	for i, o := range w.Objects {
		if known[string(o.UID)] != nil && v == RepeatedUIDs {
			return true
		}
		if known[string(o.UID)] == nil {
			known[string(o.UID)] = w.Objects[i]
		}
	}
	for _, o := range w.Objects {
		switch {
		case v == ForeignFinalizers && o.HasFinalizer(Foreign) && !o.BeingDeleted(),
			v == CollectorFinalizers && !o.BeingDeleted() && (o.HasFinalizer(object.Orphan) || o.HasFinalizer(object.Foreground)),
			v == Terminating && o.BeingDeleted(),
			v == Graceful && o.Kind == "Pod",
			v == Unwatched && o.Kind == "Event":
			return true
		}
		for i, ref := range o.Owners {
			owner := known[string(ref.UID)]
			switch {
			case v == Cycles && ref.UID == o.UID && !w.Variety.Has(RepeatedUIDs),
				v == Ghosts && owner == nil && ref.UID[0] == 'g',
				v == UnknownKinds && ref.Kind == "Unknown",
				v == Mismatches && (ref.Kind == "ServiceAccount" || ref.APIVersion == "extensions/v1beta1"),
				v == Aliases && (ref.Kind == "configmap" || ref.APIVersion == "rbac.authorization.k8s.io/v1beta1"),
				v == RepeatedOwners && i > 0 && o.Owners[i-1].UID == ref.UID:
				return true
			}
		}
	}
	return false
}
