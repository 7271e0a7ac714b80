package render

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// hostileNames try to control a terminal, to break a format, or to deceive a reader. (spec X01–X04)
var hostileNames = []string{
	"", " ", "web-1", "a\nb", "a\r\x1b[2K" + "b", "\x1b]0;owned\a", "\x1b]8;;http://x\x1b\\y\x1b]8;;\x1b\\",
	"\u202etxt.exe", "a\u200bb", "数据库-主节点", "ｆｕｌｌｗｉｄｔｈ", "👩‍👩‍👧‍👦", "e\u0301\u0301\u0301", "\u0301start", "\xff\xfe", "\xed\xa0\x80",
	`"];evil[URL="javascript:alert(1)"`, `\N \G \L`, `back\`, `<b>html</b>`, `-->{}[];`, "tab\there",
	strings.Repeat("long-", 60), strings.Repeat("界", 120), "%s%d%!", "&#8238;&lt;", "a b  c   d", "\x85\u2028\u2029",
}

// seeds adds the hostile names to a fuzz target with two names.
func seeds(f *testing.F) {
	for i, s := range hostileNames {
		f.Add(s, hostileNames[(i+5)%len(hostileNames)], uint8(i*9), i%2 == 0)
	}
}

func hostileRef(kind, name string) object.Ref {
	return object.Ref{APIVersion: "apps/v1" + kind, Kind: "K" + kind, Namespace: kind, Name: name, UID: types.UID(name)}
}

func hostileStyle(width uint8, flag bool) Style {
	return Style{Width: 24 + int(width), ASCII: flag, Colour: !flag, NoHeaders: width%2 == 0}
}

// FuzzTable: whatever the names and texts are, the output contains no character that a terminal
// interprets, and fits the width.
func FuzzTable(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, a, b string, width uint8, flag bool) {
		s := hostileStyle(width, flag)
		h := hostileDocuments(a, b)
		for _, wide := range []bool{false, true} {
			s.Wide = wide
			assertRendered(t, s, func(w io.Writer) error { return RunText(w, s, h.run) })
			assertRendered(t, s, func(w io.Writer) error { return ConfirmationText(w, s, h.question) })
			assertRendered(t, s, func(w io.Writer) error {
				_, err := io.WriteString(w, RunProgress(s, "gone", 1, 2, h.run.Pending)+"\n")
				return err
			})
			assertRendered(t, s, func(w io.Writer) error { return PlanTable(w, s, h.plan) })
			assertRendered(t, s, func(w io.Writer) error { return PlanTable(w, s, h.namespace) })
			assertRendered(t, s, func(w io.Writer) error { return PlanSteps(w, s, h.plan) })
			assertRendered(t, s, func(w io.Writer) error { return ExplanationText(w, s, h.explanation) })
			assertRendered(t, s, func(w io.Writer) error { return DiagnosisTable(w, s, h.diagnosis) })
			assertRendered(t, s, func(w io.Writer) error { return RiskTable(w, s, h.risk) })
			assertRendered(t, s, func(w io.Writer) error { return LostText(w, s, h.lost) })
			assertRendered(t, s, func(w io.Writer) error { return CheckupText(w, s, h.checkup) })
			assertRendered(t, s, func(w io.Writer) error { return StuckText(w, s, h.diagnosis) })
		}
	})
}

// documents contains one document of each kind.
type documents struct {
	plan, namespace *report.Plan
	explanation     *report.Explanation
	checkup         *report.Checkup
	diagnosis       *report.Diagnosis
	risk            *report.Risk
	run             *report.Run
	question        *report.Confirmation
	lost            *report.Lost
}

// hostileDocuments returns documents with two texts in every place for untrusted text.
func hostileDocuments(a, b string) documents {
	x, y := hostileRef(b, a), hostileRef(a, b)
	plan := &report.Plan{
		Source: report.Source{Type: a},
		Rules:  b, Digest: a,
		Seed: report.Seed{Verb: b, Policy: a, Finalizers: []string{a, b}, Targets: []object.Ref{x, y}},
		Effects: []report.Effect{
			{Object: x, Outcome: report.Deleted, Reason: a, Because: []object.Ref{y}, Message: b, RecreatedBy: &y},
			{Object: y, Outcome: report.Outcome(a), Reason: "NoOwners", Message: a, DependsOnTiming: true, Assumptions: []string{b}},
			{Object: y, Outcome: report.Blocked, BlockedBy: &report.BlockedBy{Finalizers: []string{a}, Dependents: []object.Ref{x}, Node: b}},
			{Object: x, Outcome: report.Kept, AlreadyHappening: true},
		},
		Steps: []report.Step{{N: 1, Actor: a, Verb: b, Object: x, Policy: a, Reason: b, Patch: a, Waits: b, Answer: 409}},
		Stuck: []report.Stuck{{Object: y, Reason: a, Message: b}, {Object: x, Reason: b, Because: []object.Ref{y}}},
		Gaps:  []report.Gap{{Resource: a, Namespace: b, Matters: true}, {Resource: b, Namespace: a, Matters: true}},
	}
	namespace := *plan
	namespace.Seed = report.Seed{Verb: "delete", Targets: []object.Ref{{APIVersion: "v1", Kind: "Namespace", Name: a}}}
	namespace.Summary.ByKind = []report.Count{
		{APIVersion: x.APIVersion, Kind: x.Kind, Data: report.VolumeData},
		{APIVersion: y.APIVersion, Kind: y.Kind, Data: report.CustomData},
	}
	namespace.Effects = slices.Clone(plan.Effects)
	namespace.Effects[1].Outcome = report.Unknown
	namespace.Storage = []report.Storage{
		{Claim: &x, Volume: &y, ReclaimPolicy: a, Message: b}, {Volume: &y, Message: a}, {Claim: &x, Message: a},
	}
	explanation := &report.Explanation{
		Object: x, Verdict: report.Verdict(a), Reason: b, Message: a, Next: b,
		Owners:     []report.OwnerFinding{{Ref: y, Class: report.Class(b), Evidence: a, Controller: true, BlockOwnerDeletion: true}},
		Dependents: []report.DependentFinding{{Ref: x, State: a}, {Ref: y, State: b}},
		Finalizers: []report.FinalizerFinding{{Name: a, RemovedBy: b, State: a, Evidence: b, Remedy: a, Verdict: report.ControllerVerdict(b), Proof: []report.Proof{{Reason: a, Message: b}}}},
		Chain:      []report.ChainLink{{Ref: x}, {Ref: y, Class: report.Class(a)}},
		TakenBy:    []report.Taker{{Object: y, Policy: a}, {Object: y, Policy: b, Unknown: true}},
		Remedies:   []report.Remedy{{Command: "kubectl " + a, Effect: b, Cost: a}},
		Deadlock:   &report.Deadlock{Reason: a, Path: []object.Ref{x, y}, Message: a},
		WaitsFor: []report.Finding{
			{
				Code: a, Severity: reason.Warning, Object: x, Message: b, Since: a, ForSeconds: new(7), More: 2, Finalizer: b, Verdict: report.ControllerVerdict(a),
				Chain: []report.WaitLink{{Ref: x, Waits: a}, {Ref: y, Waits: b}},
				Proof: []report.Proof{{Reason: a, Object: &y, Message: b + "!"}, {Reason: "NotRead", Message: a + "!"}, {Reason: "NotRead", Message: a + "!"}},
			},
			{Code: b, Severity: reason.Severity(b), Object: x, Message: a, Since: b},
		},
		Content: []report.ContentCount{{Kind: a, Role: report.DataRole, Count: 2}, {Kind: b, Role: report.GeneratedRole, Count: 3}},
		UsedBy:  []object.Ref{x, y}, Storage: &report.Storage{Claim: &x, Volume: &y, ReclaimPolicy: a, Message: b},
		Events: []report.EventFinding{{Type: a, Reason: b, Message: a, Last: b, From: a}, {Type: "Warning", Message: b}}, EventsUnknown: a,
	}
	checkup := &report.Checkup{
		Verdict: report.CollectorVerdict(a), Reasons: []report.CheckupReason{{Code: b, Count: 2, Message: a}, {Code: a, Message: b}},
		Graph: &report.GraphComparison{From: a, Different: len(b)}, EarlierTakenAt: b,
		Findings: []report.Finding{
			{Code: a, Severity: reason.Error, Object: x, Message: b, Evidence: a, Remedy: b},
			{Code: b, Severity: reason.Severity(a), Object: object.Ref{APIVersion: a, Kind: b}, Message: a},
		},
	}
	diagnosis := &report.Diagnosis{Findings: []report.Finding{
		{Code: a, Severity: reason.Severity(b), Object: x, Reference: &y, Message: a, Evidence: b, Remedy: a},
		{Code: b, Severity: reason.Error, Object: y, Message: b},
		{
			Code: a, Severity: reason.Warning, Object: x, Message: b, Since: a, ForSeconds: new(7), More: 2, Finalizer: b, Verdict: report.ControllerVerdict(a),
			Chain:    []report.WaitLink{{Ref: x, Waits: a}, {Ref: y, Waits: b}},
			Proof:    []report.Proof{{Reason: a, Object: &y, Message: b}},
			Remedies: []report.Remedy{{Command: "kubectl " + a, Effect: b, Cost: a}},
		},
	}}
	when := report.Moment{Revision: int64(len(a)), Time: b}
	lost := &report.Lost{
		Source: report.Source{Type: b}, Namespace: b, Targets: []object.Ref{x, y}, Short: len(a)%2 == 0, From: when, To: report.Moment{Time: a},
		Summary: report.LostSummary{Deleted: 2, Orphaned: 1},
		Requests: []report.LostRequest{
			{N: 1, Objects: []object.Ref{x, y}, Policy: a, At: when, Took: 3, ByKind: []report.LostCount{{APIVersion: a, Kind: b, State: report.LossState(a), Count: 4, Data: report.Data(b)}}},
			{N: 2, Objects: []object.Ref{y}, At: when, Certain: true, Took: 9, ByKind: []report.LostCount{{APIVersion: b, Kind: a, State: report.LossBeingDeleted, Count: 4}}},
		},
		Losses: []report.Loss{
			{Object: x, State: report.LossDeleted, Began: when, Gone: &when, LossCause: report.LossCause{Code: a, By: &y, Request: 1}, Or: []report.LossCause{{Code: b, By: &x}}},
			{Object: y, State: report.LossState(b), Began: when, LossCause: report.LossCause{Code: "Unseen"}, Or: []report.LossCause{{Code: a}}},
			{Object: y, State: report.LossBeingDeleted, LossCause: report.LossCause{Code: b, Request: 2}},
			{Object: x, LossCause: report.LossCause{Code: a}, Routine: true},
		},
		Elsewhere: []object.Ref{y, x}, Limits: []report.HistoryLimit{{Resource: a, From: when, Why: b}}, Gaps: plan.Gaps,
		Remedies: []report.Remedy{{Command: "kubectl " + a, Effect: b}},
	}
	risk := &report.Risk{Policy: a, Items: []report.RiskItem{
		{Object: x, ByKind: []report.KindCount{{APIVersion: a, Kind: b, Count: 2}, {APIVersion: b, Kind: a, Count: 3}}, Unknown: 1, Blocked: 2}, {Object: y},
	}}
	run := &report.Run{
		Seed: plan.Seed, State: report.RunState(a), Message: b, Bundle: a, Summary: report.RunSummary{Confirmed: 1, Compared: 2},
		Writes:      []report.RunWrite{{Object: x, Verb: a, State: report.WriteState(b), Message: a}, {Object: y, State: report.Confirmed}},
		Surprises:   []report.Surprise{{Object: y, Verb: b, Message: a}},
		Pending:     []report.Pending{{Object: x, Finalizers: []string{a, b}, Dependents: []object.Ref{y}}, {Object: y}},
		Differences: []report.Difference{{Object: x, Predicted: report.Outcome(a), Reason: report.DifferenceReason(b), Message: a}},
	}
	question := &report.Confirmation{
		Verb: a, Context: b, Server: a, User: b, ClusterUID: types.UID(a), Digest: b, Data: []object.Ref{x, y}, Notes: []string{a, b},
		Counts: []report.ConsequenceCount{{APIVersion: a, Kind: b, Change: report.Change(a), When: report.When(b), Count: 2}},
	}
	return documents{plan, &namespace, explanation, checkup, diagnosis, risk, run, question, lost}
}

func assertRendered(t *testing.T, s Style, render func(io.Writer) error) string {
	t.Helper()
	var b strings.Builder
	if err := render(&b); err != nil {
		t.Fatal(err)
	}
	assertPresentable(t, s, b.String())
	return b.String()
}

// hostileGraph connects n vertices with two kinds of names by the bits, with cycles, unknown owners
// and equal UIDs.
func hostileGraph(a, b string, bits uint8) *report.Graph {
	g := &report.Graph{Source: report.Source{Type: a}}
	for i, name := range []string{a, b, a + b, b + a, a} {
		r := hostileRef(b, name)
		r.UID = types.UID(name + strconv.Itoa(i%4))
		g.Nodes = append(g.Nodes, report.Node{Ref: r, Observed: i%2 == 0, Virtual: i%2 == 1, BeingDeleted: bits&1 != 0,
			WaitingForDependents: bits&2 != 0, Finalizers: []string{a}, Missing: i == 3})
	}
	for i := range g.Nodes {
		owner := g.Nodes[(i*int(bits)+1)%len(g.Nodes)].Ref.UID
		g.Edges = append(g.Edges,
			report.Edge{Dependent: g.Nodes[i].Ref.UID, Owner: owner, Class: report.Class(b), BlockOwnerDeletion: bits&4 != 0},
			report.Edge{Dependent: g.Nodes[i].Ref.UID, Owner: types.UID(a + "?"), Controller: bits&8 != 0, Class: report.Dangling})
	}
	if bits&16 != 0 {
		g.Roots = []object.Ref{g.Nodes[0].Ref}
	}
	return g
}

// FuzzTree: a small tree shows every vertex, or counts it in its last line, for any graph.
func FuzzTree(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, a, b string, bits uint8, flag bool) {
		g := hostileGraph(a, b, bits)
		for _, s := range []Style{hostileStyle(bits, flag), {Wide: true, ASCII: true}} {
			shown := Tree{Graph: g, Printed: map[types.UID]object.Printed{g.Nodes[0].Ref.UID: {Ready: a, Status: b}}}
			assertRendered(t, s, func(w io.Writer) error { return GraphTree(w, s, shown) })
			tr := newTree(io.Discard, s, shown)
			for i := range tr.nodes {
				if !tr.shown[i] && !tr.hidden[i] {
					t.Errorf("%q is not shown", tr.nodes[i].Ref)
				}
			}
		}
	})
}

// FuzzDOT: both DOT formats can be parsed, with as many vertices and edges as were written.
func FuzzDOT(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, a, b string, bits uint8, flag bool) {
		g := hostileGraph(a, b, bits)
		var out strings.Builder
		if err := GraphDOT(&out, Style{ASCII: flag}, g); err != nil {
			t.Fatal(err)
		}
		got, err := parseDOT(out.String())
		if err != nil {
			t.Fatalf("%v in:\n%s", err, out.String())
		}
		v := newView(g)
		edges := 0
		for _, owners := range v.owners {
			edges += len(owners)
		}
		if got.vertices != len(v.nodes) || got.edges != edges {
			t.Errorf("%d vertices and %d edges, want %d and %d:\n%s", got.vertices, got.edges, len(v.nodes), edges, out.String())
		}
		if strings.Contains(strings.ReplaceAll(out.String(), "&amp;", ""), "&") {
			t.Errorf("Graphviz would read an entity in:\n%s", out.String())
		}
		for key := range got.attributes {
			if key == "URL" || key == "href" || key == "target" {
				t.Errorf("attribute %s in:\n%s", key, out.String())
			}
		}

		out.Reset()
		if err := UpstreamDOT(&out, Style{}, g); err != nil {
			t.Fatal(err)
		}
		nodes, links := SelectUpstream(g, uidsOf(g.Roots))
		got, err = parseDOT(out.String())
		if err != nil {
			t.Fatalf("%v in:\n%s", err, out.String())
		}
		if got.vertices != len(nodes) || got.edges != len(links) {
			t.Errorf("%d vertices and %d edges, want %d and %d:\n%s", got.vertices, got.edges, len(nodes), len(links), out.String())
		}
	})
}
