package differential

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// scenarios are the files of all packages.
const scenarios = "../../../internal/*/testdata/scenarios/*.txt"

// varieties are what worlds on a real server may contain. No two objects of a
// cluster have one UID, and Events are no kind of a drawn world here.
const varieties = scenario.Wild &^ (scenario.RepeatedUIDs | scenario.Unwatched)

// story is a world and what users do in it, phase by phase: the collector comes
// to rest between two phases.
type story struct {
	seed    uint64
	objects []*object.Object
	phases  [][]scenario.Act
}

// draw makes the story of a seed.
func draw(seed uint64) story {
	type drawn struct {
		world  scenario.World
		phases [][]scenario.Act
	}
	d := rapid.Custom(func(t *rapid.T) drawn {
		w := scenario.DrawWorld(t, varieties)
		acts := scenario.DrawDeletes(t, w, scenario.Policies)
		phases := [][]scenario.Act{acts}
		if rapid.Bool().Draw(t, "meddle") {
			phases = append(phases, []scenario.Act{scenario.DrawMeddling(t, w, acts)})
		}
		return drawn{w, phases}
	}).Example(int(seed))
	s := story{seed: seed, objects: d.world.Objects, phases: d.phases}
	random := rand.New(rand.NewPCG(seed, 0))
	s.vary(d.world.Variety, random)
	s.aim(random)
	return s
}

// aim has most deletes hit an object that others depend on or that has finalizers.
func (s *story) aim(random *rand.Rand) {
	var owners, held []object.Ref
	for _, o := range s.objects {
		if slices.ContainsFunc(s.objects, func(d *object.Object) bool { return d.UID != o.UID && d.RefersTo(o.UID) }) {
			owners = append(owners, o.Ref)
		}
		if len(o.Finalizers()) > 0 {
			held = append(held, o.Ref)
		}
	}
	for _, acts := range s.phases[:1] {
		for i := range acts {
			aims := owners
			switch random.IntN(4) {
			case 0:
				continue
			case 1:
				aims = held
			}
			if len(aims) > 0 {
				acts[i].Ref = aims[random.IntN(len(aims))]
			}
		}
	}
}

// vary puts in what the drawn worlds do not have: owners named through a served
// version that is not the preferred one, both finalizers of the collector, and pods
// on nodes.
func (s *story) vary(v scenario.Variety, random *rand.Rand) {
	for _, o := range s.objects {
		if o.Kind == "Pod" && random.IntN(2) == 0 {
			o.Edit().Facts = &object.PodFacts{
				NodeName: "node", TerminationGracePeriod: new(int64(random.IntN(3) * 10)),
				Phase: []string{"Running", "Running", "Succeeded"}[random.IntN(3)],
			}
			if o.BeingDeleted() && random.IntN(2) == 0 {
				o.Edit().GracePeriod = new(int64(30))
			}
		}
		if v.Has(scenario.Aliases) {
			o.Owners = slices.Clone(o.Owners)
			for i := range o.Owners {
				if o.Owners[i].APIVersion == "example.com/v1" && random.IntN(4) == 0 {
					o.Owners[i].APIVersion = "example.com/v1alpha1"
				}
			}
		}
		if o.BeingDeleted() && v.Has(scenario.CollectorFinalizers) && random.IntN(6) == 0 {
			both := []string{object.Orphan, object.Foreground}
			if random.IntN(2) == 0 {
				slices.Reverse(both)
			}
			o.Edit().Finalizers = append(both, slices.DeleteFunc(slices.Clone(o.Finalizers()),
				func(f string) bool { return f == object.Orphan || f == object.Foreground })...)
		}
	}
}

// place is where a world stands in the cluster: a prefix of all its names,
// namespaces and UIDs, so that many worlds share one cluster and do not meet.
type place string

func placeOf(slot int) place { return place(fmt.Sprintf("w%d-", slot)) }

func (p place) ref(r object.Ref) object.Ref {
	r.Name, r.UID = string(p)+r.Name, types.UID(string(p)+string(r.UID))
	if r.Namespace != "" {
		r.Namespace = string(p) + r.Namespace
	}
	return r
}

func (p place) put(o *object.Object) *object.Object {
	c := o.Clone()
	c.Ref = p.ref(o.Ref)
	c.Owners = slices.Clone(o.Owners)
	for i := range c.Owners {
		c.Owners[i].Name = string(p) + c.Owners[i].Name
		c.Owners[i].UID = types.UID(p) + c.Owners[i].UID
	}
	return c
}

// take is the reverse of put. The object may be changed.
func (p place) take(o *object.Object) *object.Object {
	o.Name, o.Namespace, o.UID = p.cut(o.Name), p.cut(o.Namespace), types.UID(p.cut(string(o.UID)))
	for i := range o.Owners {
		o.Owners[i].Name = p.cut(o.Owners[i].Name)
		o.Owners[i].UID = types.UID(p.cut(string(o.Owners[i].UID)))
	}
	return o
}

// cut is a name, namespace or UID as it was drawn.
func (p place) cut(s string) string { return strings.TrimPrefix(s, string(p)) }

// sortIn puts an object into the world that it is of, under the name that it was
// drawn with.
func sortIn(worlds [][]*object.Object, o *object.Object) {
	slot, ok := slotOf(o)
	if !ok || slot >= len(worlds) {
		return
	}
	c := o.Clone()
	c.Owners = slices.Clone(o.Owners)
	worlds[slot] = append(worlds[slot], placeOf(slot).take(c))
}

// slotOf finds out which world an object is of; false for what is none of ours.
func slotOf(o *object.Object) (int, bool) {
	slot, ok := slotIn(o.Name)
	return slot, ok && strings.HasPrefix(string(o.UID), string(placeOf(slot)))
}

// slotIn finds out of which world an object of a name is.
func slotIn(name string) (int, bool) {
	slot, _, ok := strings.Cut(name, "-")
	digits, w := strings.CutPrefix(slot, "w")
	n, err := strconv.Atoi(digits)
	return n, ok && w && err == nil && n >= 0
}

// deletedAt is when objects of a drawn world that are being deleted were deleted.
const deletedAt int64 = 1767225600

// text is a world as the input of a scenario, without what differs from run to
// run or is no part of a deletion: resourceVersions, times, labels and facts. Two worlds in the same state have
// the same text.
func text(objects []*object.Object) string {
	sorted := slices.Clone(objects)
	slices.SortFunc(sorted, func(a, b *object.Object) int { return object.Compare(a.Ref, b.Ref) })
	names := scenario.Names{}
	for _, o := range sorted {
		names.Learn(o)
	}
	var b strings.Builder
	for _, o := range sorted {
		c := o.Clone()
		c.Generation = 0
		c.Labels = ""
		c.Lifecycle = &object.Lifecycle{Finalizers: o.Finalizers()}
		if o.BeingDeleted() {
			c.Lifecycle.DeletionTimestamp = scenario.Start
		}
		line, _, _ := strings.Cut(scenario.Format(c, names), " rv=")
		b.WriteString(line + "\n")
	}
	return b.String()
}
