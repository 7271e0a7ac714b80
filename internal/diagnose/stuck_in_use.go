package diagnose

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// inUse handles a claim or a volume that is in use. Users that are being deleted are followed to
// their ends.
func (i *inquiry) inUse(o *object.Object, names []string, users []object.Ref) []end {
	used := endAt(o, reason.StillInUse)
	if len(names) > 0 {
		used.finalizer = names[0]
	}
	ends := i.follow(o, string(reason.InUse), users, func(u object.Ref) (end, bool) {
		used.others = append(used.others, u)
		return end{}, false
	})
	if len(used.others) == 0 {
		return ends
	}
	used.chain = append(used.chain[:0],
		report.WaitLink{Ref: o.Ref, Waits: string(reason.InUse)},
		report.WaitLink{Ref: used.others[0], Waits: string(reason.StillInUse)})
	used.more = len(used.others) - 1
	i.freeConsumer(o, &used)
	return append(ends, used)
}

// usedAndHeld handles an object with protection finalizers, because of users, and other finalizers.
func (i *inquiry) usedAndHeld(o *object.Object, names []string, users []object.Ref) []end {
	var protecting, others []string
	for _, name := range names {
		if _, protects := i.health.UseOf(o, name); protects || health.OfManager(name) {
			protecting = append(protecting, name)
		} else {
			others = append(others, name)
		}
	}
	return append(i.foreign(o, others), i.inUse(o, protecting, users)...)
}

// protected returns the ends of a third-party finalizer that protects an object while it is in use.
// It returns false if nothing is known about the use, so that the finalizer is treated like any
// other. A plan uses the same UseOf.
func (i *inquiry) protected(o *object.Object, name string) (ends []end, decided bool) {
	use, protects := i.health.UseOf(o, name)
	if !protects {
		return nil, false
	}
	users := slices.DeleteFunc(slices.Clone(use.Users), func(ref object.Ref) bool {
		user := i.at(ref)
		return i.collected(ref) || use.UntilDeletion && user != nil && user.BeingDeleted()
	})
	if len(users) > 0 {
		return i.inUse(o, []string{name}, users), true
	}
	if use.Counted > 0 {
		e := endAt(o, reason.StillInUse)
		e.finalizer, e.detail = name, "its status counts "+strconv.Itoa(use.Counted)+" that use it"
		e.remedy(act(report.Describe, o), "shows what it counts: the finalizer is removed when nothing uses it", "")
		i.takeOff(o, name, &e)
		return []end{e}, true
	}
	e := i.held(o, name)
	if e.code != reason.FinalizerControllerAlive || !use.Unseen && len(slices.DeleteFunc(slices.Clone(use.Possible), i.collected)) == 0 {
		return nil, false
	}
	e.code, e.detail = reason.EndNotSeen, "its controller removes "+name+" when nothing uses it, and what uses it was not seen"
	e.chain[0].Waits = string(e.code)
	return []end{e}, true
}

// collected reports whether a user that is not being deleted yet will be deleted.
func (i *inquiry) collected(user object.Ref) bool {
	e := i.effects[user]
	o := i.at(user)
	return e != nil && e.Outcome == report.Deleted && o != nil && !o.BeingDeleted()
}

// manyAttachments is the maximum number of attachments that are named.
const manyAttachments = 3

// proveAttachments adds the attachments of the volumes in a chain. Only the VolumeAttachment shows
// the CSI driver's reason why a volume cannot be detached.
func (i *inquiry) proveAttachments(e *end) {
	said := map[string]bool{}
	for _, link := range e.chain {
		o := i.at(object.Ref(link.Ref))
		if o == nil || o.Is(object.PV) && e.finalizer != "" && !strings.HasPrefix(e.finalizer, "external-attacher/") {
			continue
		}
		for _, a := range i.health.AttachmentsOf(o) {
			failed := a.AttachError+a.DetachError != ""
			if said[a.Ref.Name] || len(said) == manyAttachments || !failed && !o.Is(object.PV) && !o.Is(object.VolumeAttachment) {
				continue
			}
			said[a.Ref.Name] = true
			ref := i.health.Known(a.Ref)
			text := a.Text()
			if state, _ := i.health.Node(a.Node); state == health.NodeAbsent {
				text += " (node " + a.Node + " does not exist)"
			}
			e.prove(reason.AttachmentSays, &ref, ref.ShortName()+" "+text)
			if failed {
				e.remedy(report.Act{Action: report.Describe, Target: ref}, "shows what the CSI driver says about it", "")
			}
		}
	}
}

const budgetEffect = "shows which pods it counts, and which of them are not ready"

// proveEvictions adds the PodDisruptionBudgets that a drain waits for.
func (i *inquiry) proveEvictions(e *end) {
	for _, link := range e.chain {
		o := i.at(object.Ref(link.Ref))
		if o == nil {
			continue
		}
		node := i.health.DrainedNode(o)
		for _, x := range i.health.Evictions(node) {
			known := i.health.Known(x.Budget.Ref)
			e.prove(reason.BudgetSays, &known, x.Text(known))
			e.remedy(report.Act{Action: report.Describe, Target: known}, budgetEffect, "")
		}
	}
}
