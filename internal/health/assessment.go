package health

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Assessment judges everything that a deletion depends on apart from the collector. It caches
// results and is not safe for concurrent use.
type Assessment struct {
	snap     *snapshot.Snapshot
	evidence *Evidence
	now      int64

	// nodes is true if the snapshot has any node. A snapshot without nodes proves nothing about
	// them.
	nodes bool
	// nodesSeen and nodeLeases are keyed by the names of nodes.
	nodesSeen  map[string]*Node
	nodeLeases map[string]*Lease
	shown      map[object.Ref]*Terminating
	// namespaceConditions and crdConditions have the conditions of namespaces and CRDs by name.
	namespaceConditions, crdConditions map[string][]Condition
	consumers                          map[object.Ref]*Consumer
	// replicas has the number of pods that each workload wants. It is computed on first use.
	replicas map[object.Ref]int
	// managerLease is the lease of kube-controller-manager. nil if it was not read.
	// managerLeaseAbsent is true if the lease is known not to exist. A dump without any lease
	// doesn't show that, because every API server has one: the dump is incomplete. managerState
	// caches the result of ManagerState.
	managerLease       *Lease
	managerLeaseAbsent bool
	managerState       *report.ControllerVerdict
	// attached is nil if there are no attachments. drains has the drains by node, computed on first
	// use.
	attached *attachments
	drains   map[string]drain

	*serviceReach
	// unreachableWebhooks are the webhooks without a working backend and with the failure policy
	// Fail.
	unreachableWebhooks []*Webhook
	// boundPolicies are the admission policies that could refuse a write.
	boundPolicies []boundPolicy
	// anyProtected is true if a webhook may refuse to delete any object because of a label or its use.
	anyProtected bool
	// unreachableConversions are the CRDs with a conversion webhook without a working backend.
	unreachableConversions []*Definition
	// drainStoppers are the budgets that stop the drain of a node that a deletion waits for, computed on
	// first use.
	drainStoppers map[object.Ref]bool
	// gone is the evidence of the objects that are gone since the snapshot: see Without.
	gone []*Shown
	// goneBudgets are the budgets of these.
	goneBudgets map[object.Ref]bool
	rights      *rights
	programs    *programs
	// candidatesCache caches the pods and workloads that may remove a finalizer.
	candidatesCache map[candidatesKey]*candidates
	// referrers are the objects with references, computed on first use.
	referrers []Referrer
	// callees are what the API server calls. calleesKnown is true once they are computed.
	callees      []Callee
	calleesKnown bool
	// objectsByKind has the objects of the snapshot by kind, computed on first use.
	objectsByKind map[schema.GroupKind][]*object.Object
	// unboundClaims has the PVCs to which no volume is bound by namespace, and bindings what finalizers
	// depend on. Both are computed on first use.
	unboundClaims map[string][]*object.Object
	bindings      *finalizer.Bindings
	// recognized caches the controller of the table that each pod belongs to.
	recognized map[*Pod]*finalizer.Controller
}

// New judges a snapshot by its evidence. The evidence may be nil: nothing is known then. It must
// not change while the result is in use. now is the time of the question in seconds since 1970. It
// is 0 if unknown: then nothing counts as expired or slow.
func New(snap *snapshot.Snapshot, seen *Evidence, now int64) *Assessment {
	s := &Assessment{
		snap: snap, evidence: seen.Sorted(), now: now,
		nodes:     len(snap.In(object.Node.GroupResource(), "")) > 0,
		nodesSeen: map[string]*Node{}, nodeLeases: map[string]*Lease{}, shown: map[object.Ref]*Terminating{},
		candidatesCache: map[candidatesKey]*candidates{}, recognized: map[*Pod]*finalizer.Controller{},
	}
	s.serviceReach, s.rights, s.programs = newReach(snap, s.evidence), newRights(s.evidence), newPrograms(s.evidence)
	if s.evidence == nil {
		return s
	}
	s.findRefusals()
	s.consumers = map[object.Ref]*Consumer{}
	for n := range s.evidence.Consumers {
		s.consumers[s.Known(s.evidence.Consumers[n].Ref)] = &s.evidence.Consumers[n]
	}
	if len(s.evidence.Attachments) > 0 {
		s.attached = s.attachmentsOf(s.evidence)
	}
	s.anyProtected = slices.ContainsFunc(snap.Objects, s.mayBeProtected)
	for n := range s.evidence.Terminating {
		t := &s.evidence.Terminating[n]
		s.shown[s.Known(t.Ref)] = t
	}
	s.namespaceConditions, s.crdConditions = map[string][]Condition{}, map[string][]Condition{}
	for _, ns := range s.evidence.Namespaces {
		s.namespaceConditions[ns.Ref.Name] = ns.Conditions
	}
	for n := range s.evidence.Definitions {
		d := &s.evidence.Definitions[n]
		s.crdConditions[d.Ref.Name] = d.Conditions
	}
	for n := range s.evidence.Nodes {
		s.nodesSeen[s.evidence.Nodes[n].Name] = &s.evidence.Nodes[n]
	}
	otherLease := false
	for n := range s.evidence.Leases {
		switch l := &s.evidence.Leases[n]; {
		case l.Namespace == "kube-node-lease":
			s.nodeLeases[l.Name] = l
		case l.Namespace == object.ManagerLease.Namespace && l.Name == object.ManagerLease.Name:
			s.managerLease = l
		case l.Namespace == object.ManagerLease.Namespace:
			otherLease = true
		}
	}
	s.managerLeaseAbsent = s.managerLease == nil && (s.evidence.managerLeaseAbsent || otherLease && s.evidence.CompletenessOf(Leases, object.ManagerLease.Namespace).Whole)
	return s
}

// findRefusals finds what may refuse writes.
func (s *Assessment) findRefusals() {
	s.unreachableWebhooks, s.unreachableConversions = nil, nil
	for n := range s.evidence.Webhooks {
		h := &s.evidence.Webhooks[n]
		if _, broken := s.Broken(&h.Client); broken && !h.Ignored {
			s.unreachableWebhooks = append(s.unreachableWebhooks, h)
		}
	}
	for n := range s.evidence.Definitions {
		d := &s.evidence.Definitions[n]
		if _, broken := s.Broken(d.Conversion); broken && d.Versions > 1 {
			s.unreachableConversions = append(s.unreachableConversions, d)
		}
	}
	s.boundPolicies = boundPoliciesOf(s.evidence)
}

// Evidence returns the sorted evidence; nil if there is none. The caller must not modify it.
func (s *Assessment) Evidence() *Evidence { return s.evidence }

// Known returns the reference that the snapshot has for an object. The evidence may have been read
// in another version.
func (s *Assessment) Known(ref object.Ref) object.Ref {
	r, err := s.snap.Resources.For(ref.APIVersion, ref.Kind)
	if err != nil {
		return ref
	}
	if p, ok := s.snap.Resources.Preferred(r.GroupResource()); ok {
		ref.APIVersion = p.APIVersion()
	}
	if o := s.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name); o != nil {
		return o.Ref
	}
	return ref
}

// Shown returns the evidence of an object that is being deleted; nil if it was not read.
func (s *Assessment) Shown(o *object.Object) *Terminating { return s.shown[o.Ref] }

// OverdueAfter is the time, in seconds, after which a controller that waits for nothing else counts
// as not working. The collector takes seconds, the back-off of the namespace controller a few
// minutes.
const OverdueAfter = 300

// Overdue reports whether a deletion that waits for nothing else should have been completed.
func (s *Assessment) Overdue(o *object.Object) bool { return s.Age(o) > OverdueAfter }

// Recent reports whether an object may be so new that no controller is overdue.
func (s *Assessment) Recent(o *object.Object) bool {
	return o.Created != 0 && s.now-o.Created <= OverdueAfter
}

// Age returns how long an object has been being deleted, in seconds. It is negative during a grace
// period, and 0 if the time is unknown or the object is not being deleted.
func (s *Assessment) Age(o *object.Object) int64 {
	if s.now == 0 || !o.BeingDeleted() {
		return 0
	}
	return s.now - o.DeletionTimestamp()
}

// Proofs are observations, and what could not be observed, the most important first.
type Proofs []report.Proof

// Add appends an observation, unless its message is empty or it is a duplicate.
func (p *Proofs) Add(code reason.Code, about *object.Ref, message string) {
	if message == "" {
		return
	}
	one := report.Proof{Reason: string(code), Object: about, Message: Clip(message)}
	same := func(q report.Proof) bool { return q.Reason == one.Reason && q.Message == one.Message }
	if !slices.ContainsFunc(*p, same) {
		*p = append(*p, one)
	}
}

// Clip puts external text onto one line of at most about 400 bytes. It cuts the middle, because the
// end of an error says why.
func Clip(text string) string {
	const most = 400
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most/2], "") + " … " + strings.ToValidUTF8(text[len(text)-most/2:], "")
}
