package plan_test

import (
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// drawController draws the state of the controller of every finalizer.
func drawController(t *rapid.T) plan.ControllerOf {
	state := rapid.SampledFrom([]report.ControllerState{
		report.ControllerUnknown, report.ControllerRuns, report.ControllerPaused, report.ControllerGone, report.ControllerGone,
	}).Draw(t, "controller")
	return func(*object.Object, string) (string, report.ControllerState) { return "", state }
}

// TestUnknownControllersAreNamed checks that a plan names each object that its request may delete and
// that has an unknown finalizer, unless the controller of the finalizer is known to be absent. Such a
// controller may delete anything, so that the plan is incomplete.
func TestUnknownControllersAreNamed(t *testing.T) {
	named, absent := 0, 0
	met := func() bool { return named > 0 && absent > 0 }
	scenario.CheckUntil(t, met, func(t *rapid.T) {
		snap := scenario.DrawCluster(t, scenario.DrawVariety(t)).DrawSnapshot(t, 7)
		controller := drawController(t)
		_, state := controller(nil, "")
		p := simulate(t, snap, drawSeed(t, snap), plan.Options{Controller: controller, Record: plan.RecordRequests}).Plan
		for e := range p.Account() {
			o := snap.Find(e.Object.APIVersion, e.Object.Kind, e.Object.Namespace, e.Object.Name)
			if !e.IsDeleted() || o.UID != e.Object.UID || o.BeingDeleted() || !o.HasFinalizer(scenario.Foreign) {
				continue
			}
			isNamed := slices.ContainsFunc(p.Unlisted, func(u report.Unlisted) bool {
				return u.Object == e.Object && u.Finalizer == scenario.Foreign && (u.Reason == string(reason.MayDeleteOthers)) == (state == report.ControllerRuns)
			})
			switch {
			case isNamed == (state == report.ControllerGone), isNamed && p.Complete:
				t.Fatalf("%s has %s, its controller is %s: named %v, complete %v", e.Object, scenario.Foreign, state, isNamed, p.Complete)
			case isNamed:
				named++
			default:
				absent++
			}
		}
	})
}

// TestListsItself checks that Argo CD, even if it runs, deletes nothing with an Application that its own inventory
// lists, and that the account has the objects: it may read the Application as it was before the delete.
func TestListsItself(t *testing.T) {
	running := func(*object.Object, string) (string, report.ControllerState) { return "argocd", report.ControllerRuns }
	p := planOf(t, "v1 ConfigMap n/config\nargoproj.io/v1alpha1 Application n/a fin=resources-finalizer.argocd.argoproj.io "+
		"inventory=[/ConfigMap/n/config,argoproj.io/Application/n/a]", plan.Options{Controller: running}).Plan
	const want = "Application a: Sure Deleted AtOnce, Blocked after resources-finalizer.argocd.argoproj.io of a (argocd)\n" +
		"ConfigMap config: Possible Deleted FinalizerRemoved, Kept"
	if diff := gocmp.Diff(want, accountText(p)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
