package apply

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// compare reports where the cluster differs from the prediction. after is the predicted state. An
// object that is still being deleted is pending, which is no drift. An object that was not written
// to is no drift either, since the writes report it already. If the run was interrupted, missing
// consequences are no drift.
func compare(run *report.Run, all []expectation, now map[object.Ref]sight, after map[object.Ref]*object.Object) {
	unsent := unsent(run)
	for _, e := range all {
		ref := object.Ref(e.Object)
		s, looked := now[ref]
		if !looked || s.err != nil || !e.predicted() || unsent[e.Object] {
			continue
		}
		reason, text := report.DifferenceReason(""), ""
		if !s.gone() || e.Outcome != report.Deleted {
			reason, text = differs(e, s, after[ref])
		}
		if run.State == report.Interrupted && reason != "" && reason != report.GoneInstead {
			continue
		}
		run.Summary.Compared++
		if e.mayGo() && s.gone() {
			run.Summary.Gone++
			continue
		}
		if s.o != nil && s.o.BeingDeleted() && e.takes() {
			run.Pending = append(run.Pending, pending(e, s.o))
		}
		if reason != "" {
			run.Differences = append(run.Differences, report.Difference{Object: e.Object, Predicted: e.Outcome, Reason: reason, Message: text})
		}
	}
	run.Summary.Pending, run.Summary.Differing = len(run.Pending), len(run.Differences)
}

// unsent returns the objects of planned writes that were not done.
func unsent(run *report.Run) map[report.Ref]bool {
	refs := map[report.Ref]bool{}
	for _, w := range run.Writes {
		if w.State != report.Confirmed && w.State != report.AlreadyDone {
			refs[w.Object] = true
		}
	}
	return refs
}

func pending(e expectation, o *object.Object) report.Pending {
	p := report.Pending{Object: e.Object, Finalizers: slices.Clone(o.Finalizers())}
	named := map[report.Ref]bool{e.Object: true}
	for _, r := range e.After {
		if !named[r.Object] {
			named[r.Object] = true
			p.Dependents = append(p.Dependents, r.Object)
		}
	}
	return p
}

// differs compares one object with its prediction.
func differs(e expectation, s sight, want *object.Object) (report.DifferenceReason, string) {
	switch {
	case e.Outcome == report.Deleted:
		if s.o.BeingDeleted() {
			return "", ""
		}
		return report.Survived, "it exists, and is not being deleted" + heldBy(s.o)
	case s.gone():
		return report.GoneInstead, "it is gone"
	case e.stays() && !s.o.BeingDeleted():
		return report.Survived, "it exists, and is not being deleted" + heldBy(s.o)
	case !e.stays() && s.o.BeingDeleted():
		return report.GoneInstead, "it is being deleted" + heldBy(s.o)
	case want == nil:
		return "", ""
	case e.stays() && !slices.Equal(e.lasting(s.o), e.lasting(want)):
		return report.OtherFinalizers, fmt.Sprintf("it has the finalizers %s, predicted were %s", words(s.o.Finalizers()), words(want.Finalizers()))
	case !slices.Equal(owners(s.o), owners(want)):
		return report.OtherReferences, fmt.Sprintf("it refers to %s, predicted was %s", ownerNames(s.o), ownerNames(want))
	}
	return "", ""
}

func heldBy(o *object.Object) string {
	if len(o.Finalizers()) == 0 {
		return ""
	}
	return " (finalizers " + words(o.Finalizers()) + ")"
}

// lasting returns the finalizers that are not predicted to be removed. The time when other
// controllers remove theirs is not predicted.
func (e expectation) lasting(o *object.Object) []string {
	return sorted(slices.DeleteFunc(slices.Clone(o.Finalizers()), func(name string) bool {
		return slices.ContainsFunc(e.After, func(r report.Release) bool { return r.Object == e.Object && r.Finalizer == name })
	}))
}

func sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}

func words(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

func owners(o *object.Object) []types.UID {
	list := make([]types.UID, len(o.Owners))
	for i, ref := range o.Owners {
		list[i] = ref.UID
	}
	slices.Sort(list)
	return list
}

func ownerNames(o *object.Object) string {
	list := make([]string, len(o.Owners))
	for i, ref := range o.Owners {
		list[i] = ref.Kind + " " + ref.Name
	}
	return words(list)
}
