package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// failedJobs adds the Jobs that stay and lose a pod that they do not replace: it counts as failed, and their
// backoffLimit is used up. Each is told with the first pod.
//
// Source: kubernetes, pkg/controller/job/job_controller.go syncJob: exceedsBackoffLimit.
func (b *breakages) failedJobs() {
	ends := func(job *object.Object) bool {
		return job.Job() != nil && job.Job().NoRetry && !job.Job().Elsewhere() && !b.leaves(job)
	}
	if !slices.ContainsFunc(b.snap.All(object.Job.GroupResource()), ends) {
		return // without looking at every pod: 40 % of the time of all breakages, with 300,000 pods
	}
	first := map[object.Ref]report.Breakage{}
	along := b.snap.Cursor()
	for _, e := range b.goes.of(object.Pod.GroupKind) {
		pod := along.Find(e.Object)
		if pod == nil || pod.BeingDeleted() || pod.Pod() != nil && pod.Pod().Finished() {
			continue
		}
		job := workloadOf(b.snap, pod)
		if job == nil || !ends(job) {
			continue
		}
		target, certainty, ok := b.lost(e.Object.Coordinates())
		if one, known := first[job.Ref]; ok && (!known || object.Compare(target, one.Reference) < 0) {
			first[job.Ref] = report.Breakage{
				Object: job.Ref, Field: "spec.backoffLimit", Label: "backoffLimit", Reference: target, Certainty: certainty,
				When: report.BreaksNow, Message: "the Job fails: it replaces no more failed pods",
			}
		}
	}
	for _, one := range first {
		b.add(one)
	}
}

// heldKind is a kind of objects that have a finalizer, and a namespace if that matters.
type heldKind struct{ finalizer, apiVersion, kind, namespace string }

// controllers adds the objects that stay and lose the controller of a finalizer, so that nothing reconciles
// them, and a delete of them hangs. Of each kind with a finalizer, the first object that a program that goes
// may write is asked for its controller. For one in another namespace the answer is not certain: another
// program may serve it.
func (b *breakages) controllers() {
	programs := b.lostPrograms()
	if len(programs) == 0 {
		return
	}
	accounts := b.lostAccounts()
	lost, served := map[heldKind]*report.Breakage{}, map[heldKind]bool{}
	for _, o := range b.snap.Objects {
		if len(o.Finalizers()) == 0 || b.leaves(o) {
			continue
		}
		for _, name := range o.Finalizers() {
			of := heldKind{name, o.APIVersion, o.Kind, ""}
			one, known := lost[of]
			if known && one == nil {
				continue
			}
			here := of
			here.namespace = o.Namespace
			may, cached := served[here]
			if !cached {
				may = programOf(o, name, programs) != nil || b.health.MayWrite(o, accounts)
				served[here] = may
			}
			if !may {
				continue
			}
			if !known {
				one = b.lostController(o, name, programs)
				if lost[of] = one; one == nil {
					continue
				}
			}
			each := *one
			if each.Object.Namespace != o.Namespace && each.Certainty == report.Sure {
				each.Certainty = report.Possible
			}
			each.Object = o.Ref
			b.add(each)
		}
	}
}

// lostPrograms returns the workloads and pods that go.
func (b *breakages) lostPrograms() (list []*object.Object) {
	for _, kind := range []object.Kind{object.Deployment, object.StatefulSet, object.DaemonSet, object.Pod} {
		along := b.snap.Cursor()
		for _, e := range b.goes.of(kind.GroupKind) {
			if o := along.Find(e.Object); o != nil {
				list = append(list, o)
			}
		}
	}
	return list
}

// lostAccounts returns the accounts of the pods that go.
func (b *breakages) lostAccounts() (accounts []health.Account) {
	for n := range b.health.Evidence().Pods {
		p := &b.health.Evidence().Pods[n]
		if a := (health.Account{Namespace: p.Ref.Namespace, Name: p.ServiceAccount}); b.goes.at(p.Ref.Coordinates()) != nil && !slices.Contains(accounts, a) {
			accounts = append(accounts, a)
		}
	}
	return accounts
}

// lostController returns the breakage of an object whose finalizer loses its controller; nil if that is not
// so. The controller is the program that was seen to work. If none was, it is one that has its name.
func (b *breakages) lostController(o *object.Object, name string, programs []*object.Object) *report.Breakage {
	if name == object.Foreground || name == object.Orphan || health.OfManager(name) {
		return nil
	}
	one := &report.Breakage{
		Object: o.Ref, Field: "metadata.finalizers[]", Label: name, When: report.BreaksNextReconcile, Certainty: report.Sure,
		Message: "nothing reconciles it any more, and its own delete would hang",
	}
	j := b.health.Controller(o, name)
	for _, pod := range j.Working {
		e := b.goes.at(pod.Coordinates())
		if e == nil {
			return nil
		}
		one.Reference = pod
		if e.Consequence.Certainty != report.Sure {
			one.Certainty = report.Possible
		}
	}
	if len(j.Working) > 0 {
		for owner := b.snap.ObjectAt(one.Reference.Coordinates()); owner != nil; owner = workloadOf(b.snap, owner) {
			if b.goes.at(owner.Coordinates()) != nil {
				one.Reference = owner.Ref
			}
		}
		return one
	}
	named := programOf(o, name, programs)
	if named == nil || j.State == report.FinalizerControllerGone {
		return nil
	}
	one.Reference, one.Certainty = named.Ref, report.Possible
	return one
}

// programOf returns the program with the name of the controller that removes a finalizer from an object; nil
// if none has it.
func programOf(o *object.Object, name string, programs []*object.Object) *object.Object {
	known, _ := finalizer.Of(name)
	for _, c := range finalizer.ControllersOf(known, o) {
		for _, x := range programs {
			if c.IsCalled([]string{x.Name, x.Labels.Get("app.kubernetes.io/name"), x.Labels.Get("app")}) {
				return x
			}
		}
	}
	return nil
}
