package draw

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// summed reverts differences.
func summed(list []int, width int) []int {
	for i := width; i < len(list); i++ {
		list[i] += list[i-width]
	}
	return list
}

// A packed plan has everything that a page shows of a plan, with a number for each object, with or
// without a box.
func TestPackedPlanIsThePlan(t *testing.T) {
	d := rows(4, numbered)
	at := func(i int) object.Ref { return d.Scene.Boxes[i].Refs[0] }
	stranger := object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "elsewhere", Name: "stranger"}
	every := object.Ref{APIVersion: "v1", Kind: "Event", Namespace: "shop"}
	d.Plan = &report.Plan{
		Effects: []report.Effect{
			{Object: at(2), Outcome: report.Deleted, Reason: "Requested", Message: "deleted as requested"},
			{
				Object: at(0), Outcome: report.Blocked, Reason: "Held", Message: "held", Because: []object.Ref{at(2), stranger},
				BlockedBy:         &report.BlockedBy{Finalizers: []string{"a/b"}, Dependents: []object.Ref{at(1)}, Conditions: []string{"c"}, Node: "n"},
				RemovedReferences: []object.Ref{at(3)}, AlreadyHappening: true, DependsOnTiming: true, Assumptions: []string{"x", "deleted as requested"}, Recreator: "r",
			},
			{Object: stranger, Outcome: report.Unknown, Reason: "Requested", Message: "held"},
		},
		Steps: []report.Step{
			{N: 1, Actor: "user", Verb: "DELETE", Object: at(2), Policy: "Foreground", Reason: "Requested"},
			{N: 2, Actor: "collector", Verb: "PATCH", Object: at(0), Reason: "Held", Cause: 1, Patch: "{}", Answer: 409, Waits: "a/b"},
			{N: 3, Actor: "namespace-controller", Verb: "DELETECOLLECTION", Object: every, Cause: 1},
		},
	}
	want := *d.Plan
	p, err := payloadOf(d)
	if err != nil {
		t.Fatal(err)
	}
	why := map[int]string{}
	for _, w := range p.Boxes.Why {
		why[w.number] = w.value
	}
	k := pack(p).Plan
	refs := append([]object.Ref{at(0), at(1), at(2), at(3)}, k.Others...)
	named := func(numbers []int) (list []object.Ref) {
		for _, n := range numbers {
			list = append(list, refs[n])
		}
		return list
	}
	got, rests := report.Plan{}, map[int]packedEffect{}
	for _, r := range k.Effects.Rest {
		rests[r.number] = r.value
	}
	for i, n := range summed(k.Effects.Object, 1) {
		rest := rests[i]
		e := report.Effect{
			Object: refs[n], Outcome: report.Outcome(k.Texts[k.Effects.Outcome[i]]), Reason: k.Texts[k.Effects.Reason[i]], Message: k.Texts[k.Effects.Message[i]],
			Because: named(rest.Because), RemovedReferences: named(rest.RemovedReferences), AlreadyHappening: rest.AlreadyHappening,
			DependsOnTiming: rest.DependsOnTiming, Recreator: rest.Recreator,
		}
		for _, a := range rest.Assumptions {
			e.Assumptions = append(e.Assumptions, k.Texts[a])
		}
		if b := rest.BlockedBy; b != nil {
			e.BlockedBy = &report.BlockedBy{Finalizers: b.Finalizers, Dependents: named(b.Dependents), Conditions: b.Conditions, Node: b.Node}
		}
		got.Effects = append(got.Effects, e)
	}
	causes := summed(k.Steps.Cause, 1)
	for i, n := range summed(k.Steps.Object, 1) {
		text := func(column []int) string { return k.Texts[column[i]] }
		got.Steps = append(got.Steps, report.Step{
			N: i + 1, Actor: text(k.Steps.Actor), Verb: text(k.Steps.Verb), Object: refs[n], Policy: text(k.Steps.Policy), Reason: text(k.Steps.Reason),
			Cause: causes[i], Patch: text(k.Steps.Patch), Answer: k.Steps.Answer[i], Waits: text(k.Steps.Waits),
		})
	}
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("the plan is another one (-want +got):\n%s", d)
	}
	for i, text := range k.Why {
		if k.Texts[text] != why[i] {
			t.Errorf("box %d: %q, want %q", i, k.Texts[text], why[i])
		}
	}
}

// A page shows all objects up to a limit; those hidden at first are in groups that the script
// opens.
func TestPagesHaveGroupsToOpen(t *testing.T) {
	if s := OfGraph(fleet(333), Options{Page: true}); s.Piles != nil || len(s.Boxes) != 1_000 {
		t.Errorf("%d boxes, %d of them with a group", len(s.Boxes), len(s.Piles))
	}
	s := OfGraph(fleet(334), Options{Page: true})
	apart := 0
	for _, p := range s.Piles {
		if p < 0 {
			apart++
		}
	}
	if len(s.Piles) != len(s.Boxes) || len(s.Boxes) != 1_003 || apart != 1+3+3*2 {
		t.Errorf("%d boxes, %d in or out of groups, %d out", len(s.Boxes), len(s.Piles), apart)
	}
	if s.Grouped != "" {
		t.Errorf("nothing is left out, and it is said: %s", s.Grouped)
	}
}

// Objects that do not fit into a page are counted there, and the page says so.
func TestPagesAreBounded(t *testing.T) {
	g := fleet(40_000)
	s := OfGraph(g, Options{Page: true})
	p, err := payloadOf(Document{Scene: s, Graph: g})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Boxes) > pageRoom.most || p.Left == "" {
		t.Errorf("%d boxes: %q", len(s.Boxes), p.Left)
	}
	more, all := 0, len(s.Boxes)-len(p.Counted)
	for _, c := range p.Counted {
		more += c.value.Objects
		all += c.value.Objects + c.value.Below
	}
	if more < 30_000 || all != len(g.Nodes) {
		t.Errorf("%d objects are counted, %d are all of %d: %q", more, all, len(g.Nodes), p.Left)
	}
}
