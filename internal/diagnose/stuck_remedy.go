package diagnose

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// wake adds the commands that end the wait for a finalizer: first those that repair its controller,
// last the removal by hand, with its cost.
func (i *inquiry) wake(o *object.Object, found health.Judgement, e *end) {
	const most = 2
	for _, a := range found.Unauthorized {
		rights := act(report.ShowRights, o)
		rights.User = "system:serviceaccount:" + a.Namespace + ":" + a.Name
		e.remedy(rights, "shows its permissions: with the right to update the object it continues by itself", "")
	}
	for n, w := range found.ScaledToZero {
		if n < most {
			e.remedy(report.Act{Action: report.ScaleUp, Target: w}, "starts the controller that removes the finalizer", "")
		}
	}
	if len(found.Suspects) > 0 && found.State != report.FinalizerControllerGone {
		e.remedy(report.Act{Action: report.ShowLogs, Target: found.Suspects[0]}, "shows what its controller does about it", "")
	}
	if found.State == report.FinalizerControllerAlive {
		wait := act(report.AwaitEnd, o)
		wait.Minutes = 10
		e.remedy(wait, "waits for it", "")
		return
	}
	i.takeOff(o, e.finalizer, e)
}

// resume adds the commands that end the wait for a finalizer whose controller is paused.
func (i *inquiry) resume(o *object.Object, paused finalizer.Pause, e *end) {
	switch {
	case paused.By == "" && paused.On.Name != "":
		effect := "shows what its controller waits for"
		if paused.On.Kind == "PodDisruptionBudget" {
			effect = budgetEffect
		}
		e.remedy(report.Act{Action: report.Describe, Target: paused.On}, effect, "")
	case paused.By != "":
		e.remedy(report.Act{Action: report.Edit, Target: paused.On}, "remove "+strings.TrimSuffix(paused.By, " of "+paused.On.ShortName())+" there: its controller goes on", "what the controller then deletes")
	}
	i.takeOff(o, e.finalizer, e)
}

// await adds a command that waits until the object is gone.
func (i *inquiry) await(o *object.Object, e *end, effect string) {
	wait := act(report.AwaitEnd, o)
	wait.Minutes = 5
	e.remedy(wait, effect, "")
}

// takeOff adds the removal by hand, with the flags that override the objections.
func (i *inquiry) takeOff(o *object.Object, name string, e *end) {
	var locks []string
	for _, r := range i.finalizers.Judge(o, []string{name}, finalizer.Allow{}) {
		locks = append(locks, r.Lift)
	}
	off := act(report.TakeOff, o)
	off.Finalizer, off.Flags = name, finalizer.Flag(locks...)
	cost := "what its controller would have cleaned up stays behind"
	if k, ok := finalizer.Of(name); ok {
		cost = k.LossOf(o)
	}
	e.remedy(off, "removes the finalizer", cost)
}

// freeConsumer adds the commands that end the use of a claim or a volume.
func (i *inquiry) freeConsumer(o *object.Object, e *end) {
	user := e.others[0]
	effect, cost := "ends the use; the finalizer is then removed automatically", "the object that uses it, with all that it holds"
	switch {
	case user.Is(object.Pod):
		cost = "the pod stops; a controller that makes it anew gets stuck without the PVC"
	case user.Is(object.PVC):
		switch cost = "the data of the PVC, with the reclaim policy Delete"; {
		case o.Volume() == nil:
		case o.Volume().ReclaimPolicy == "Retain":
			cost = "the PVC; its data stays, by the reclaim policy Retain"
		case o.Volume().ReclaimPolicy == "Delete":
			cost = "the data of the PVC, by the reclaim policy Delete"
		}
	}
	if p := i.at(user); p != nil && p.Pod() != nil && p.Pod().Finished() {
		cost = ""
	}
	e.remedy(report.Act{Action: report.Delete, Target: user}, effect, cost)
	if e.finalizer != "" {
		i.takeOff(o, e.finalizer, e)
	}
}

// sureRemedies simulates the proposed second deletes, all at once, and removes those that release
// nothing. A finding without another remedy has the command that explains it.
func (i *inquiry) sureRemedies(findings []report.Finding) error {
	var targets []object.Ref
	for n := range findings {
		for _, r := range findings[n].Remedies {
			if r.Action == report.DeleteAgain {
				targets = append(targets, r.Target)
			}
		}
	}
	slices.SortFunc(targets, object.Compare)
	frees, err := i.freedBy(slices.Compact(targets))
	if err != nil {
		return err
	}
	for n := range findings {
		f := &findings[n]
		proposed := len(f.Remedies)
		f.Remedies = slices.DeleteFunc(slices.Clone(f.Remedies), func(r report.Remedy) bool {
			return r.Action == report.DeleteAgain && !frees[r.Target]
		})
		if len(f.Remedies) == 0 {
			last := f.Chain[len(f.Chain)-1].Ref
			ask, effect := report.Act{Action: report.Explain, Target: last}, "says more about what has to move"
			if proposed > 0 {
				effect += "; a second delete would free nothing"
			}
			f.Remedies = []report.Remedy{ask.Remedy(effect)}
		}
		f.Remedy = f.Remedies[0].Command
	}
	return nil
}

// freedBy returns the objects that second deletes of these objects release.
func (i *inquiry) freedBy(targets []object.Ref) (map[object.Ref]bool, error) {
	if len(targets) == 0 {
		return nil, nil
	}
	r, err := plan.Simulate(i.ctx, i.snap, plan.DeleteSeed(secondPolicy, targets...), plan.Options{Health: i.health, Record: plan.RecordRequests})
	if err != nil {
		return nil, err
	}
	frees := map[object.Ref]bool{}
	for i := range r.Plan.Effects {
		frees[r.Plan.Effects[i].Object] = r.Plan.Effects[i].Outcome == report.Deleted
	}
	return frees, nil
}
