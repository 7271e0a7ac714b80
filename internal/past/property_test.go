package past_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/past"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// deed is an action at some moment of a drawn history.
type deed struct {
	// moment counts the actions of the garbage collector.
	moment int
	act    scenario.Act
	// label and create are other writes: a label on the target, or a dependent of it.
	label, create bool
}

func (d deed) String() string {
	switch {
	case d.label:
		return fmt.Sprintf("%d label %s", d.moment, d.act.Ref)
	case d.create:
		return fmt.Sprintf("%d create a dependent of %s", d.moment, d.act.Ref)
	case d.act.Drop != "":
		return fmt.Sprintf("%d drop %s of %s", d.moment, d.act.Drop, d.act.Ref)
	}
	return fmt.Sprintf("%d delete %s %s", d.moment, d.act.Ref, d.act.Policy)
}

func drawDeeds(t *rapid.T, w scenario.World) []deed {
	var deeds []deed
	deletes := rapid.IntRange(1, rapid.SampledFrom([]int{3, 3, 3, 6}).Draw(t, "most")).Draw(t, "deletes")
	for range deletes {
		deeds = append(deeds, drawDeed(t, w, "delete"))
	}
	for range rapid.IntRange(0, 3).Draw(t, "others") {
		deeds = append(deeds, drawDeed(t, w, rapid.SampledFrom([]string{"label", "create", "drop"}).Draw(t, "other")))
	}
	slices.SortStableFunc(deeds, func(a, b deed) int { return a.moment - b.moment })
	return deeds
}

func drawDeed(t *rapid.T, w scenario.World, what string) deed {
	d := deed{moment: rapid.IntRange(0, 60).Draw(t, "moment")}
	d.act.Ref = rapid.SampledFrom(w.Objects).Draw(t, "target").Ref
	switch what {
	case "delete":
		d.act.Policy = rapid.SampledFrom(scenario.Policies).Draw(t, "policy")
	case "drop":
		d.act.Drop = rapid.SampledFrom([]string{scenario.Foreign, object.Orphan, object.Foreground}).Draw(t, "finalizer")
	case "label":
		d.label = true
	case "create":
		d.create = true
	}
	return d
}

// run is the result of a history.
type run struct {
	stage *stage
	// asked are the deeds whose request began a deletion, again those whose target was already
	// being deleted.
	asked map[types.UID]int
	again map[types.UID][]int
	// lost are the UIDs of objects that are gone or being deleted in the end.
	lost map[types.UID]bool
}

// live runs a history: all deeds except one, while the garbage collector and the controllers act in
// an order that the seed decides.
func live(t *rapid.T, w scenario.World, deeds []deed, without int, seed uint64) *run {
	r := &run{stage: newStage(w.Objects), asked: map[types.UID]int{}, again: map[types.UID][]int{}, lost: map[types.UID]bool{}}
	moment, next := 0, 0
	do := func() bool {
		if next == len(deeds) {
			return false
		}
		if next != without {
			r.do(deeds[next], next)
		}
		next++
		return true
	}
	r.stage.between = func() {
		for moment++; next < len(deeds) && deeds[next].moment < moment; {
			do()
		}
	}
	follow := engine.Follow{Idle: func() bool {
		if acted, err := controllers.Step(context.Background(), r.stage.Server, controllers.To(r.stage.Server), r.stage.controllers, nil); err != nil {
			t.Fatal(err)
		} else if acted != nil {
			return true
		}
		return do()
	}}
	if err := engine.Explore(context.Background(), r.stage.collector, r.stage, follow, rand.New(rand.NewPCG(seed, 0))); err != nil {
		t.Fatal(err)
	}
	there := map[types.UID]bool{}
	for _, o := range r.stage.Objects() {
		there[o.UID] = !o.BeingDeleted()
	}
	for _, o := range w.Objects {
		if !there[o.UID] {
			r.lost[o.UID] = true
		}
	}
	return r
}

func (r *run) do(d deed, index int) {
	ctx, s := context.Background(), r.stage
	before, err := s.Get(ctx, d.act.Ref)
	if err != nil {
		return
	}
	switch {
	case d.label:
		next := before.Clone()
		next.Labels = object.LabelsOf(map[string]string{"written": fmt.Sprint(index)})
		_, _ = s.Update(ctx, next)
	case d.create:
		name := fmt.Sprintf("new%d", index)
		o := &object.Object{Ref: object.ConfigMap.Ref(before.Namespace, name)}
		o.UID = types.UID(name)
		if o.Namespace == "" {
			o.Namespace = "n"
		}
		o.Owners = []object.OwnerReference{{APIVersion: before.APIVersion, Kind: before.Kind, Name: before.Name, UID: before.UID}}
		_, _ = s.Create(ctx, o)
	case d.act.Drop != "":
		d.act.Apply(ctx, s.Server)
	default:
		d.act.Apply(ctx, s.Server)
		after, err := s.Get(ctx, d.act.Ref)
		switch {
		case before.BeingDeleted():
			r.again[before.UID] = append(r.again[before.UID], index)
		case err != nil, after.BeingDeleted():
			r.asked[before.UID] = index
		}
	}
}

// tally counts how the found requests compare with the real ones.
type tally struct{ histories, equal, redundant, ambiguous, requests, certain, uncertain, missing int }

// check compares an account with the deeds. It returns the differences.
func (n *tally) check(r *run, deeds []deed, a *past.Account, redo func(without int, seed uint64) *run) string {
	n.histories++
	found := map[types.UID]bool{}
	maybe, fewer := false, false
	for _, q := range a.Requests {
		for _, i := range q.Losses {
			l := a.Losses[i]
			found[l.Object.UID] = true
			switch {
			case !q.Certain:
				n.uncertain++
				maybe = true
			case !r.meant(deeds, l.Object, q.Policy):
				return fmt.Sprintf("%s was never asked for in this way", l.Object.Ref)
			default:
				n.certain++
			}
		}
	}
	for uid, index := range r.asked {
		n.requests++
		if found[uid] {
			continue
		}
		if l := lossOf(a, uid); l == nil {
			return fmt.Sprintf("the loss of %s was not noticed", deeds[index].act.Ref)
		} else if len(l.Or) > 0 {
			maybe = true
			continue
		}
		n.missing++
		fewer = true
		if !goesAnyway(uid, index, redo) {
			return fmt.Sprintf("nobody is said to have asked for %s, and without that it stays", deeds[index].act.Ref)
		}
	}
	switch {
	case maybe:
		n.ambiguous++
	case fewer:
		n.redundant++
	default:
		n.equal++
	}
	return ""
}

// meant reports whether a deed deleted an object in a way that leaves such a policy.
func (r *run) meant(deeds []deed, o *object.Object, found metav1.DeletionPropagation) bool {
	tries := r.again[o.UID]
	if index, ok := r.asked[o.UID]; ok {
		tries = append(slices.Clone(tries), index)
	}
	return slices.ContainsFunc(tries, func(index int) bool { return fits(found, deeds[index].act.Policy, o) })
}

func lossOf(a *past.Account, uid types.UID) *past.Loss {
	for i := range a.Losses {
		if l := &a.Losses[i]; l.Object.UID == uid && !l.Orphaned {
			return l
		}
	}
	return nil
}

// fits reports whether a delete with the policy may leave the observed one. A delete without a
// policy keeps the finalizers of the object. For the first delete of a CRD any policy fits.
func fits(found, asked metav1.DeletionPropagation, o *object.Object) bool {
	switch {
	case asked == "" || o.Kind == "CustomResourceDefinition":
		return true
	case o.Kind == "Event":
		return found == metav1.DeletePropagationBackground
	}
	return found == asked
}

// goesAnyway reports whether a request was redundant: its object is also lost in the same history
// without it. The result depends on the timing of the garbage collector and the controllers, so one
// of several orders must show it.
func goesAnyway(uid types.UID, index int, redo func(without int, seed uint64) *run) bool {
	for seed := range uint64(20) {
		if redo(index, seed).lost[uid] {
			return true
		}
	}
	return false
}

// TestTrace: in any history the only missed requests are redundant ones, and no deletion is wrongly
// called a certain request.
func TestTrace(t *testing.T) {
	var n tally
	rapid.Check(t, func(t *rapid.T) {
		w := scenario.DrawCluster(t, scenario.Wild&^scenario.RepeatedUIDs)
		deeds := drawDeeds(t, w)
		w.Objects = append(w.Objects, &object.Object{Ref: object.Node.Ref("", "spare"), ResourceVersion: "1"}) // without nodes there is no pod GC
		seed := rapid.Uint64().Draw(t, "schedule")
		r := live(t, w, deeds, -1, seed)
		a := past.Trace(r.stage.past(nil))
		wrong := n.check(r, deeds, a, func(without int, other uint64) *run { return live(t, w, deeds, without, seed+other) })
		if wrong != "" {
			t.Fatalf("%s\n\n%s", wrong, r.story(w, deeds, a))
		}
	})
	t.Logf("%+v", n)
}

func (r *run) story(w scenario.World, deeds []deed, a *past.Account) string {
	var b strings.Builder
	fmt.Fprintln(&b, w)
	for _, d := range deeds {
		fmt.Fprintln(&b, d)
	}
	names := scenario.Names{}
	for _, o := range w.Objects {
		names.Learn(o)
	}
	for _, c := range r.stage.changes {
		fmt.Fprintln(&b, scenario.FormatEvent(object.Event{Type: c.Type, Object: c.Object}, names))
	}
	fmt.Fprintln(&b, tell(a))
	return b.String()
}
