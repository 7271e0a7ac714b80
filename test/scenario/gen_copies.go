package scenario

import (
	"fmt"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// DrawCopies adds objects that are the same as others but for their names and nodes, with all that
// is below them.
func (w World) DrawCopies(t *rapid.T) World {
	for _, name := range []string{"n1", "n2"} {
		at := object.Node.Ref("", name)
		at.UID = types.UID(name)
		if !slices.ContainsFunc(w.Objects, func(o *object.Object) bool { return o.Is(object.Node) && o.Name == name || o.UID == at.UID }) {
			w.Objects = append(w.Objects, &object.Object{Ref: at, ResourceVersion: "1"})
		}
	}
	for range rapid.IntRange(1, 3).Draw(t, "copies") {
		o := rapid.SampledFrom(w.Objects).Draw(t, "copied")
		w.Objects = append(w.Objects, bring(t, o)...)
		for range rapid.IntRange(1, 3).Draw(t, "times") {
			w.Objects = append(w.Objects, copied(t, w.Objects, o)...)
		}
	}
	return w
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
	objects, err := ParseWorld(fmt.Sprintf(text, owner.Namespace, name,
		rapid.SampledFrom([]string{"Delete", "Delete", "Retain"}).Draw(t, "policy"), rapid.SampledFrom([]string{"", "x.io/y"}).Draw(t, "finalizer")), Names{})
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
