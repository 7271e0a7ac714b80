package diagnose

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// find derives the ends of an object from its simulated outcome. For an object that is being
// deleted, the result is empty only in a cycle: everything that it waits for is open already.
func (i *inquiry) find(o *object.Object) []end {
	var ends []end
	if i.unserved(o) {
		ends = append(ends, i.notServed(o))
	} else {
		ends = i.simulated(o)
	}
	if waitsForEarlier := i.closes < len(i.open)-1; len(ends) == 0 && !waitsForEarlier {
		ends = append(ends, i.underWay(o)...)
	}
	return ends
}

// unserved reports whether no request can reach the object.
func (i *inquiry) unserved(o *object.Object) bool {
	_, err := i.snap.Resources.For(o.APIVersion, o.Kind)
	return err != nil && i.snap.KnowsKindsOf(o.APIVersion)
}

func (i *inquiry) simulated(o *object.Object) []end {
	e := i.effects[o.Ref]
	switch {
	case e == nil:
		return i.foreign(o, o.Finalizers())
	case e.Outcome == report.Blocked:
		return i.blocked(o, e)
	case e.Outcome == report.Unknown:
		return i.doubtful(o, e)
	}
	// It goes if controllers do their part. Find those that do not run.
	return i.pending(o)
}

// blocked handles an object that still exists at the end of the simulation.
func (i *inquiry) blocked(o *object.Object, e *report.Effect) []end {
	var names []string
	var dependents []object.Ref
	if b := e.BlockedBy; b != nil {
		names, dependents = b.Finalizers, b.Dependents
	}
	switch reason.Code(e.Reason) {
	case reason.WaitsForItself:
		return []end{i.deadlock(o, reason.SelfBlock, nil)}
	case reason.CycleOfWaiting:
		return append(i.foreign(o, names), i.deadlock(o, reason.WaitingCycle, dependents))
	case reason.OrphaningFails:
		return append(i.foreign(o, names), i.orphaning(o, dependents))
	case reason.DeletionMissed, reason.CollectorNotWorking, reason.ControllerNotWorking, reason.CRDCleanupFails,
		reason.NamespaceDeletionFails, reason.PodNotFinished:
		return i.overdue(o, e, dependents)
	case reason.GracePeriodRuns, reason.NodeNotReady, reason.NodeGone:
		return append(i.foreign(o, names), i.pod(o)...)
	case reason.InUse:
		if len(dependents) == 0 {
			return i.foreign(o, names)
		}
		return i.inUse(o, names, dependents)
	case reason.LeftAlone:
		return i.leftAlone(o, e, names)
	case reason.ContentRemains, reason.DiscoveryFails, reason.APIServiceUnavailable:
		return i.contained(o, e, names, dependents)
	case reason.WebhookUnreachable, reason.ConversionFails, reason.PolicyDenies:
		return i.refusedWrites(o, e, names, dependents)
	default:
		if o.Is(object.Namespace) {
			return i.contained(o, e, names, dependents)
		}
		if !o.HasFinalizer(object.Foreground) && len(dependents) > 0 {
			return i.usedAndHeld(o, names, dependents)
		}
		ends := i.foreign(o, names)
		if o.Is(object.Pod) && waitsForKubelet(o) {
			ends = append(ends, i.pod(o)...)
		}
		return append(ends, i.follow(o, string(reason.BlockingDependents), dependents, func(d object.Ref) (end, bool) {
			return i.liveDependent(o, d), true
		})...)
	}
}

// doubtful handles an object with an unknown outcome.
func (i *inquiry) doubtful(o *object.Object, e *report.Effect) []end {
	var names []string
	var ends []end
	mayBeRefused := func(ref object.Ref) bool { return i.reasonFor(ref) == reason.PolicyUnknown }
	switch b := e.BlockedBy; {
	case reason.Code(e.Reason) == reason.HolderNotShown:
		return []end{i.notSeen(o, e)}
	case b != nil && (reason.Code(e.Reason) == reason.PolicyUnknown || slices.ContainsFunc(b.Dependents, mayBeRefused)):
		if ends := i.refusedWrites(o, e, b.Finalizers, b.Dependents); len(ends) > 0 {
			return ends
		}
	case b != nil && reason.Code(e.Reason).Overdue():
		return i.overdue(o, e, b.Dependents)
	case b != nil && len(i.users(o)) > 0:
		return i.inUse(o, b.Finalizers, i.users(o))
	case b != nil:
		names = b.Finalizers
		ends = i.follow(o, waitingFor(o, e), b.Dependents, func(d object.Ref) (end, bool) {
			if i.neverJudged(d) {
				return i.liveDependent(o, d), true
			}
			return end{}, false
		})
	}
	if reason.Code(e.Reason) != reason.ProtectionUnknown {
		ends = append(ends, i.foreign(o, names)...)
	}
	followed := e.BlockedBy != nil && len(e.BlockedBy.Dependents) > 0
	if o.Is(object.Namespace) {
		byFinalizers := len(ends)
		ends = append(ends, i.namespace(o)...)
		if !followed {
			ends = i.moving(ends, o, string(reason.ContentRemains), i.content[o.Name])
		}
		if len(ends) == byFinalizers && len(i.health.Remaining(o.Name)) > 0 {
			ends = append(ends, i.notSeen(o, e)) // its conditions name content that the snapshot lacks
		}
	}
	if o.Is(object.CRD) {
		ends = append(ends, i.definition(o)...)
		if !followed {
			ends = i.moving(ends, o, string(reason.ContentRemains), i.instancesOf(o))
		}
	}
	if len(ends) > 0 {
		return ends
	}
	if o.Is(object.CRD) && i.health.Overdue(o) && (reason.Code(e.Reason) != reason.ContentNotCovered || servesNothing(o)) {
		x := endAt(o, reason.CRDCleanupFails)
		x.detail = e.Message
		x.prove(reason.SimulationSays, nil, e.Message)
		return []end{i.controllerBehind(o, x)}
	}
	return []end{i.notSeen(o, e)}
}

// servesNothing reports whether a CRD has versions, but serves none of them. Its instances can be
// neither listed nor updated, so that their finalizers cannot be removed.
func servesNothing(crd *object.Object) bool {
	d := crd.Definition()
	return d != nil && len(d.Versions) > 0 && !slices.ContainsFunc(d.Versions, func(v object.CRDVersion) bool { return v.Served })
}

// waitingFor returns what an object with an unknown outcome waits for.
func waitingFor(o *object.Object, e *report.Effect) string {
	switch {
	case e.Reason != string(reason.DependentUnknown):
		return e.Reason
	case o.Is(object.Namespace), o.Is(object.CRD):
		return string(reason.ContentRemains)
	case o.HasFinalizer(object.Foreground):
		return string(reason.BlockingDependents)
	default:
		return string(reason.InUse)
	}
}

// neverJudged reports whether a dependent has an owner of a kind that is known not to be served: the
// collector never decides about it. (Q4)
func (i *inquiry) neverJudged(d object.Ref) bool {
	e := i.effects[d]
	return e != nil && reason.Code(e.Reason) == reason.UnknownOwnerKind && len(e.Because) > 0 && i.snap.KnowsKindsOf(e.Because[0].APIVersion)
}

// notSeen handles an object if the snapshot does not show what it waits for. The conditions of a
// namespace may say it.
func (i *inquiry) notSeen(o *object.Object, x *report.Effect) end {
	e := endAt(o, reason.EndNotSeen)
	e.prove(reason.SimulationSays, nil, x.Message)
	if o.Is(object.Namespace) {
		i.remaining(o, &e)
	}
	switch reason.Code(x.Reason) {
	case reason.DependentsNotCovered:
		e.detail = "its dependents may not all be known"
	case reason.HolderNotShown:
		e.detail = "it has no finalizers, which may have been cut out, or it is gone by now"
	}
	if o.Is(object.Namespace) {
		if resources := i.health.Remaining(o.Name); len(resources) > 0 {
			e.detail = "the namespace controller has last found " + strings.Join(resources, ", ")
			show := report.Act{Action: report.ShowKinds, Kinds: strings.Join(resources, ","), Target: object.Ref{Namespace: o.Name}}
			e.remedy(show, "shows what is left in it, with the finalizers that hold it", "")
			return e
		}
	}
	e.remedy(act(report.Explain, o), "says what was not seen of it", "")
	return e
}

// foreign returns the ends that are finalizers of other controllers.
func (i *inquiry) foreign(o *object.Object, names []string) []end {
	var ends []end
	seen := map[string]bool{}
	for _, name := range names {
		if name == object.Foreground || name == object.Orphan || name == definitionCleanup || seen[name] {
			continue
		}
		seen[name] = true
		if used, decided := i.protected(o, name); decided {
			ends = append(ends, used...)
			continue
		}
		ends = append(ends, i.held(o, name))
	}
	return ends
}

// leftAlone handles a finalizer of Kubernetes that its controller does not remove from this object.
func (i *inquiry) leftAlone(o *object.Object, e *report.Effect, names []string) []end {
	var ends []end
	for _, name := range names {
		x := i.heldBy(o, name, true)
		x.prove(reason.SimulationSays, nil, e.Message)
		ends = append(ends, x)
	}
	return ends
}

// contained handles a namespace or a definition that still has content.
func (i *inquiry) contained(o *object.Object, e *report.Effect, names []string, content []object.Ref) []end {
	// The clean-up of a definition waits for its instances, as a namespace does for its content.
	ends := i.foreign(o, slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == definitionCleanup }))
	if o.Is(object.Namespace) {
		ends = append(ends, i.namespace(o)...)
	}
	if o.Is(object.CRD) {
		ends = append(ends, i.definition(o)...)
	}
	for _, x := range i.follow(o, string(reason.ContentRemains), content, func(r object.Ref) (end, bool) {
		if d := i.at(r); d != nil && i.unserved(d) {
			return i.notServed(d), true
		}
		return end{}, false
	}) {
		ends = merge(ends, x)
	}
	if o.Is(object.Namespace) && len(content) == 0 && len(i.health.Remaining(o.Name)) > 0 {
		ends = append(ends, i.notSeen(o, e)) // its conditions name content that the snapshot lacks
	}
	if why, late := i.isOverdue(o.Ref); late && !slices.ContainsFunc(ends, func(x end) bool { return x.code == why || x.code == reason.APIServiceUnavailable }) {
		ends = append(ends, i.controllerBehind(o, endAt(o, why)))
	}
	if len(ends) == 0 {
		return []end{i.notSeen(o, e)}
	}
	return ends
}

// pending handles an object that goes after controllers have done their part. It returns what the
// object waits for now.
func (i *inquiry) pending(o *object.Object) []end {
	var ends []end
	switch {
	case o.Is(object.Pod) && waitsForKubelet(o):
		return i.pod(o)
	case o.Is(object.Namespace):
		ends = i.namespace(o)
		ends = i.moving(ends, o, string(reason.ContentRemains), i.content[o.Name])
	case o.Is(object.CRD):
		ends = i.definition(o)
		ends = i.moving(ends, o, string(reason.ContentRemains), i.instancesOf(o))
	}
	if o.HasFinalizer(object.Foreground) {
		ends = i.moving(ends, o, string(reason.BlockingDependents), i.going(i.blockers(o)))
	}
	for _, r := range i.finalizers.Judge(o, o.Finalizers(), finalizer.Allow{}) {
		if r.Reason == reason.ConsumerExists { // the users go as well, but may still exist
			ends = i.moving(ends, o, string(reason.InUse), r.Because)
		}
	}
	return ends
}

// going returns the objects that the simulation deletes. An object that goes although others stay
// does not wait for these. A namespace releases its content. (spec §5.3)
func (i *inquiry) going(refs []object.Ref) []object.Ref {
	return slices.DeleteFunc(refs, func(r object.Ref) bool {
		e := i.effects[r]
		return e != nil && e.Outcome != report.Deleted
	})
}

// users returns the users of a protected object that are not being deleted. A pod without a node uses
// nothing. (spec §7.1)
func (i *inquiry) users(o *object.Object) []object.Ref {
	var list []object.Ref
	for _, r := range i.finalizers.Judge(o, o.Finalizers(), finalizer.Allow{}) {
		if r.Reason == reason.ConsumerExists {
			list = append(list, r.Because...)
		}
	}
	return slices.DeleteFunc(list, func(ref object.Ref) bool {
		user := i.at(ref)
		return user == nil || user.BeingDeleted() || user.Pod() != nil && user.Pod().NodeName == ""
	})
}

// waitsForKubelet reports whether anything but finalizers holds a pod.
func waitsForKubelet(o *object.Object) bool {
	grace := o.GracePeriod()
	return len(o.Finalizers()) == 0 || grace != nil && *grace > 0
}

// moving adds the ends of the objects that o waits for now. It leaves out those that are under way:
// o is then under way as well.
func (i *inquiry) moving(ends []end, o *object.Object, waits string, others []object.Ref) []end {
	for _, e := range i.follow(o, waits, others, func(object.Ref) (end, bool) { return end{}, false }) {
		if e.code != reason.UnderWay && e.code != reason.ManagerNotSeen {
			ends = merge(ends, e)
		}
	}
	return ends
}

// instancesOf returns the objects of a definition that are being deleted.
func (i *inquiry) instancesOf(definition *object.Object) []object.Ref {
	d := definition.Definition()
	if d == nil {
		return nil
	}
	return i.instances[schema.GroupKind{Group: d.Group, Kind: d.Kind}]
}

// blockers returns the dependents that block a foreground deletion now.
func (i *inquiry) blockers(o *object.Object) []object.Ref {
	if i.graph == nil {
		i.graph = plan.Start(i.snap, engine.Upstream).Graph()
	}
	id, ok := i.graph.Find(o.UID)
	if !ok {
		return nil
	}
	refs := object.Mapped(i.graph.BlockingDependents(id), i.graph.Identity)
	slices.SortFunc(refs, object.Compare)
	return refs
}
