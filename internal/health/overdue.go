package health

import (
	"regexp"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// Component is a component that is responsible for the next step of a deletion.
type Component int

// The responsible components.
const (
	// Collector is the garbage collector.
	Collector Component = iota + 1
	// NamespaceController is the namespace controller.
	NamespaceController
	// Manager is any other controller of kube-controller-manager.
	Manager
	// CRDController is the controller of the API server that deletes custom resources with their
	// CRD.
	CRDController
	// Kubelet is the kubelet of a pod's node.
	Kubelet
)

// Lateness says why a controller that should have completed a deletion has not.
type Lateness struct {
	// Reason says which controller is overdue, or why its attempts fail.
	Reason reason.Code
	// Proven is true if the evidence shows that the controller does not work. Age alone proves
	// nothing: a working controller may retry only after its longest back-off.
	Proven bool
	// Detail is the message of the server. It is empty if only the age is known.
	Detail string
	// Manager judges kube-controller-manager, if the controller runs in it.
	Manager Judgement
}

// Late judges a controller that is responsible for the next step of a deletion that nothing else
// blocks. It returns false until OverdueAfter is exceeded, and if the age is unknown. A failed last
// attempt counts at once, and so does a kube-controller-manager that is gone if the controller runs
// in it.
func (s *Assessment) Late(o *object.Object, by Component) (Lateness, bool) {
	if by == Collector {
		return s.LateCollector(o, s.CollectorState())
	}
	if l, fails := s.CleanupFails(o); fails && (by == NamespaceController || by == CRDController) {
		return l, true
	}
	inManager := by == NamespaceController || by == Manager
	stopped := inManager && o.BeingDeleted() && s.ManagerState() == report.FinalizerControllerGone
	if !s.Overdue(o) && !stopped || by == NamespaceController && s.Retries(o) || by == Manager && s.PodGCTakesOver(o) {
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
	l.Reason = reason.ControllerNotWorking
	return l, true
}

// CollectorState returns the state of the garbage collector in the snapshot: Stopped if the lease
// of kube-controller-manager has expired, and Running otherwise.
func (s *Assessment) CollectorState() report.CollectorState {
	if s.ManagerState() == report.FinalizerControllerGone {
		return report.CollectorStopped
	}
	return report.CollectorRunning
}

// LateCollector is Late for the garbage collector in a state. One that has just started is not
// late, one that does not run is late at once, and one that runs may have missed the deletion.
func (s *Assessment) LateCollector(o *object.Object, state report.CollectorState) (Lateness, bool) {
	stopped := state == report.CollectorStopped
	if !o.BeingDeleted() || state == report.CollectorRestarted || !stopped && !s.Overdue(o) {
		return Lateness{}, false
	}
	l := Lateness{Reason: reason.CollectorNotWorking, Proven: stopped, Manager: s.Manager(o)}
	if runs := l.Manager.State; !stopped && (runs == report.FinalizerControllerAlive || runs == report.FinalizerControllerSlow) {
		l.Reason = reason.DeletionForgotten
	}
	return l, true
}

// CleanupFails reports whether the conditions of a namespace or a CRD say that its last cleanup
// failed, for a reason that is not known to have passed.
//
// Upstream: pkg/controller/namespace/deletion/status_condition_utils.go ProcessGroupVersionErr,
// ProcessDiscoverResourcesErr, makeDeleteContentCondition.
// Upstream: apiextensions-apiserver/pkg/controller/finalizer/crd_finalizer.go CRDFinalizer.sync.
func (s *Assessment) CleanupFails(o *object.Object) (Lateness, bool) {
	if !o.BeingDeleted() || s.evidence == nil {
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

// failingNamespace returns the condition of a namespace that says that its content cannot be
// discovered or deleted. It skips a discovery failure if an aggregated API is known to be down,
// since that is reported elsewhere.
func (s *Assessment) failingNamespace(name string) Condition {
	list := s.ConditionsOfNamespace(name)
	discovery, _ := Find(list, discoveryFailure)
	parsing, _ := Find(list, "NamespaceDeletionGroupVersionParsingFailure")
	content, _ := Find(list, "NamespaceDeletionContentFailure")
	switch {
	case discovery.True() && len(s.APIServices()) == 0 && !s.DiscoveryWorks() && !s.passed(discovery):
		return discovery
	case parsing.True():
		return parsing
	case content.True() && !OnlyRemains(content.Message) && !s.passed(content):
		return content
	}
	return Condition{}
}

const discoveryFailure = "NamespaceDeletionDiscoveryFailure"

// Retries reports whether the namespace controller will soon retry a deletion that failed in
// discovery: it is known to run, and discovery is known to work now.
func (s *Assessment) Retries(namespace *object.Object) bool {
	c, _ := Find(s.ConditionsOfNamespace(namespace.Name), discoveryFailure)
	return c.True() && s.DiscoveryWorks() && s.ManagerRuns()
}

// DiscoveryWorks reports whether discovery of all API groups is known to work now.
func (s *Assessment) DiscoveryWorks() bool {
	return s.snap.KnowsAllKinds() && s.evidence.CompletenessOf(APIServices, "").Whole && len(s.APIServices()) == 0
}

// ConditionsOfNamespace returns the conditions of a namespace. It returns nil if it was not read.
func (s *Assessment) ConditionsOfNamespace(name string) []Condition {
	return s.namespaceConditions[name]
}

// ConditionsOfDefinition returns the conditions of a CRD. It returns nil if it was not read.
func (s *Assessment) ConditionsOfDefinition(name string) []Condition { return s.crdConditions[name] }

// OnlyRemains reports whether the message of a condition lists no other failures than content that
// remained after the last attempt, which is normal during a deletion.
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

// Remaining returns the resources, as kubectl accepts them, of the objects that the namespace
// controller found in its last attempt to empty a namespace. It is empty if the condition names
// none.
//
// Upstream: pkg/controller/namespace/deletion/status_condition_utils.go ProcessContentTotals.
func (s *Assessment) Remaining(namespace string) []string {
	c, _ := Find(s.ConditionsOfNamespace(namespace), "NamespaceContentRemaining")
	if !c.True() {
		return nil
	}
	var resources []string
	for _, found := range remaining.FindAllStringSubmatch(c.Message, -1) {
		resources = append(resources, strings.TrimSuffix(found[1], "."))
	}
	return resources
}

var (
	remaining           = regexp.MustCompile(`([a-z0-9]+\.[a-z0-9.-]*) has [0-9]+ resource instances`)
	failingGroupVersion = regexp.MustCompile(`\b([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)/(v[0-9][a-z0-9]*): `)
	failingWebhook      = regexp.MustCompile(`failed calling webhook "([^"]+)"`)
)

// UnansweredAPIs returns the APIServices that a message of the namespace controller reports as
// failing.
//
// Upstream: client-go/discovery/discovery_client.go ErrGroupDiscoveryFailed.Error.
func UnansweredAPIs(message string) []string {
	var names []string
	for _, found := range failingGroupVersion.FindAllStringSubmatch(message, -1) {
		names = append(names, found[2]+"."+found[1])
	}
	return names
}

// CalledWebhook returns the webhook that a message of the API server reports as failed; "" for
// none.
//
// Upstream: apiserver/pkg/util/webhook/error.go ErrCallingWebhook.Error.
func CalledWebhook(message string) string {
	if found := failingWebhook.FindStringSubmatch(message); found != nil {
		return found[1]
	}
	return ""
}
