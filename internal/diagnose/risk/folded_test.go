package risk

import (
	"fmt"
	"math"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/impact"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestFolded: a ranking among those that stand for others is that of all, number by number.
func TestFolded(t *testing.T) {
	taken := 0
	rapid.Check(t, func(t *rapid.T) {
		world := scenario.DrawCluster(t, scenario.DrawVariety(t))
		for _, name := range []string{"n1", "n2"} {
			at := object.Node.Ref("", name)
			at.UID = types.UID(name)
			if !slices.ContainsFunc(world.Objects, func(o *object.Object) bool { return o.Is(object.Node) && o.Name == name || o.UID == at.UID }) {
				world.Objects = append(world.Objects, &object.Object{Ref: at, ResourceVersion: "1"})
			}
		}
		for range rapid.IntRange(1, 3).Draw(t, "copies") {
			o := rapid.SampledFrom(world.Objects).Draw(t, "copied")
			world.Objects = append(world.Objects, bring(t, o)...)
			for range rapid.IntRange(1, 3).Draw(t, "times") {
				world.Objects = append(world.Objects, copied(t, world.Objects, o)...)
			}
		}
		snap := world.DrawSnapshot(t, 6)
		options := Options{Top: rapid.IntRange(1, 12).Draw(t, "top")}
		want, err := rank(t.Context(), snap, options, math.MaxInt)
		if err != nil {
			t.Fatal(err)
		}
		got, err := rank(t.Context(), snap, options, 0)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Fatalf("-all +those that stand for others:\n%s\nin\n%s", diff, scenario.World{Objects: snap.Objects})
		}
		for _, item := range got.Items {
			if o := snap.Find(item.Object.APIVersion, item.Object.Kind, item.Object.Namespace, item.Object.Name); takesMany(t, snap, o) {
				taken++
			}
		}
	})
	t.Logf("%d took one that stood for others", taken)
	if taken == 0 {
		t.Error("nothing ever stood for others")
	}
}

// takesMany reports whether the part of a delete has something that may go and stands for others.
// Such a part stands for all that is in the part of the whole snapshot.
func takesMany(t *rapid.T, snap *snapshot.Snapshot, o *object.Object) bool {
	reach := impact.New(snap, plan.Start(snap, engine.Upstream).Graph())
	at := reach.Positions()
	f := fold(snap, at)
	if f == nil {
		return false
	}
	p := f.part(at.Of(o), o)
	if p == nil {
		return false
	}
	if all := reach.Part(o); p.size != len(all.Objects) {
		t.Fatalf("the part of %s stands for %d objects, want %d", o.Ref, p.size, len(all.Objects))
	}
	return f.reach.Region(o).Any(func(x *object.Object) bool { return f.times[x] > 1 })
}

// bring is what may be brought by a drawn object: a pod that brings its claim, or a pair of
// objects.
func bring(t *rapid.T, owner *object.Object) []*object.Object {
	if owner.Namespace == "" || owner.UID == "" || rapid.Bool().Draw(t, "brings nothing") {
		return nil
	}
	name := fmt.Sprintf("b%d", rapid.IntRange(0, math.MaxInt32).Draw(t, "name"))
	text := "v1 Pod %[1]s/%[2]s node=n1 phase=Running claims=~%[2]s-c\nv1 PersistentVolumeClaim %[1]s/%[2]s-c owners=%[2]s^ fin=kubernetes.io/pvc-protection\n" +
		"v1 PersistentVolume %[2]s-v phase=Bound claim=%[1]s/%[2]s-c:%[2]s-c reclaim=%[3]s by=x.io fin=kubernetes.io/pv-protection"
	if rapid.Bool().Draw(t, "brings a pair") {
		text = "example.com/v1 Widget %[1]s/%[2]s fin=%[4]s\nv1 Secret %[1]s/%[2]s-s owners=%[2]s"
	}
	objects, err := scenario.ParseWorld(fmt.Sprintf(text, owner.Namespace, name,
		rapid.SampledFrom([]string{"Delete", "Delete", "Retain"}).Draw(t, "policy"), rapid.SampledFrom([]string{"", "x.io/y"}).Draw(t, "finalizer")), scenario.Names{})
	if err != nil {
		t.Fatal(err)
	}
	objects[0].Owners = []object.OwnerReference{{APIVersion: owner.APIVersion, Kind: owner.Kind, Name: owner.Name, UID: owner.UID}}
	return objects
}

// copied are an object and what is below it, under other names and on other nodes.
func copied(t *rapid.T, all []*object.Object, o *object.Object) []*object.Object {
	names := map[types.UID]string{o.UID: o.Name}
	for grown := true; grown; {
		grown = false
		for _, x := range all {
			below := slices.ContainsFunc(x.Owners, func(ref object.OwnerReference) bool { return names[ref.UID] != "" })
			if v := x.Volume(); v != nil && names[v.ClaimUID] != "" {
				below = true
			}
			if below && names[x.UID] == "" {
				names[x.UID], grown = x.Name, true
			}
		}
	}
	suffix := fmt.Sprintf("-%d", len(all))
	var list []*object.Object
	for _, x := range all {
		if names[x.UID] == "" {
			continue
		}
		c := x.Clone()
		c.Name, c.UID = x.Name+suffix, x.UID+types.UID(suffix)
		c.Owners = slices.Clone(x.Owners)
		for i := range c.Owners {
			if ref := &c.Owners[i]; names[ref.UID] != "" {
				ref.Name, ref.UID = ref.Name+suffix, ref.UID+types.UID(suffix)
			}
		}
		if pod := x.Pod(); pod != nil {
			facts := *pod
			facts.Claims = slices.Clone(pod.Claims)
			if facts.NodeName != "" {
				facts.NodeName = rapid.SampledFrom([]string{"n1", "n2"}).Draw(t, "node")
			}
			for i := range facts.Claims {
				claim := &facts.Claims[i]
				if slices.ContainsFunc(all, func(y *object.Object) bool { return y.Is(object.PVC) && y.Name == claim.Name && names[y.UID] != "" }) {
					claim.Name += suffix
				}
			}
			c.Edit().Facts = &facts
		}
		if v := x.Volume(); v != nil && names[v.ClaimUID] != "" {
			facts := *v
			facts.ClaimName, facts.ClaimUID = v.ClaimName+suffix, v.ClaimUID+types.UID(suffix)
			c.Edit().Facts = &facts
		}
		list = append(list, c)
	}
	return list
}
