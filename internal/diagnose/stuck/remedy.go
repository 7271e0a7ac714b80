package stuck

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose/explain"
	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

func argument(o *object.Object) string     { return explain.Argument(report.RefOf(o.Ref)) }
func argumentOf(r report.Ref) string       { return explain.Argument(r) }
func argumentWord(o *object.Object) string { return slashed(report.RefOf(o.Ref)) }

// slashed names an object as one word: `pod/web -n shop`.
func slashed(r report.Ref) string {
	word := report.ShellWord(r.KubectlName())
	if r.Namespace != "" {
		word += " -n " + report.ShellWord(r.Namespace)
	}
	return word
}

// wake ends the waiting for a finalizer: the remover first, and last its removal by
// hand, with what that leaks.
func (i *inquiry) wake(o *object.Object, found evidence.Judgement, e *end) {
	const most = 2
	for _, a := range found.Powerless {
		e.remedy("kubectl auth can-i --list -n "+report.ShellWord(o.Namespace)+" --as="+report.ShellWord("system:serviceaccount:"+a.Namespace+":"+a.Name),
			"shows what it may do: give it the right to update the object, and it goes on by itself", "")
	}
	for n, w := range found.Asleep {
		if n < most {
			e.remedy("kubectl scale "+slashed(w)+" --replicas=1", "starts what removes it", "")
		}
	}
	if len(found.Suspects) > 0 && found.State != report.RemoverGone {
		e.remedy("kubectl logs "+slashed(found.Suspects[0]), "shows what the remover does about it", "")
	}
	if found.State == report.RemoverAlive {
		e.remedy("kubectl wait --for=delete "+argumentWord(o)+" --timeout=10m", "waits for it", "")
		return
	}
	i.takeOff(o, e.finalizer, e)
}

// takingOff begins the command that takes a finalizer off.
const takingOff = "kubectl gc remove-finalizer "

// takeOff is the removal by hand, with the flags that lift what speaks against it.
func (i *inquiry) takeOff(o *object.Object, name string, e *end) {
	command := takingOff + slashed(report.RefOf(o.Ref)) + " " + report.ShellWord(name)
	for _, r := range finalizer.Judge(i.snap, o, []string{name}, finalizer.Allow{}) {
		if r.Lift != "" && !strings.Contains(command, r.Lift) {
			command += " " + r.Lift
		}
	}
	cost := "what its controller would have tidied up stays behind; what that is, is not known"
	if k, ok := finalizer.Of(name); ok {
		cost = k.Without
	}
	e.remedy(command, "takes the finalizer off in the place of its remover", cost)
}

// freeConsumer ends the use of a claim or a volume.
func (i *inquiry) freeConsumer(o *object.Object, e *end) {
	user := e.others[0]
	effect, cost := "ends the use; the finalizer then comes off by itself", "the pod stops; a controller that makes it anew gets stuck without the claim"
	if user.Kind == "PersistentVolumeClaim" {
		cost = "the data of the claim, with the reclaim policy Delete"
	}
	if p := i.at(object.Ref(user)); p != nil && p.Pod() != nil && p.Pod().Finished() {
		cost = ""
	}
	e.remedy("kubectl delete "+argumentOf(user), effect, cost)
	if e.finalizer != "" {
		i.takeOff(o, e.finalizer, e)
	}
}

// sureRemedies tries the second deletes that are proposed, all in one simulation,
// and leaves out those that free nothing.
func (i *inquiry) sureRemedies(findings []report.Finding) error {
	var targets []object.Ref
	at := map[string]object.Ref{}
	for n := range findings {
		for _, r := range findings[n].Remedies {
			if !strings.HasSuffix(r.Command, redeletion) {
				continue
			}
			for _, l := range findings[n].Chain {
				if o := i.at(object.Ref(l.Ref)); o != nil && r.Command == "kubectl delete "+argument(o)+redeletion && at[r.Command] == (object.Ref{}) {
					at[r.Command] = o.Ref
					targets = append(targets, o.Ref)
				}
			}
		}
	}
	if len(targets) == 0 {
		return nil
	}
	slices.SortFunc(targets, object.Compare)
	r, err := plan.Simulate(i.ctx, i.snap, plan.DeleteSeed(policyOf, targets...), plan.Options{Surroundings: i.around, NoSteps: true})
	if err != nil {
		return err
	}
	frees := map[object.Ref]bool{}
	for _, e := range r.Plan.Effects {
		frees[object.Ref(e.Object)] = e.Outcome == report.Deleted
	}
	for n := range findings {
		f := &findings[n]
		f.Remedies = slices.DeleteFunc(slices.Clone(f.Remedies), func(r report.Remedy) bool {
			return strings.HasSuffix(r.Command, redeletion) && !frees[at[r.Command]]
		})
		if len(f.Remedies) == 0 {
			last := f.Chain[len(f.Chain)-1].Ref
			f.Remedies = []report.Remedy{{Command: explain.AgainCommand(last), Effect: "says more about what has to move; a second delete would free nothing"}}
		}
		f.Remedy = f.Remedies[0].Command
	}
	return nil
}
