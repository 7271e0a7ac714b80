package scenario

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Variety is what a drawn world may contain beyond objects whose references are
// right and lead to older objects.
type Variety uint16

// The things that make worlds hard.
const (
	// Cycles: references to any object, its own included.
	Cycles Variety = 1 << iota
	// Ghosts: owners that do not exist.
	Ghosts
	// Mismatches: the UID of an object under a wrong name, kind, apiVersion,
	// namespace or scope.
	Mismatches
	// UnknownKinds: owners of kinds that are not served.
	UnknownKinds
	// Aliases: owners named by a lower-case kind or through a version that is
	// served and not preferred.
	Aliases
	// RepeatedUIDs: several objects with one UID.
	RepeatedUIDs
	// RepeatedOwners: several references to one UID.
	RepeatedOwners
	// ForeignFinalizers: objects that somebody else holds.
	ForeignFinalizers
	// CollectorFinalizers: living objects with finalizers of the collector.
	CollectorFinalizers
	// Terminating: objects that are being deleted from the start.
	Terminating
	// Graceful: pods, which take their time.
	Graceful
	// Unwatched: kinds that can be read and are not watched.
	Unwatched

	varieties = iota
)

// Wild is every variety.
const Wild Variety = 1<<varieties - 1

// Has reports whether all of w is in v.
func (v Variety) Has(w Variety) bool { return v&w == w }

// World is a drawn world.
type World struct {
	Objects []*object.Object
	// Variety is what the world was allowed to contain.
	Variety Variety
}

// kindOf is one kind of a drawn world.
type kindOf struct {
	apiVersion, kind string
	clusterScoped    bool
	needs            Variety
}

var drawnKinds = []kindOf{
	{apiVersion: "v1", kind: "ConfigMap"},
	{apiVersion: "apps/v1", kind: "ReplicaSet"},
	{apiVersion: "v1", kind: "Secret"},
	{apiVersion: "example.com/v1", kind: "Widget"},
	{apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", clusterScoped: true},
	{apiVersion: "example.com/v1", kind: "Gadget", clusterScoped: true},
	{apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role", needs: Aliases},
	{apiVersion: "v1", kind: "Pod", needs: Graceful},
	{apiVersion: "events.k8s.io/v1", kind: "Event", needs: Unwatched},
}

// Foreign is the finalizer that nobody here removes.
const Foreign = "example.com/hold"

// DrawWorld draws a world of 3 to 25 objects. Each variety that is allowed is
// left out of every second world, so that most worlds are strange in a few ways
// only.
func DrawWorld(t *rapid.T, allowed Variety) World {
	w := World{Variety: allowed & Variety(rapid.Uint16().Draw(t, "variety"))}
	n := rapid.IntRange(3, 25).Draw(t, "objects")
	for i := range n {
		w.Objects = append(w.Objects, w.drawObject(t, i))
	}
	for i, o := range w.Objects {
		w.drawOwners(t, i, o)
	}
	return w
}

// has draws whether something that the variety allows is there: once in n.
func (w World) has(t *rapid.T, v Variety, n int) bool {
	return w.Variety.Has(v) && rapid.IntRange(1, n).Draw(t, "rare") == n
}

func (w World) drawObject(t *rapid.T, i int) *object.Object {
	var kinds []kindOf
	for _, k := range drawnKinds {
		if w.Variety.Has(k.needs) {
			kinds = append(kinds, k)
		}
	}
	k := rapid.SampledFrom(kinds).Draw(t, "kind")
	o := &object.Object{ResourceVersion: fmt.Sprint(i + 1)}
	o.APIVersion, o.Kind = k.apiVersion, k.kind
	o.Name = fmt.Sprintf("o%d", i)
	o.UID = types.UID(fmt.Sprintf("u%d", i))
	if !k.clusterScoped {
		o.Namespace = rapid.SampledFrom([]string{"n", "n", "n", "m"}).Draw(t, "namespace")
	}
	if i > 0 && w.has(t, RepeatedUIDs, 8) {
		o.UID = w.Objects[rapid.IntRange(0, i-1).Draw(t, "twin")].UID
	}
	w.drawFinalizers(t, o)
	return o
}

func (w World) drawFinalizers(t *rapid.T, o *object.Object) {
	var finalizers []string
	if w.has(t, ForeignFinalizers, 6) {
		finalizers = append(finalizers, Foreign)
	}
	if w.has(t, CollectorFinalizers, 8) {
		finalizers = append(finalizers, rapid.SampledFrom([]string{object.Orphan, object.Foreground}).Draw(t, "finalizer"))
	}
	terminating := w.has(t, Terminating, 8)
	if terminating && len(finalizers) == 0 {
		finalizers = append(finalizers, rapid.SampledFrom([]string{Foreign, object.Orphan, object.Foreground}).Draw(t, "held by"))
	}
	if len(finalizers) == 0 {
		return
	}
	life := o.Edit()
	life.Finalizers = finalizers
	if terminating {
		life.DeletionTimestamp, life.GracePeriod = Start, new(int64)
	}
}

func (w World) drawOwners(t *rapid.T, i int, o *object.Object) {
	controlled := false
	for range rapid.SampledFrom([]int{0, 1, 1, 1, 2, 2, 3}).Draw(t, "owners") {
		ref, ok := w.drawOwner(t, i, o)
		if !ok || o.RefersTo(ref.UID) && !w.Variety.Has(RepeatedOwners) {
			continue
		}
		ref.BlockOwnerDeletion = object.Flag(rapid.IntRange(0, 2).Draw(t, "blocking"))
		if !controlled && rapid.IntRange(0, 2).Draw(t, "controller") == 2 {
			ref.Controller, controlled = object.True, true
		}
		o.Owners = append(o.Owners, ref)
		if w.has(t, RepeatedOwners, 6) {
			ref.BlockOwnerDeletion, ref.Controller = object.Flag(rapid.IntRange(0, 2).Draw(t, "blocking too")), object.Unset
			o.Owners = append(o.Owners, ref)
		}
	}
}

// drawOwner draws a reference of the i-th object. There is none when the world
// has no fitting owner.
func (w World) drawOwner(t *rapid.T, i int, o *object.Object) (object.OwnerReference, bool) {
	switch {
	case w.has(t, Ghosts, 5):
		ghost := fmt.Sprintf("g%d", rapid.IntRange(0, 2).Draw(t, "ghost"))
		return object.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: ghost, UID: types.UID(ghost)}, true
	case w.has(t, UnknownKinds, 6):
		return object.OwnerReference{APIVersion: "example.org/v1", Kind: "Unknown", Name: "x", UID: "x"}, true
	}
	mismatched := w.has(t, Mismatches, 4)
	var fitting []*object.Object
	for j, owner := range w.Objects {
		if (j < i || w.Variety.Has(Cycles)) && (mismatched || owner.Namespace == "" || owner.Namespace == o.Namespace) {
			fitting = append(fitting, owner)
		}
	}
	if len(fitting) == 0 {
		return object.OwnerReference{}, false
	}
	owner := rapid.SampledFrom(fitting).Draw(t, "owner")
	ref := object.OwnerReference{APIVersion: owner.APIVersion, Kind: owner.Kind, Name: owner.Name, UID: owner.UID}
	switch {
	case mismatched:
		mismatch(t, &ref)
	case w.has(t, Aliases, 3):
		ref.Kind = strings.ToLower(ref.Kind)
	case w.Variety.Has(Aliases) && strings.HasPrefix(ref.Kind, "Role"):
		ref.APIVersion = "rbac.authorization.k8s.io/v1beta1"
	}
	return ref, true
}

// mismatch spoils a reference. To leave it alone is one of the ways, as its owner
// may be in another namespace.
func mismatch(t *rapid.T, ref *object.OwnerReference) {
	switch rapid.IntRange(0, 5).Draw(t, "mismatch") {
	case 0:
		ref.Name += "-not"
	case 1:
		ref.Kind = "ServiceAccount"
		ref.APIVersion = "v1"
	case 2:
		ref.APIVersion = "extensions/v1beta1"
	case 3:
		ref.Kind += "List"
	case 4:
		ref.APIVersion, ref.Kind = "v1", "Node"
	}
}

// String is the world as the input of the cluster directive.
func (w World) String() string {
	names := Names{}
	for _, o := range w.Objects {
		names.Learn(o)
	}
	var b strings.Builder
	for _, o := range w.Objects {
		fmt.Fprintln(&b, Format(o, names))
	}
	return b.String()
}

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
