package scenario

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// DrawBlind draws a cluster as a whole, and what is seen of it by somebody who cannot
// list some kinds, be it anywhere or in one namespace. What is said for certain of the
// part has to be true of the whole.
func DrawBlind(t *rapid.T) (whole, part *snapshot.Snapshot) {
	w := DrawCluster(t, DrawVariety(t)&^RepeatedUIDs)
	everything, some := &snapshot.Coverage{}, &snapshot.Coverage{}
	code := rapid.SampledFrom([]reason.Code{reason.Forbidden, reason.NotInDump}).Draw(t, "why")
	often := rapid.SampledFrom([]int{9, 30, 60}).Draw(t, "one of")
	seen := map[string]func(*object.Object) bool{}
	for _, r := range Resources().All() {
		gr := object.Storage(r.GroupResource())
		if seen[gr.String()] != nil {
			continue // another view of the same objects
		}
		everything.Add(gr, "")
		switch n := rapid.IntRange(0, often).Draw(t, "unseen"); {
		case n == often:
			seen[gr.String()] = func(*object.Object) bool { return false }
			if code == reason.Forbidden {
				some.Fail(gr, "", code, "")
			}
		case n == often-1 && r.Namespaced:
			seen[gr.String()] = func(o *object.Object) bool { return o.Namespace == "n" }
			some.Add(gr, "n")
		default:
			seen[gr.String()] = func(*object.Object) bool { return true }
			some.Add(gr, "")
		}
	}
	var all, near []*object.Object
	for _, o := range w.Objects {
		all = append(all, o.Clone())
		if r, err := Resources().For(o.APIVersion, o.Kind); err != nil || seen[object.Storage(r.GroupResource()).String()](o) {
			near = append(near, o.Clone())
		}
	}
	return World{Objects: all}.Snapshot(t, everything), World{Objects: near}.Snapshot(t, some)
}

// Crossed reports whether an object refers to one of another namespace. No owner is looked
// for there, and yet a deletion in the foreground waits for whatever has the uid.
func Crossed(snap *snapshot.Snapshot) bool {
	in := map[types.UID]string{}
	for _, o := range snap.Objects {
		in[o.UID] = o.Namespace
	}
	return slices.ContainsFunc(snap.Objects, func(o *object.Object) bool {
		return slices.ContainsFunc(o.Owners, func(ref object.OwnerReference) bool {
			return in[ref.UID] != "" && in[ref.UID] != o.Namespace
		})
	})
}
