package outcome

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// judgeBlocked sets what holds an object that is being deleted and still exists.
func (j *Judge) judgeBlocked(out *Outcome) {
	o := out.Track.Last
	out.Result, out.Blocked = report.Blocked, &report.BlockedBy{}
	for _, name := range o.Finalizers() {
		if name != object.Foreground && name != object.Orphan {
			out.Blocked.Finalizers = append(out.Blocked.Finalizers, name)
		}
	}
	out.Blocked.Finalizers = append(out.Blocked.Finalizers, o.OtherTokens()...)
	if len(out.Blocked.Finalizers) > 0 {
		out.Reason = string(reason.FinalizerRemains)
	}
	j.blockedByUsers(out, o)
	j.blockedByInventory(out, o)
	j.blockedByDependents(out, o)
	j.blockedByControllers(out, o)
	j.blockedByRefusal(out, o)
	j.blockedByOverdue(out, o)
	if out.Reason == "" && j.Kept[o.Ref] == reason.DependentsNotCovered {
		out.Blocked.Finalizers = slices.Clone(o.Finalizers())
		out.MarkUnknown(reason.DependentsNotCovered)
	}
	if out.Reason == "" && len(o.Finalizers()) == 0 {
		out.MarkUnknown(reason.HolderNotShown)
	}
	if out.Reason == "" {
		out.Reason = string(reason.DeletionMissed)
		out.Blocked.Finalizers = slices.Clone(o.Finalizers())
	}
	if refused := out.Track.Refused; refused != nil && j.Takes {
		out.Detail = "the API server refuses the request: " + refused.Error()
	}
	j.assume(out, out.Track.MarkedBy)
}

// blockedByUsers lists the known users of an object that protection finalizers hold. It leaves out
// users that are being deleted, because they do not hold the object for good.
func (j *Judge) blockedByUsers(out *Outcome, o *object.Object) {
	if j.Health == nil || j.Health.Assessment == nil {
		return
	}
	inUse := 0
	for _, name := range out.Blocked.Finalizers {
		use, _ := j.Health.Assessment.UseOf(o, name)
		users := slices.DeleteFunc(slices.Clone(use.Users), func(ref object.Ref) bool {
			user := j.Snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
			return user != nil && j.Leaves(user)
		})
		if len(users) > 0 || use.Counted > 0 {
			inUse++
		}
		for _, ref := range users {
			if !slices.Contains(out.Blocked.Dependents, ref) { // several finalizers may wait for it
				out.Blocked.Dependents = append(out.Blocked.Dependents, ref)
			}
		}
	}
	if inUse > 0 && inUse == len(out.Blocked.Finalizers) {
		out.Reason = string(reason.InUse)
	}
}

// blockedByInventory lists what a deployer has applied and why its finalizer stays: an object that is
// being deleted, if the deployer waits for that, and one that it could not delete.
func (j *Judge) blockedByInventory(out *Outcome, o *object.Object) {
	var done []*finalizer.Deployer // one may have several finalizers
	for _, name := range out.Blocked.Finalizers {
		d := finalizer.DeployerOf(o.Ref, name)
		if d == nil || slices.Contains(done, d) {
			continue
		}
		done = append(done, d)
		inventory := j.Inventory(d, o)
		if inventory == nil || inventory.Keeps || inventory.Remote {
			continue
		}
		confirm := false
		for _, at := range inventory.Entries {
			if j.Snap.Unreadable(at) {
				out.Detail = "it cannot delete " + at.Kind + " " + at.Name + ", whose API version " + at.Version + " is not served"
			}
			x := j.Snap.ObjectAt(at.Coordinates)
			if x == nil || !d.Tracks(o, x) {
				continue
			}
			now := j.Tracks.Now(x)
			confirm = confirm || now != nil && d.AwaitsConfirmation(o, x, at)
			by := j.Tracks.Deployer(x)
			tried := by != nil && by.Ref == o.Ref
			if now != nil && (now.BeingDeleted() && d.AwaitsEnd(x) || tried && !now.BeingDeleted()) {
				out.Blocked.Dependents = append(out.Blocked.Dependents, x.Ref)
			}
		}
		if d.Waves && inventory.Lists(o.Coordinates()) {
			out.Detail = "it waits for itself, because its inventory lists it"
		}
		if confirm {
			out.Detail = "it deletes nothing before somebody sets argocd.argoproj.io/deletion-approved"
		}
	}
}

// undeployed returns the objects that a deployer has tried to delete with an object and that still exist
// in a state.
func (j *Judge) undeployed(from *object.Object, state func(now *object.Object) bool) (refs []object.Ref) {
	for _, tr := range j.Tracks.Undeployed(from) {
		if tr.Last != nil && state(tr.Last) {
			refs = append(refs, tr.First.Ref)
		}
	}
	slices.SortFunc(refs, object.Compare)
	return refs
}

// blockedByDependents sets the dependents that a foreground deletion waits for, or that cannot be
// orphaned.
func (j *Judge) blockedByDependents(out *Outcome, o *object.Object) {
	g := j.Collector.Graph()
	id, ok := g.Find(o.UID)
	if !ok {
		return
	}
	if o.HasFinalizer(object.Foreground) {
		blockers := g.BlockingDependents(id)
		for _, d := range blockers {
			out.Blocked.Dependents = append(out.Blocked.Dependents, g.Identity(d))
		}
		switch {
		case len(blockers) == 0:
		case len(blockers) == 1 && blockers[0] == id:
			out.setReason(reason.WaitsForItself)
		default:
			out.setReason(reason.BlockingDependents)
		}
	}
	if o.HasFinalizer(object.Orphan) && j.orphaning(o) && j.Kept[o.Ref] != reason.DependentsNotCovered {
		out.setReason(reason.OrphaningFails)
		g.EachDependent(id, func(d graph.ID) bool {
			out.Blocked.Dependents = append(out.Blocked.Dependents, g.Identity(d))
			return true
		})
	}
}

// orphaning reports whether the collector still tries to orphan the dependents.
func (j *Judge) orphaning(o *object.Object) bool {
	return j.Collector.Defers(engine.OrphanWork, o.UID)
}

// blockedByControllers sets what the controllers other than the garbage collector wait for.
func (j *Judge) blockedByControllers(out *Outcome, o *object.Object) {
	if pod := o.Pod(); pod != nil && o.GracePeriod() != nil && *o.GracePeriod() > 0 {
		out.Blocked.Node = pod.NodeName
		out.setReason(reason.GracePeriodRuns)
	}
	w, ok := j.waitOf(o.Ref)
	if !ok {
		return
	}
	if w.pod != "" {
		out.Detail = w.detail
		if out.Reason == "" || out.Reason == string(reason.GracePeriodRuns) {
			out.Reason = string(w.pod)
		}
		return
	}
	if w.holds != "" {
		out.heldByProtection(w)
		return
	}
	if o.Pod() != nil && len(w.remaining) == 0 { // the request to delete it was refused
		out.Detail = w.detail
		return
	}
	out.Blocked.Dependents = joined(out.Blocked.Dependents, w.remaining) // a dependent of the namespace may be in it as well
	out.Detail, out.open, out.Blocked.Conditions = w.detail, w.unknown, w.conditions
	switch tokens := o.OtherTokens(); {
	case len(w.remaining) > 0:
	case len(tokens) > 0 && (w.unknown || isEmptied(o)): // these hold it, whatever is in it
		out.Detail = ""
		return
	case w.unknown:
		out.MarkUnknown(reason.ContentNotCovered)
		return
	}
	out.Reason = string(reason.ContentRemains)
	if w.broken && len(w.remaining) == 0 {
		out.Reason = string(j.discoveryReason())
	}
}

// isEmptied reports whether a namespace has lost its content, and only other controllers hold it.
func isEmptied(o *object.Object) bool {
	return len(o.OtherTokens()) > 0 && !slices.Contains(o.NamespaceTokens(), object.NamespaceToken)
}

// joined appends to list the references of more that it lacks.
func joined(list, more []object.Ref) []object.Ref {
	has := make(map[object.Ref]bool, len(list)+len(more))
	for _, r := range list {
		has[r] = true
	}
	for _, r := range more {
		if !has[r] {
			has[r] = true
			list = append(list, r)
		}
	}
	return list
}

// discoveryReason returns why discovery fails.
func (j *Judge) discoveryReason() reason.Code {
	if j.Health.unanswered() {
		return reason.APIServiceUnavailable
	}
	return reason.DiscoveryFails
}

// heldByProtection sets why a protection finalizer of Kubernetes stays. It sets no reason if another
// finalizer or a dependent holds the object as well.
func (out *Outcome) heldByProtection(w wait) {
	noDependents := len(out.Blocked.Dependents) == 0
	out.Blocked.Dependents = append(out.Blocked.Dependents, w.remaining...)
	out.Detail = w.detail
	if !noDependents || slices.ContainsFunc(out.Blocked.Finalizers, func(name string) bool { return name != w.holds }) {
		return
	}
	switch {
	case w.unknown:
		out.MarkUnknown(reason.ProtectionUnknown)
	case w.used:
		out.Reason = string(reason.InUse)
	case w.neverReleased:
		out.Reason = string(reason.LeftAlone)
	}
}

// setReason sets the reason unless there is one already: the first obstacle found is reported.
func (out *Outcome) setReason(r reason.Code) {
	if out.Reason == "" {
		out.Reason = string(r)
	}
}

// waitsForOthers reports whether the object still exists only because other objects do.
func (out *Outcome) waitsForOthers() bool {
	if out.Result != report.Blocked {
		return false
	}
	switch reason.Code(out.Reason) {
	case reason.BlockingDependents:
		return true
	case reason.ContentRemains, reason.InUse:
		return len(out.Blocked.Dependents) > 0
	default:
		return false
	}
}

// spreadWaiting decides about objects that wait for others. An object that waits for one that stays
// is blocked. An object that waits only for unknown outcomes is unknown. The rest wait in a cycle.
func (j *Judge) spreadWaiting(all *Outcomes) {
	waiters := map[*Outcome][]*Outcome{}
	var firm, open []*Outcome
	for _, out := range all.All() {
		if !out.waitsForOthers() {
			continue
		}
		for _, ref := range out.Blocked.Dependents {
			if d := j.Of(all, ref); d != nil {
				waiters[d] = append(waiters[d], out)
			} else if tr := j.Tracks.ByUID(ref.UID); tr != nil && tr.Decision.undecided() || j.Tracks.Shared[ref.UID] {
				out.open = true
			} else if j.mayYetGo(ref) {
				out.lingering = true
			} else {
				firm = append(firm, out) // nothing touched it: it simply stays
			}
		}
	}
	for d := range waiters {
		if d.Result == report.Unknown {
			open = append(open, d)
		} else if !d.waitsForOthers() {
			firm = append(firm, d)
		}
	}
	stays, unknown := propagate(firm, waiters), propagate(open, waiters)
	for _, out := range all.All() {
		if !out.waitsForOthers() || stays[out] {
			continue
		}
		switch content := out.Reason == string(reason.ContentRemains); {
		case out.overdue != nil:
			out.markOverdue(*out.overdue)
		case content && out.open:
			out.MarkUnknown(reason.ContentNotCovered)
		case unknown[out] || out.open || out.lingering:
			out.MarkUnknown(reason.DependentUnknown)
		case !content:
			out.Reason = string(reason.CycleOfWaiting)
		}
	}
}

// propagate returns starts and every outcome that waits for one of them, directly or not.
func propagate(starts []*Outcome, waiters map[*Outcome][]*Outcome) map[*Outcome]bool {
	marked := map[*Outcome]bool{}
	for len(starts) > 0 {
		out := starts[len(starts)-1]
		starts = starts[:len(starts)-1]
		if !marked[out] {
			marked[out] = true
			starts = append(starts, waiters[out]...)
		}
	}
	return marked
}

// Doubt marks an outcome of list as Unknown if its object may go: the uid is shared, or no object
// that it waits for is known to stay. others has the outcomes of objects that list lacks.
func (j *Judge) Doubt(list, others *Outcomes) {
	for _, out := range list.All() {
		if j.Tracks.Ambiguous(out.Track) {
			out.MarkUnknown(reason.SharedUID)
		}
	}
	stays := func(ref object.Ref) bool {
		d := j.Of(list, ref)
		if d == nil {
			d = j.Of(others, ref)
		}
		return d == nil && !j.Tracks.Shared[ref.UID] || d != nil && d.Result != report.Unknown
	}
	// staying counts, for each waiting outcome, the objects it waits for that are known to stay.
	// waiters is the reverse index, for objects of list.
	staying, waiters := map[*Outcome]int{}, map[*Outcome][]*Outcome{}
	var open []*Outcome
	for _, out := range list.All() {
		if !out.waitsForOthers() {
			continue
		}
		for _, ref := range out.Blocked.Dependents {
			if !stays(ref) {
				continue
			}
			staying[out]++
			if d := j.Of(list, ref); d != nil {
				waiters[d] = append(waiters[d], out)
			}
		}
		if staying[out] == 0 {
			open = append(open, out)
		}
	}
	for len(open) > 0 {
		out := open[len(open)-1]
		open = open[:len(open)-1]
		out.MarkUnknown(reason.DependentUnknown)
		for _, w := range waiters[out] {
			if staying[w]--; staying[w] == 0 {
				open = append(open, w)
			}
		}
	}
}

// Waiting returns what an object that is being deleted waits for now.
func (j *Judge) Waiting(tr *Track) *Outcome {
	out := &Outcome{Track: tr, AlreadyHappening: true}
	j.judgeBlocked(out)
	return out
}

// wait is what a namespace, definition, pod, claim or volume waits for.
type wait struct {
	remaining []object.Ref
	detail    string
	// holds is the finalizer of Kubernetes that stays because of the wait; empty for other waits.
	holds string
	// conditions are the conditions of a waiting namespace. broken: discovery fails.
	conditions []string
	broken     bool
	// used: remaining has the users of the object. neverReleased: the controller will not remove the
	// finalizer from this object.
	used, neverReleased bool
	// pod is why nothing ends a pod; empty for other waits.
	pod reason.Code
	// unknown: the obstacle may not exist. It is false if another obstacle is known to exist.
	unknown bool
}

// waitOf combines what the controllers wait for with an object. It returns false if they wait for
// nothing.
func (j *Judge) waitOf(ref object.Ref) (wait, bool) {
	var found wait
	var details, gaps []string
	waits := j.WaitsOf(ref)
	for _, x := range waits {
		found.broken = found.broken || x.Reason == controllers.DiscoveryFails
		found.unknown = found.unknown || x.Unknown()
		for _, r := range x.Remaining {
			found.remaining = append(found.remaining, r)
		}
		found.holds = cmp.Or(found.holds, x.Holds)
		found.used = found.used || x.Reason == controllers.ClaimInUse || x.Reason == controllers.VolumeBound
		switch x.Reason {
		case controllers.NodeNotReady:
			found.pod = reason.NodeNotReady
		case controllers.NodeGone:
			found.pod = reason.NodeGone
		default:
		}
		found.neverReleased = found.neverReleased || x.Reason == controllers.ManagedElsewhere
		switch {
		case x.Unknown():
			gaps = append(gaps, waitText(x))
		case x.Reason == controllers.PodsRemain && !j.Snap.Version().Doubts(release.OrderedNamespaces):
			details = append(details, "pods go first, and while there are any its conditions say that all has been removed")
		case x.Reason == controllers.Refused || len(x.Remaining) == 0:
			details = append(details, waitText(x))
		}
	}
	if len(found.remaining) == 0 && !found.broken {
		details = append(details, gaps...)
	}
	const most = 4
	if len(details) > most {
		details = append(details[:most], fmt.Sprintf("and %d more", len(details)-most))
	}
	found.conditions = controllers.ConditionsOf(waits)
	found.unknown = found.unknown && len(found.remaining) == 0 && !found.broken
	found.detail = strings.Join(details, "; ")
	return found, len(waits) > 0
}

func waitText(w controllers.Wait) string {
	what := w.Resource.Name
	if w.Resource.Group != "" {
		what += "." + w.Resource.Group
	}
	switch {
	case w.Reason == controllers.TokensRemain:
		names := make([]string, len(w.Finalizers))
		for i, f := range w.Finalizers {
			names[i] = f.Name
		}
		return "spec.finalizers has " + strings.Join(names, ", ")
	case w.Reason == controllers.NotCovered && what != "":
		return strings.TrimSpace(what + ": " + object.WithoutCode(w.Why))
	case w.Why != "":
		return strings.TrimSpace(what + " " + w.Why)
	default:
		return strings.TrimSpace(what + " " + string(w.Reason))
	}
}

// assumption returns the assumption behind the steps of an actor. It returns false if no controller
// has that name.
func (j *Judge) assumption(actor string) (string, bool) {
	for _, c := range j.Controllers {
		if c.Name() == actor {
			return c.Assumption(), true
		}
	}
	return "", false
}
