package doctor

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// The times of these tests, in seconds.
const (
	now      = 1_000_000
	old      = now - 5*3600
	patience = 20 * 60
)

// drawn is a snapshot of a drawn world, in which everything is old.
func drawn(t *rapid.T, v scenario.Variety, coverage *snapshot.Coverage) *snapshot.Snapshot {
	w := scenario.DrawWorld(t, v)
	for _, o := range w.Objects {
		o.Created = old
		if o.BeingDeleted() {
			o.Edit().DeletionTimestamp = old
		}
	}
	s, err := snapshot.New(w.Objects, scenario.Resources(), coverage, snapshot.Source{Discovered: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// graphOf returns the graph of a collector that has just started, as its debug endpoint would write
// it.
func graphOf(t *rapid.T, s *snapshot.Snapshot) *report.Graph {
	doc, err := diagnose.Graph(t.Context(), s, diagnose.GraphOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := render.UpstreamDOT(&text, render.Style{}, doc); err != nil {
		t.Fatal(err)
	}
	g, err := diagnose.ReadDebugGraph(&text)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func checkup(t *rapid.T, s *snapshot.Snapshot, o diagnose.CheckupOptions) *report.Checkup {
	c, err := diagnose.Examine(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestOwnGraphAgrees: the graph that a collector has of a world does not differ from that world.
func TestOwnGraphAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawn(t, scenario.Wild&^scenario.RepeatedUIDs, snapshot.CoversEverything())
		g := graphOf(t, s)
		c := checkup(t, s, diagnose.CheckupOptions{At: now, Patience: patience, Graph: &diagnose.CollectorGraph{Read: []*report.Graph{g, g}, Live: true}})
		if c.Graph.Different > 0 {
			t.Errorf("%+v", c.Findings)
		}
	})
}

// TestNothingLeftByACollector: if a collector has done all its work, no finding counts against it,
// however strange the world is. A deletion that it has missed is not part of its work (Q20), and an
// object that loses a reference is not considered again (Q10).
func TestNothingLeftByACollector(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawn(t, scenario.Wild&^scenario.RepeatedUIDs, snapshot.CoversEverything())
		done, err := plan.Simulate(t.Context(), s, plan.CollectSeed(), plan.Options{Rules: engine.Upstream, Record: plan.RecordRequests})
		if err != nil {
			t.Fatal(err)
		}
		after := s.With(done.After())
		var old []*object.Object
		for _, o := range after.Objects {
			o = o.Clone()
			if o.BeingDeleted() {
				o.Edit().DeletionTimestamp = 1
			}
			old = append(old, o)
		}
		missed := map[object.Ref]bool{}
		for _, x := range done.Plan.Effects {
			missed[x.Object] = x.Reason == string(reason.DeletionMissed) || len(x.RemovedReferences) > 0
		}
		c := checkup(t, after.With(old), diagnose.CheckupOptions{At: now, Patience: patience})
		for _, f := range c.Findings {
			undone := []reason.Code{reason.GarbageOld, reason.GarbageLeft, reason.ForegroundStuck, reason.ForegroundWaits}
			if slices.Contains(undone, reason.Code(f.Code)) && !missed[f.Object] {
				t.Errorf("%+v\n%+v", f, done.Plan.Effects)
			}
		}
	})
}

// TestCheckupsOfDrawnWorlds: codes are documented and have their severity. Working needs the graph of
// a running collector. The verdict is open if anything was not seen. The same input gives the same
// bytes.
func TestCheckupsOfDrawnWorlds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := rapid.Bool().Draw(t, "whole")
		coverage := &snapshot.Coverage{}
		if whole {
			coverage = snapshot.CoversEverything()
		}
		s := drawn(t, scenario.Wild, coverage)
		o := diagnose.CheckupOptions{At: int64(rapid.SampledFrom([]int{0, now}).Draw(t, "at")), Patience: patience}
		if rapid.Bool().Draw(t, "graph") {
			other := drawn(t, scenario.Wild, snapshot.CoversEverything())
			o.Graph = &diagnose.CollectorGraph{Read: []*report.Graph{graphOf(t, other)}, Live: rapid.Bool().Draw(t, "live")}
		}
		c := checkup(t, s, o)
		counts := map[reason.Severity]int{}
		for _, f := range c.Findings {
			counts[f.Severity]++
			if m := reason.Doctor.Of(reason.Code(f.Code)); m == nil || m.Severity != f.Severity || f.Message == "" {
				t.Fatalf("code %q, severity %q, message %q", f.Code, f.Severity, f.Message)
			}
		}
		if counts[reason.Error] != c.Summary.Errors || counts[reason.Warning] != c.Summary.Warnings || counts[reason.Info] != c.Summary.Infos {
			t.Fatalf("counts %v, summary %+v", counts, c.Summary)
		}
		switch c.Verdict {
		case report.CollectorWorking:
			if o.Graph == nil || !o.Graph.Live || c.Graph.Different > 0 || !c.Complete || c.Summary.Errors+c.Summary.Warnings > 0 {
				t.Fatalf("%+v", c)
			}
		case report.CollectorNoProblemFound:
			if !whole || c.Summary.Errors+c.Summary.Warnings > 0 {
				t.Fatalf("%+v", c)
			}
		case report.CollectorNotWorking:
			if c.Summary.Errors == 0 {
				t.Fatalf("%+v", c)
			}
		case report.CollectorUnknown:
		default:
			t.Fatalf("verdict %q", c.Verdict)
		}
		if len(c.Reasons) == 0 {
			t.Fatal("no reason")
		}
		a, _ := json.Marshal(c)
		b, _ := json.Marshal(checkup(t, s, o))
		if !bytes.Equal(a, b) {
			t.Fatalf("two checkups differ:\n%s\n%s", a, b)
		}
	})
}
