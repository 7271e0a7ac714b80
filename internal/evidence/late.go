package evidence

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// Doer is who ends deletions and, when its turn comes, waits for nobody else.
type Doer int

// The doers.
const (
	// Collector is the garbage collector.
	Collector Doer = iota + 1
	// Namespaces is the namespace controller.
	NamespaceController
	// Manager is any other controller of kube-controller-manager.
	Manager
	// Definitions is the part of the API server that deletes custom resources with their
	// definition.
	CRDController
	// Kubelet is the kubelet of a pod's node.
	Kubelet
)

// inManager reports whether a doer runs in kube-controller-manager.
func (d Doer) inManager() bool { return d == Collector || d == NamespaceController || d == Manager }

// Lateness is the judgement on a doer that could have ended a deletion long ago.
type Lateness struct {
	// Reason says who is late, or why what is done does not succeed.
	Reason reason.Code
	// Proven tells that the evidence shows that the doer does not work. Age alone proves
	// nothing: whoever works may be about to try again, after the longest pause of its
	// back-off.
	Proven bool
	// Detail is the server's own word, for people; empty where only the time speaks.
	Detail string
	// Manager is about kube-controller-manager, where the doer is in it.
	Manager Judgement
}

// Late judges a doer whose turn it is to go on with the deletion of an object: nothing
// else holds that up. It is not late, as far as is known, before Patience is over, and
// where the time is not known. That the last try has failed, or that kube-controller-manager is
// gone, in which it runs, counts at once.
func (s *Surroundings) Late(o *object.Object, by Doer) (Lateness, bool) {
	if l, fails := s.Fails(o); fails && (by == NamespaceController || by == CRDController) {
		return l, true
	}
	stopped := by.inManager() && o.BeingDeleted() && s.ManagerStands() == report.FinalizerControllerGone
	if !s.Overdue(o) && !stopped || by == NamespaceController && s.Retries(o) {
		return Lateness{}, false
	}
	l := Lateness{}
	switch by {
	case Kubelet:
		l.Reason = reason.PodNotFinished
		return l, true
	case CRDController:
		l.Reason = reason.CRDCleanupFails
		return l, true
	case Collector, NamespaceController, Manager:
	}
	l.Manager = s.Manager(o)
	l.Proven = l.Manager.State == report.FinalizerControllerGone
	switch {
	case by != Collector:
		l.Reason = reason.ControllerNotWorking
	case l.Manager.State == report.FinalizerControllerAlive, l.Manager.State == report.FinalizerControllerSlow:
		l.Reason = reason.DeletionForgotten
	default:
		l.Reason = reason.CollectorNotWorking
	}
	return l, true
}

// Fails tells of a namespace or a definition that its last clean-up has failed, by the
// word of whoever tried, for a reason that is not known to have passed.
//
// Upstream: pkg/controller/namespace/deletion/status_condition_utils.go ProcessGroupVersionErr,
// ProcessDiscoverResourcesErr, makeDeleteContentCondition.
// Upstream: apiextensions-apiserver/pkg/controller/finalizer/crd_finalizer.go CRDFinalizer.sync.
func (s *Surroundings) Fails(o *object.Object) (Lateness, bool) {
	if !o.BeingDeleted() || s.seen == nil {
		return Lateness{}, false
	}
	var c Condition
	l := Lateness{}
	switch {
	case o.Is(object.Namespace):
		c, l.Reason = s.failingNamespace(o.Name), reason.NamespaceDeletionFails
	case o.Is(object.CRD):
		c, _ = Find(s.ConditionsOfDefinition(o.Name), "Terminating")
		if c.Reason != instancesFail {
			c = Condition{}
		}
		l.Reason = reason.CRDCleanupFails
	}
	l.Detail = Clip(c.Message)
	return l, c.True()
}

// failingNamespace is the condition of a namespace that says that its content cannot be
// discovered or deleted. An aggregated API that is down is known as such.
func (s *Surroundings) failingNamespace(name string) Condition {
	list, _ := s.ConditionsOfNamespace(name)
	discovery, _ := Find(list, discoveryFailure)
	parsing, _ := Find(list, "NamespaceDeletionGroupVersionParsingFailure")
	content, _ := Find(list, "NamespaceDeletionContentFailure")
	switch {
	case discovery.True() && len(s.APIServices()) == 0 && !s.DiscoveryWorks():
		return discovery
	case parsing.True():
		return parsing
	case content.True() && !OnlyRemains(content.Message):
		return content
	}
	return Condition{}
}

const discoveryFailure = "NamespaceDeletionDiscoveryFailure"

// Retries reports whether the namespace controller, which was seen to run, is about to try
// again what it could not do because discovery failed: discovery works now.
func (s *Surroundings) Retries(namespace *object.Object) bool {
	list, _ := s.ConditionsOfNamespace(namespace.Name)
	c, _ := Find(list, discoveryFailure)
	return c.True() && s.DiscoveryWorks() && s.ManagerRuns()
}

// DiscoveryWorks reports whether everything that is served is known to be discovered now.
func (s *Surroundings) DiscoveryWorks() bool {
	return s.snap.KnowsAllKinds() && s.seen.Sight(APIServices, "").Whole && len(s.APIServices()) == 0
}

// ConditionsOfNamespace are those of a namespace; false when it was not seen.
func (s *Surroundings) ConditionsOfNamespace(name string) ([]Condition, bool) {
	if s.seen != nil {
		for _, ns := range s.seen.Namespaces {
			if ns.Ref.Name == name {
				return ns.Conditions, true
			}
		}
	}
	return nil, false
}

// ConditionsOfDefinition are those of a definition.
func (s *Surroundings) ConditionsOfDefinition(name string) []Condition {
	if s.seen != nil {
		for n := range s.seen.Definitions {
			if d := &s.seen.Definitions[n]; d.Ref.Name == name {
				return d.Conditions
			}
		}
	}
	return nil
}

// OnlyRemains reports whether the failures that a condition lists say no more than that
// content was still there when it was looked for again, as it is while it goes.
//
// Upstream: pkg/controller/namespace/deletion/namespaced_resources_deleter.go deleteAllContentForGroupVersionResource.
// Upstream: pkg/controller/namespace/deletion/status_condition_utils.go makeDeleteContentCondition:
// joins the errors.
func OnlyRemains(message string) bool {
	_, errors, found := strings.Cut(message, " remaining: ")
	if !found {
		return false
	}
	for e := range strings.SplitSeq(errors, ", unexpected ") {
		if e = strings.TrimPrefix(e, "unexpected "); !strings.HasPrefix(e, "items still remain in namespace: ") || strings.Count(e, ", ") > 1 {
			return false
		}
	}
	return true
}
