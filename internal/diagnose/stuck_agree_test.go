package diagnose_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// drawNeighbours draws ready and other nodes, aggregated APIs that answer or not, and admission and
// conversion webhooks with and without endpoints.
func drawNeighbours(t *rapid.T, snap *snapshot.Snapshot) []string {
	var bodies []string
	for _, o := range snap.Objects {
		if o.Kind == "Node" {
			ready := rapid.SampledFrom([]string{"True", "True", "False", "Unknown"}).Draw(t, "ready")
			bodies = append(bodies, fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":%q},"status":{"conditions":[{"type":"Ready","status":%q}]}}`, o.Name, ready))
		}
		if d := o.Definition(); d != nil {
			stored := rapid.SampledFrom([]string{`["v1"]`, `["v2"]`, `["v1","v2"]`, `[]`}).Draw(t, "stored")
			cleanup := rapid.SampledFrom([]string{"InstanceDeletionInProgress", "InstanceDeletionInProgress", "InstanceDeletionFailed"}).Draw(t, "cleanup")
			bodies = append(bodies, fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":%q},
				"spec":{"group":%q,"names":{"plural":%q},"versions":[{"name":"v1"},{"name":"v2","storage":true}],"conversion":{"strategy":"Webhook","webhook":{"clientConfig":{"service":{"namespace":"ops","name":%q}}}}},
				"status":{"storedVersions":%s,"conditions":[{"type":"Terminating","status":"True","reason":%q,"message":"m"}]}}`, o.Name, o.Group(), o.Name, drawService(t), stored, cleanup))
		}
		if o.Kind == "Namespace" && o.BeingDeleted() {
			says := rapid.SampledFrom([]string{"Some", "DeletionDiscoveryFailure", "DeletionGroupVersionParsingFailure", "DeletionContentFailure"}).Draw(t, "says")
			bodies = append(bodies, fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q},"status":{"conditions":[{"type":"Namespace%s","status":"True","message":"m"}]}}`, o.Name, says))
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "api") == 0 {
		available := rapid.SampledFrom([]string{"True", "False"}).Draw(t, "available")
		bodies = append(bodies, fmt.Sprintf(`{"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService","metadata":{"name":"v1.far"},
			"spec":{"group":"far","version":"v1","service":{"namespace":"ops","name":"down"}},"status":{"conditions":[{"type":"Available","status":%q}]}}`, available))
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "webhooks") {
		bodies = append(bodies, fmt.Sprintf(`{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration","metadata":{"name":"w%d"},
			"webhooks":[{"name":"w%d.example.com","failurePolicy":%q,"matchConditions":%s,"clientConfig":{"service":{"namespace":"ops","name":%q}},
			"rules":[{"apiGroups":[%q],"apiVersions":["*"],"operations":[%q],"resources":[%q]}]}]}`, i, i,
			rapid.SampledFrom([]string{"Fail", "Fail", "Ignore"}).Draw(t, "policy"), rapid.SampledFrom([]string{"[]", "[]", "[{}]"}).Draw(t, "conditions"), drawService(t),
			rapid.SampledFrom([]string{"", "*", "apps"}).Draw(t, "group"), rapid.SampledFrom([]string{"DELETE", "UPDATE", "*"}).Draw(t, "operation"),
			rapid.SampledFrom([]string{"*", "*/*", "configmaps", "pods", "namespaces"}).Draw(t, "resource")))
	}
	return append(bodies,
		`{"apiVersion":"v1","kind":"Service","metadata":{"namespace":"ops","name":"up"}}`,
		`{"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","metadata":{"namespace":"ops","name":"up-1","labels":{"kubernetes.io/service-name":"up"}},"endpoints":[{"addresses":["10.0.0.1"]}]}`,
		`{"apiVersion":"v1","kind":"Service","metadata":{"namespace":"ops","name":"down"}}`)
}

func drawService(t *rapid.T) string {
	return rapid.SampledFrom([]string{"up", "down", "absent"}).Draw(t, "service")
}

// late maps the codes of overdue or failing controllers to the reasons in plans.
var late = map[reason.Code]reason.Code{
	reason.CollectorNotWorking: reason.CollectorNotWorking, reason.DeletionForgotten: reason.DeletionMissed,
	reason.ControllerNotWorking: reason.ControllerNotWorking, reason.CRDCleanupFails: reason.CRDCleanupFails,
	reason.NamespaceDeletionFails: reason.NamespaceDeletionFails, reason.PodNotFinished: reason.PodNotFinished,
}

func codeOf(why reason.Code) reason.Code {
	for code, r := range late {
		if r == why {
			return code
		}
	}
	return ""
}

func saidAbout(findings []report.Finding, ref object.Ref) (list []string) {
	for _, f := range findings {
		if f.Object == ref {
			list = append(list, f.Code+" "+f.Message)
		}
	}
	return list
}

func says(findings []report.Finding, ref object.Ref, code reason.Code) bool {
	return slices.ContainsFunc(findings, func(f report.Finding) bool { return f.Object == ref && reason.Code(f.Code) == code })
}

// TestCommandsAgree holds for any health of controllers and APIs. If stuck says that an object will
// not go by itself, no plan says Deleted and no explanation says that it goes. If a plan says
// Blocked, stuck does not say under way. If a plan says that a controller is overdue, so does
// stuck, provided that the object is being deleted already. A taker in an explanation is one in a
// plan, too.
func TestCommandsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		snap := scenario.DrawCluster(t, scenario.DrawVariety(t)).Snapshot(t, snapshot.CoversEverything())
		const soon = 1893456000 + 60
		now := rapid.SampledFrom([]int64{soon, soon + 4000}).Draw(t, "now")
		var unread []health.Part
		if rapid.IntRange(0, 3).Draw(t, "blind") == 0 {
			unread = rapid.SliceOfN(rapid.SampledFrom(health.Parts()), 1, 3).Draw(t, "unread")
		}
		seen := seenOf(append(drawBodies(t, snap.Objects), drawNeighbours(t, snap)...), unread)
		around := health.New(snap, seen, now)
		d, err := diagnose.Stuck(t.Context(), snap, seen, diagnose.StuckQuestion{Now: now})
		if err != nil {
			t.Fatal(err)
		}
		effects := simulated(t, snap, plan.CollectSeed(), around)
		for i := range d.Findings {
			f := &d.Findings[i]
			e := effects[f.Object]
			code := reason.Code(f.Code)
			switch {
			case e == nil:
			case len(f.Chain) == 1 && late[code] != "" && (e.Outcome == report.Deleted || e.Outcome == report.Kept):
				t.Fatalf("%v: stuck: %s %s; plan: %s %s %s", f.Object, f.Code, f.Message, e.Outcome, e.Reason, e.Message)
			case f.Severity == reason.Error && e.Outcome == report.Deleted:
				t.Fatalf("%v: stuck: %s %s; plan: %s %s", f.Object, f.Code, f.Message, e.Outcome, e.Message)
			case code == reason.UnderWay && e.Outcome == report.Blocked:
				t.Fatalf("%v: stuck: %s; plan: %s %s %s", f.Object, f.Message, e.Outcome, e.Reason, e.Message)
			}
		}
		for ref, e := range effects {
			if o := snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name); o == nil || !o.BeingDeleted() {
				continue // it is not being deleted yet, so stuck does not report it
			}
			if code := codeOf(reason.Code(e.Reason)); code != "" && e.BlockedBy != nil && !says(d.Findings, ref, code) {
				t.Fatalf("%v: plan: %s %s %s; stuck: %q", ref, e.Outcome, e.Reason, e.Message, saidAbout(d.Findings, ref))
			}
		}
		o := rapid.SampledFrom(snap.Objects).Draw(t, "object")
		leavesStuck(t, snap, seen, plan.DeleteSeed(engine.Background, o.Ref), now)
		x, err := diagnose.Explain(t.Context(), snap, o.Ref, diagnose.ExplanationOptions{Health: around})
		if err != nil {
			t.Fatal(err)
		}
		if e := effects[x.Object]; e != nil && e.Outcome == report.Deleted && x.Verdict == report.Live {
			t.Fatalf("%v: explain: %s; plan: %s %s", o.Ref, x.Message, e.Outcome, e.Message)
		}
		for _, taker := range x.TakenBy {
			if taker.Unknown || taker.Policy != "Background" {
				continue
			}
			after := simulated(t, snap, plan.DeleteSeed(engine.Background, taker.Object), around)
			if e := after[x.Object]; e == nil || !taker.Later && e.Outcome != report.Deleted || taker.Later && e.Later != report.Deleted {
				t.Fatalf("%v: taken by %v, and its plan says %+v", o.Ref, taker.Object, e)
			}
		}
	})
}

// leavesStuck carries out a plan and then diagnoses. Blocked objects exist and are not under way. A
// deletion that the collector has missed shows after some time, and a restarted collector finds it.
func leavesStuck(t *rapid.T, snap *snapshot.Snapshot, seen *health.Evidence, seed plan.Seed, now int64) {
	r, err := plan.Simulate(t.Context(), snap, seed, plan.Options{Record: plan.RecordRequests, Health: health.New(snap, seen, now)})
	if err != nil {
		t.Fatal(err)
	}
	after := snap.With(r.After())
	asked := func(now int64) *report.Diagnosis {
		d, err := diagnose.Stuck(t.Context(), after, seen, diagnose.StuckQuestion{Now: now})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	d := asked(now)
	for i := range r.Plan.Effects {
		e := &r.Plan.Effects[i]
		if e.Outcome != report.Blocked {
			continue
		}
		d := d
		if reason.Code(e.Reason) == reason.DeletionMissed {
			d = asked(now + 2*health.OverdueAfter)
		}
		if !slices.ContainsFunc(d.Findings, func(f report.Finding) bool { return f.Object == e.Object && reason.Code(f.Code) != reason.UnderWay }) {
			t.Fatalf("%v: plan: %s %s; stuck then: %+v", e.Object, e.Reason, e.Message, d.Findings)
		}
	}
}

func simulated(t *rapid.T, snap *snapshot.Snapshot, seed plan.Seed, around *health.Assessment) map[object.Ref]*report.Effect {
	r, err := plan.Simulate(t.Context(), snap, seed, plan.Options{Record: plan.RecordRequests, Health: around})
	if err != nil {
		t.Fatal(err)
	}
	effects := map[object.Ref]*report.Effect{}
	for i := range r.Plan.Effects {
		effects[r.Plan.Effects[i].Object] = &r.Plan.Effects[i]
	}
	return effects
}

// TestPartsAgree holds for any health of controllers and APIs: a delete simulated in a part has the
// same plan as in the whole snapshot, if the snapshot covers what the collector reads.
func TestPartsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		snap := scenario.DrawCluster(t, scenario.DrawVariety(t)).Snapshot(t, snapshot.CoversEverything())
		const soon = 1893456000 + 60
		now := rapid.SampledFrom([]int64{soon, soon + 4000}).Draw(t, "now")
		seen := seenOf(append(drawBodies(t, snap.Objects), drawNeighbours(t, snap)...), nil)
		policy := rapid.SampledFrom([]engine.Policy{engine.Background, engine.ForegroundPolicy, engine.OrphanPolicy}).Draw(t, "policy")
		target := rapid.SampledFrom(snap.Objects).Draw(t, "target").Ref
		planned := func(record plan.Record) string {
			o := plan.Options{Explore: plan.Usual, Record: record, Health: health.New(snap, seen, now)}
			r, err := plan.Simulate(t.Context(), snap, plan.DeleteSeed(policy, target), o)
			if err != nil {
				t.Fatal(err)
			}
			r.Plan.Steps = nil
			text, err := json.MarshalIndent(r.Plan, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		if diff := cmp.Diff(planned(plan.RecordReads), planned(plan.RecordRequests)); diff != "" {
			t.Fatalf("%s delete of %s in\n%s\n(-everything +part)\n%s", policy, target, scenario.World{Objects: snap.Objects}, diff)
		}
	})
}
