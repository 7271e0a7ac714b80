package outcome

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// example is an object that a rule decides about. If the rule has a why, the next rule holds, too.
type example struct {
	rule string
	// first is the object in the snapshot. last is its state at the end, or gone; the same if empty.
	first, last string
	// recorded sets the rest of the track, and what the judge knows.
	recorded func(*Judge, *Track)
	want     string
}

var lists = []struct {
	name     string
	rules    []rule
	examples []example
}{
	{"tracked", trackedRules, []example{
		{"gone", "v1 Pod shop/web-1-a owners=web", "gone", func(_ *Judge, tr *Track) { tr.Target = true }, "Deleted Requested"},
		{"being deleted", "v1 Pod shop/web-1-a fin=x/y deleting", "", func(j *Judge, tr *Track) { j.Takes, tr.Target, tr.Refused = true, true, errDenied },
			"Blocked FinalizerRemains (the API server refuses the request: denied)"},
		{"refused", "v1 PersistentVolumeClaim shop/data fin=x/y", "", func(j *Judge, tr *Track) { j.Takes, tr.Target, tr.Refused = true, true, errDenied },
			"Kept RequestRefused (denied)"},
		{"finalizer removed", bound, released, func(j *Judge, tr *Track) { j.Takes, tr.Target, tr.Changed = true, true, AfterSeed }, "Kept FinalizerTaken"},
		{"volume released", bound, released, func(_ *Judge, tr *Track) { tr.Changed = AfterSeed }, "Kept VolumeRetained data assumes: the PV controller runs"},
		{"changed", "v1 ConfigMap shop/a owners=gone", "v1 ConfigMap shop/a", func(_ *Judge, tr *Track) { tr.Changed = InBaseline }, "Pruned DanglingReferences removed: gone"},
		{"nothing new", "v1 ConfigMap shop/shared owners=api", "", decided(InBaseline, reason.ExistingOwner), "not shown"},
		{"considered", "v1 ConfigMap shop/shared owners=api", "", decided(AfterSeed, reason.AbsenceNotProven), "Kept AbsenceNotProven"},
	}},
	{"deleted", deletedRules, []example{
		{"gone before the request", "v1 ConfigMap shop/a", "gone", func(j *Judge, tr *Track) { j.Takes, tr.Target, tr.Refused = true, true, errDenied }, " Requested anyway"},
		{"finalizer removed", "v1 Pod shop/web-1-a fin=x/y deleting", "gone", func(j *Judge, tr *Track) { j.Takes, tr.Target = true, true }, " FinalizerTaken"},
		{"requested", "apps/v1 ReplicaSet shop/web-1 owners=web", "gone", func(j *Judge, tr *Track) {
			tr.Target = true
			collected(j, tr)
		}, " Requested"},
		{"collected", "apps/v1 ReplicaSet shop/web-1 owners=web deleting fin=foregroundDeletion", "gone", collected, " NoExistingOwner web"},
		{"finished", "v1 Secret shop/token token=sa:sa deleting", "gone", removedBy(controllers.TokensName), " BeingDeleted"},
		{"token revoked", "v1 Secret shop/token token=sa:sa", "gone", removedBy(controllers.TokensName), " AccountGone sa"},
		{"undeployed", bound, "gone", func(j *Judge, tr *Track) {
			tr.reclaimed = true
			j.Tracks.Undeploying(application(), tr.First)
		}, " Undeployed web assumes: " + finalizer.DeployerAssumption(nil, application())},
		{"volume reclaimed", bound, "gone", func(_ *Judge, tr *Track) { tr.reclaimed = true }, " VolumeReclaimed data"},
		{"deleted by a controller", "v1 ConfigMap shop/a", "gone", removedBy(controllers.NamespaceName), " DeletedByController shop"},
	}},
	{"changed", changedRules, []example{
		{"undecided", "v1 ConfigMap shop/a owners=web,unseen", "v1 ConfigMap shop/a owners=unseen", func(j *Judge, tr *Track) {
			orphaned(j, tr)
			tr.Decision = judgement{Reason: reason.LookupFailed, live: tr.Last}
		}, "Unknown LookupFailed"},
		{"undecided after orphaning", "v1 ConfigMap shop/a owners=web,unseen", "v1 ConfigMap shop/a owners=unseen", orphaned, "Unknown OwnerNotCovered unseen (not read)"},
		{"orphaned", "apps/v1 ReplicaSet shop/web-1 owners=web", "apps/v1 ReplicaSet shop/web-1", orphaned,
			"Orphaned OrphanDependents web assumes: " + controllers.AdoptionAssumption},
		{"pruned", "v1 ConfigMap shop/shared owners=gone,api", "v1 ConfigMap shop/shared owners=api", decided(AfterSeed, reason.DanglingReferences, api), "Pruned DanglingReferences api"},
		{"references unchanged", "v1 ConfigMap shop/shared owners=api fin=x/y", "v1 ConfigMap shop/shared owners=api", decided(AfterSeed, reason.ExistingOwner, api), "Kept ExistingOwner api"},
	}},
	{"considered", consideredRules, []example{
		{"withheld", "v1 ConfigMap shop/a owners=gone", "", func(j *Judge, tr *Track) {
			j.Kept[tr.First.Ref] = reason.NotAskedFor
			unadmitted(j, tr)
		}, "Kept NotAskedFor"},
		{"refused by admission", "v1 ConfigMap shop/a owners=gone", "", func(j *Judge, tr *Track) {
			unadmitted(j, tr)
			j.Refused[tr.First.Ref] = errDenied
		}, "Kept PolicyDenies (policy deny)"},
		{"refused", "v1 ConfigMap shop/a owners=gone", "", func(j *Judge, tr *Track) {
			decided(AfterSeed, reason.LookupFailed)(j, tr)
			j.Refused[tr.First.Ref] = errDenied
		}, "Kept RequestRefused (denied)"},
		{"undecided", "v1 ConfigMap shop/a owners=api,unseen", "", func(j *Judge, tr *Track) {
			decided(AfterSeed, reason.OwnerNotCovered, api, unresolved)(j, tr)
		}, "Unknown OwnerNotCovered unseen"},
		{"kept by another owner", "v1 ConfigMap shop/a owners=api,unseen", "", decided(AfterSeed, reason.ExistingOwner, api, unresolved),
			"Kept ExistingOwner api assumes: the reference to gadget.example.com/unseen, about which nothing is known, stays"},
		{"kept by an unknown owner", "v1 ConfigMap shop/a owners=web,unseen", "", decided(AfterSeed, reason.UnknownOwnerKind, unresolved), "Kept UnknownOwnerKind unseen"},
		{"kept", "v1 ConfigMap shop/shared owners=api", "", decided(AfterSeed, reason.ExistingOwner, api), "Kept ExistingOwner api"},
	}},
}

// TestRules checks that each example is decided by its rule, that its result changes without the
// rule, and that it changes if the next rule comes first exactly if the rule has a why.
func TestRules(t *testing.T) {
	for _, list := range lists {
		for i, r := range list.rules {
			t.Run(list.name+"/"+r.name, func(t *testing.T) {
				n := slices.IndexFunc(list.examples, func(x example) bool { return x.rule == r.name })
				if n < 0 || n != i {
					t.Fatalf("example %d is for rule %d", n, i)
				}
				x := list.examples[n]
				if got := x.decided(t, list.rules); got != x.want {
					t.Errorf("got  %s\nwant %s", got, x.want)
				}
				if got := x.decided(t, slices.Delete(slices.Clone(list.rules), i, i+1)); got == x.want {
					t.Error("the result is the same without the rule")
				}
				if i+1 == len(list.rules) {
					return
				}
				swapped := slices.Clone(list.rules)
				swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
				if got := x.decided(t, swapped); (got != x.want) != (r.why != "") {
					t.Errorf("%s if the next rule comes first, and why is %q", got, r.why)
				}
				if next := list.examples[i+1]; r.why == "" && next.decided(t, swapped) != next.want {
					t.Error("the next rule decides otherwise if it comes first, and there is no why")
				}
			})
		}
	}
}

// decided returns the outcome of the example by a list of rules, as text.
func (x example) decided(t *testing.T, rules []rule) string {
	t.Helper()
	names := scenario.Names{}
	objects, err := scenario.ParseWorld(`
		v1 Namespace shop deleting
		apps/v1 Deployment shop/web
		apps/v1 Deployment shop/api
		v1 ServiceAccount shop/sa
		v1 PersistentVolumeClaim shop/data
		example.com/v1 Gadget gone
		example.com/v1 Gadget unseen`, names)
	if err != nil {
		t.Fatal(err)
	}
	tr := &Track{}
	for _, state := range []struct {
		of   **object.Object
		text string
	}{{&tr.First, x.first}, {&tr.Last, x.last}} {
		if state.text == "" {
			*state.of = tr.First
		} else if state.text != "gone" {
			o, err := scenario.ParseObject(strings.Fields(state.text+" uid=object"), names)
			if err != nil {
				t.Fatal(err)
			}
			*state.of = o
		}
	}
	snap, err := snapshot.New(slices.Concat(objects, []*object.Object{tr.First}), scenario.Resources(), snapshot.CoversEverything(), snapshot.Source{Discovered: true})
	if err != nil {
		t.Fatal(err)
	}
	if tr.Last != nil {
		objects = append(objects, tr.Last)
	}
	words, server := NewWords(), apisim.New(objects, snap.Resources)
	j := &Judge{
		Snap: snap, Tracks: NewTracks(snap, words), Words: words, Server: server, Lookups: blind{server}, Collector: engine.New(),
		Kept: map[object.Ref]reason.Code{}, Refused: map[object.Ref]error{}, Health: NewHealth(snap, nil),
		WaitsOf: func(object.Ref) []controllers.Wait { return nil }, Causes: unrelated{},
	}
	x.recorded(j, tr)
	out := &Outcome{Track: tr}
	if !j.decide(rules, out) {
		return "not shown"
	}
	text := string(out.Result) + " " + out.Reason
	for _, ref := range out.Because {
		text += " " + ref.Name
	}
	if out.Anyway {
		text += " anyway"
	}
	if out.Detail != "" {
		text += " (" + out.Detail + ")"
	}
	for _, a := range out.Assumptions {
		text += " assumes: " + a
	}
	for _, ref := range out.Removed {
		text += " removed: " + ref.Name
	}
	return text
}

const (
	bound    = "v1 PersistentVolume disk phase=Bound claim=shop/data:data reclaim=Retain"
	released = "v1 PersistentVolume disk phase=Released claim=shop/data:data reclaim=Retain"
)

var errDenied = errors.New("denied")

// unrelated causes nothing.
type unrelated struct{}

func (unrelated) Follows(*Track) bool { return false }
func (unrelated) Besides(*Track) bool { return false }

// blind is an API whose answers about the object unseen are missing.
type blind struct{ engine.API }

func (b blind) Get(ctx context.Context, ref object.Ref) (*object.Object, error) {
	if ref.Name == "unseen" {
		return nil, &object.UncoveredError{Ref: ref, Why: "not read"}
	}
	return b.API.Get(ctx, ref)
}

// decided records a decision of the collector, with what it knows of the owners.
func decided(phase Phases, code reason.Code, owners ...func(*judgement, int, object.OwnerReference)) func(*Judge, *Track) {
	return func(_ *Judge, tr *Track) {
		tr.Decision = judgement{Reason: code, Phase: phase, live: tr.Last}
		for i, ref := range tr.Last.Owners {
			for _, known := range owners {
				known(&tr.Decision, i, ref)
			}
		}
	}
}

func api(d *judgement, i int, ref object.OwnerReference) {
	if ref.Name == "api" {
		d.solid.Add(i)
	}
}

func unresolved(d *judgement, _ int, ref object.OwnerReference) {
	if ref.Name == "unseen" {
		d.failure = &failure{unresolved: &engine.OwnerFact{Reference: ref, Ref: ref.In("")}}
	}
}

// application returns an Application whose deployer deletes other objects with it.
func application() *object.Object {
	o := &object.Object{Ref: object.ArgoApplication.Ref("argocd", "web")}
	o.Edit().Finalizers = []string{"resources-finalizer.argocd.argoproj.io"}
	return o
}

func collected(_ *Judge, tr *Track) {
	tr.Decision = judgement{Reason: reason.NoExistingOwner, Phase: AfterSeed, live: tr.First, deletes: true}
	tr.Decision.dangling.Add(0)
}

func removedBy(controller string) func(*Judge, *Track) {
	return func(j *Judge, tr *Track) { tr.RemovedBy = j.Words.Number(controller) }
}

func orphaned(j *Judge, tr *Track) {
	tr.Changed, tr.orphanedBy = AfterSeed, j.Snap.Find("apps/v1", "Deployment", "shop", "web")
	j.Collector.Observe(object.Event{Type: object.Added, Object: tr.Last})
}

func unadmitted(j *Judge, tr *Track) {
	j.Health.Refused[tr.First.Ref] = health.Refusal{Sure: true, Denial: &health.Denial{Message: "policy deny"}}
}
