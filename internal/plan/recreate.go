package plan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// addRecreator adds to the effect on an object that goes the controller that creates it again.
func (s *finalState) addRecreator(e *report.Effect, o *object.Object) {
	if e.Outcome != report.Deleted {
		return
	}
	again, ok := controllers.ComesBack(s, o)
	if !ok {
		again, ok = s.restored(o)
	}
	if !ok {
		again, ok = s.recreatedPart(o)
	}
	if !ok || s.namespaceGoes(o) {
		return
	}
	e.Recreator, e.RecreatedIf = again.Controller, again.If
	e.RecreatedWhen = cmp.Or(again.When, s.refusedRecreation(o), s.withoutNode(o))
	if again.For.Name != "" {
		ref := again.For
		e.RecreatedBy = &ref
	}
	if again.Assumption != "" {
		e.Assumptions = append(slices.Clip(e.Assumptions), "for what comes back, "+again.Assumption)
	}
}

// recreatedPart returns the Recreation of an object that an operator maintains for another one that stays. The
// controller of a custom resource of another kind may do so, too.
func (s *finalState) recreatedPart(o *object.Object) (again controllers.Recreation, ok bool) {
	for _, owner := range s.ownersOf(o) {
		op := finalizer.RecreatorOf(owner, o)
		by, controlled := o.Controller()
		switch {
		case op != nil && op.Ends(o):
			return controllers.Recreation{}, false
		case op != nil:
			again := controllers.Recreation{Controller: op.Name, For: owner.Ref, When: op.When, If: s.inventoryFinder().ConditionOf(op, owner), Assumption: op.Assumption}
			if !s.runs(op.ControllersFor(owner)...) {
				again.If = strings.TrimSuffix("it runs and "+again.If, " and ")
			}
			return again, true
		case !ok && controlled && by.UID == owner.UID && object.MayBeCustom(owner.Group()):
			again, ok = controllers.Recreation{Controller: "the controller of " + owner.Kind, For: owner.Ref, If: "it maintains it"}, true
		}
	}
	return again, ok
}

// ownersOf returns the objects that stay and own an object, or have it made: as an instance of kro, or by a field.
func (s *finalState) ownersOf(o *object.Object) (list []*object.Object) {
	add := func(ref object.Ref) {
		x := s.snap.ObjectAt(ref.Coordinates())
		if x == nil || x.UID != ref.UID {
			return
		}
		if x, standing := s.Find(x.Ref); standing == controllers.Lives {
			list = append(list, x)
		}
	}
	for _, by := range o.Owners {
		add(by.In(o.Namespace))
	}
	if x := s.inventoryFinder().InstanceOf(o); x != nil {
		add(x.Ref)
	}
	for _, ref := range s.makersOf(o) {
		add(ref)
	}
	return list
}

// makersOf returns the objects with a field that names an object that their controller creates if it is missing:
// the Certificate of a Secret.
func (s *finalState) makersOf(o *object.Object) []object.Ref {
	if s.makers == nil {
		s.makers = map[object.Coordinates][]object.Ref{}
		if s.options.Health != nil {
			for _, user := range s.options.Health.Referrers() {
				for i := range user.References {
					if r := &user.References[i]; r.Rule(user.Ref.GroupKind()).Created {
						s.makers[r.Target()] = append(s.makers[r.Target()], user.Ref)
					}
				}
			}
		}
	}
	return s.makers[o.Coordinates()]
}

// runs reports whether one of the controllers works, in pods that the request does not delete for good.
func (s *simulation) runs(programs ...*finalizer.Controller) bool {
	h := s.options.Health
	return h != nil && slices.ContainsFunc(programs, func(c *finalizer.Controller) bool {
		return slices.ContainsFunc(h.Working(c), controllerLookup{assessment: h, snap: s.snap, judge: s.judge}.podStays)
	})
}

// restored returns the Recreation of an object that a deployer applies again. It does so if it runs, and the object
// for which it has applied it stays.
func (s *finalState) restored(o *object.Object) (controllers.Recreation, bool) {
	from, d := s.inventoryFinder().RestorerOf(o)
	if from == nil {
		return controllers.Recreation{}, false
	}
	if _, standing := s.Find(from.Ref); standing != controllers.Lives {
		return controllers.Recreation{}, false
	}
	by, _ := RemovedBy(d.Finalizers[0], from.Kind)
	again := controllers.Recreation{Controller: by, For: from.Ref, When: d.Restored, Assumption: by + " still has it in its source"}
	switch r := s.finalizerControllers.withController(from, report.Release{Object: from.Ref, Finalizer: d.Finalizers[0], State: report.ControllerUnknown}); r.State {
	case report.ControllerGone, report.ControllerPaused:
		return controllers.Recreation{}, false
	case report.ControllerRuns:
	default:
		again.If = "it runs"
	}
	return again, true
}

// refusedRecreation returns when an object is created again that a webhook must admit, if that does not
// answer; empty for at once.
func (s *finalState) refusedRecreation(o *object.Object) string {
	if s.options.Health == nil {
		return ""
	}
	if surely, _ := s.options.Health.Webhooks(health.Write{Operation: health.Create, Object: o}); len(surely) > 0 {
		return onceAnswered(surely[0])
	}
	return ""
}

// namespaceGoes reports whether an object cannot be created again, because its namespace is being deleted.
//
// Upstream: apiserver/pkg/admission/plugin/namespace/lifecycle/admission.go Lifecycle.Admit.
func (s *finalState) namespaceGoes(o *object.Object) bool {
	namespace := s.snap.FindKind(object.Namespace, "", o.Namespace)
	if namespace == nil {
		return false
	}
	_, standing := s.Find(namespace.Ref)
	return standing == controllers.Gone
}

// withoutNode says that a pod that is created again does not run, because no node is left for it: each is
// gone, cordoned, or without a kubelet. Empty if a node may run it.
func (s *finalState) withoutNode(o *object.Object) string {
	if pod := o.Pod(); pod == nil || pod.Mirror || pod.NodeName == "" {
		return ""
	}
	if !s.nodelessKnown {
		s.nodelessKnown = true
		nodes := s.snap.All(object.Node.GroupResource())
		s.nodeless = len(nodes) > 0 && s.snap.Covers(object.Node.Resource(), "") && !slices.ContainsFunc(nodes, s.runsNewPods)
	}
	if !s.nodeless {
		return ""
	}
	return "but no node is left to run it"
}

// runsNewPods reports whether a node may run new pods.
func (s *finalState) runsNewPods(node *object.Object) bool {
	if _, standing := s.Find(node.Ref); standing != controllers.Lives {
		return false
	}
	if s.options.Health == nil {
		return true
	}
	state, _ := s.options.Health.Node(node.Name)
	return state != health.NodeNotReady && !s.options.Health.Cordoned(node.Name)
}
