package scenario

import (
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// DrawVariety draws whether a world is wild, or such that most of its references are
// right: of the first little can be said for certain.
func DrawVariety(t *rapid.T) Variety {
	if rapid.Bool().Draw(t, "tame") {
		return Cycles | Graceful | ForeignFinalizers | RepeatedOwners
	}
	return Wild
}

// DrawSnapshot draws how much of a world was seen: all of it, or of every so many kinds
// all but one.
func (w World) DrawSnapshot(t *rapid.T, every int) *snapshot.Snapshot {
	coverage := &snapshot.Coverage{}
	if rapid.Bool().Draw(t, "whole") {
		coverage = snapshot.CoversEverything()
	} else {
		for _, r := range Resources().All() {
			if rapid.IntRange(1, every).Draw(t, "covered") > 1 {
				coverage.Add(r.GroupResource(), "")
			}
		}
	}
	return w.Snapshot(t, coverage)
}

// Snapshot is what was seen of a world.
func (w World) Snapshot(t *rapid.T, coverage *snapshot.Coverage) *snapshot.Snapshot {
	snap, err := snapshot.New(w.Objects, Resources(), coverage, snapshot.Source{})
	if err != nil {
		t.Fatal(err)
	}
	return snap
}
