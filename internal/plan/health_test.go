package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	authentication "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// TestAssessment reads worlds as YAML, and plans with what they show about the other controllers:
// `delete Kind/name [cascade=…]` or `collect`. The parts of the evidence in `unread` were not read.
// With `blind`, none was. The resource of `unlisted` could not be listed, with that answer,
// anywhere or `in` one namespace. The first argument of `user` sends the request and is in the
// groups that follow. `collector` is the state of the garbage collector, if it is not to follow from
// the world; the plan names the one that it assumes if that matters. `explored` tries other schedules, too. The time
// is noon.
func TestSurroundings(t *testing.T) {
	for _, file := range []string{"testdata/surroundings", "testdata/late", "testdata/in_use", "testdata/admission", "testdata/collector"} {
		datadriven.RunTest(t, file, surrounded)
	}
}

// surrounded returns a plan as text.
func surrounded(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	snap, seen := seenWorld(t, d)
	seed := plan.CollectSeed()
	if d.Cmd == "delete" {
		seed = deleteSeed(t, d, snap)
	}
	o := plan.Options{Health: health.New(snap, seen, noon.Unix())}
	if d.HasArg("explored") {
		o.Explore = plan.Usual
	}
	if d.HasArg("collector") {
		var state string
		d.ScanArgs(t, "collector", &state)
		o.Collector = report.CollectorState(state)
	}
	result, err := plan.Simulate(t.Context(), snap, seed, o)
	if err != nil {
		return "error: " + err.Error()
	}
	var b strings.Builder
	if c := result.Plan.Collector; c != "" {
		fmt.Fprintf(&b, "assumes the collector: %s\n", c)
	}
	for _, e := range result.Plan.Effects {
		fmt.Fprintf(&b, "%s %s %s: %s\n", e.Object.KubectlName(), e.Outcome, e.Reason, e.Message)
		for _, a := range e.Assumptions {
			fmt.Fprintf(&b, "  assumed: %s\n", a)
		}
		if e.RecreatedWhen != "" {
			fmt.Fprintf(&b, "  comes back: %s\n", e.RecreatedWhen)
		}
		for _, r := range e.Once {
			if r.State == report.ControllerGuards {
				fmt.Fprintf(&b, "  guarded: %s, by %s\n", r.Finalizer, r.Controller)
			}
		}
	}
	for _, u := range result.Plan.Unlisted {
		fmt.Fprintf(&b, "more with %s: %s %s: %s\n", u.Object.KubectlName(), u.Finalizer, u.Reason, u.Message)
	}
	return b.String()
}

// unlisted returns the snapshot with failed lists of one resource.
func unlisted(t *testing.T, d *datadriven.TestData, snap *snapshot.Snapshot) *snapshot.Snapshot {
	t.Helper()
	var resource, answer, in string
	d.ScanArgs(t, "unlisted", &resource, &answer)
	if d.HasArg("in") {
		d.ScanArgs(t, "in", &in)
	}
	coverage := &snapshot.Coverage{}
	for _, r := range snap.Resources.All() {
		coverage.Add(r.GroupResource(), "")
	}
	coverage.Fail(schema.ParseGroupResource(resource), in, reason.ListFailed, map[string]string{
		"unready":     "storage is (re)initializing: failed to list example.com/v2, Kind=Widget: conversion webhook for example.com/v1, Kind=Widget failed: Post: no endpoints available",
		"unconverted": "conversion webhook for example.com/v1, Kind=Widget failed: Post: no endpoints available",
	}[answer])
	snap, err := snapshot.Listed(snap.Objects, snap.Resources, nil, coverage, snap.Source)
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

func seenWorld(t *testing.T, d *datadriven.TestData) (*snapshot.Snapshot, *health.Evidence) {
	t.Helper()
	snap, err := snapshot.ReadFiles([]string{"-"}, snapshot.Options{Stdin: strings.NewReader(d.Input), TreatMissingAsAbsent: true})
	if err != nil {
		t.Fatal(err)
	}
	if d.HasArg("unlisted") {
		snap = unlisted(t, d, snap)
	}
	if d.HasArg("blind") {
		return snap, nil
	}
	var unread []string
	for _, arg := range d.CmdArgs {
		if arg.Key == "unread" {
			unread = append(unread, arg.Vals...)
		}
	}
	seen := &health.Evidence{}
	for _, arg := range d.CmdArgs {
		if arg.Key == "user" {
			seen.User = &authentication.UserInfo{Username: arg.Vals[0], Groups: arg.Vals[1:], Extra: map[string]authentication.ExtraValue{"team": {"db"}}}
		}
	}
	for doc := range strings.SplitSeq(d.Input, "\n---\n") {
		raw, err := yaml.YAMLToJSON([]byte(doc))
		if err == nil {
			err = seen.Add("", "", raw)
		}
		if err != nil {
			t.Fatalf("%s: %v", d.Pos, err)
		}
	}
	for _, p := range health.Parts() {
		why := ""
		if slices.Contains(unread, string(p)) {
			why = "Forbidden: not for you"
		}
		seen.Mark(p, "", why)
	}
	return snap, seen
}

func deleteSeed(t *testing.T, d *datadriven.TestData, snap *snapshot.Snapshot) plan.Seed {
	t.Helper()
	policy := engine.Background
	if d.HasArg("cascade") {
		name := ""
		d.ScanArgs(t, "cascade", &name)
		policy = map[string]engine.Policy{"foreground": engine.ForegroundPolicy, "orphan": engine.OrphanPolicy}[name]
	}
	var refs []object.Ref
	for _, o := range snap.Objects {
		if slices.ContainsFunc(d.CmdArgs, func(a datadriven.CmdArg) bool { return a.Key == o.Kind+"/"+o.Name }) {
			refs = append(refs, o.Ref)
		}
	}
	if len(refs) == 0 {
		t.Fatalf("%s: nothing is deleted", d.Pos)
	}
	return plan.DeleteSeed(policy, refs...)
}

// TestNothingKnown checks that, if nothing is known about the other controllers, their work is
// assumed and the plan says so.
func TestNothingKnown(t *testing.T) {
	snap, err := snapshot.ReadFiles([]string{"-"}, snapshot.Options{TreatMissingAsAbsent: true, Stdin: strings.NewReader(
		`{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"shop","name":"web","uid":"u"},"spec":{"nodeName":"n1"},"status":{"phase":"Running"}}`)})
	if err != nil {
		t.Fatal(err)
	}
	for name, around := range map[string]*health.Assessment{"none": nil, "blind": health.New(snap, nil, 0), "empty": health.New(snap, &health.Evidence{}, 0)} {
		result, err := plan.Simulate(t.Context(), snap, plan.DeleteSeed(engine.Background, snap.Objects[0].Ref), plan.Options{Health: around})
		if err != nil {
			t.Fatal(err)
		}
		if e := result.Plan.Effects[0]; e.Outcome != report.Deleted || len(e.Assumptions) != 1 {
			t.Errorf("%s: %+v", name, e)
		}
	}
}
