package past

import (
	"cmp"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// explanation is the attribution of a deletion.
type explanation struct {
	cause        Cause
	alternatives []Cause
	// byClient is true if a client's request is the cause, or may be.
	byClient bool
	// certain are all certain candidates, including the cause.
	certain []candidate
	// sent is the request in the audit log. contradicts is the certain cause that it refutes.
	sent        *AuditedRequest
	match       Match
	contradicts *Cause
}

// candidate is a cause that would have led to the deletion. since is the revision at which it began
// to apply; 0 if that is unknown or was before the history.
type candidate struct {
	Cause
	since uint64
}

// candidates are the possible causes of a deletion.
type candidates struct {
	// certain are causes that certainly apply; possible are those that may.
	certain  []candidate
	possible []Cause
	// unlikely are causes that would have left another trace.
	unlikely []Cause
}

// addCertain adds a certain cause.
func (s *candidates) addCertain(code reason.Code, by object.Ref, request int, since uint64) {
	s.certain = append(s.certain, candidate{Cause{code, by, request}, since})
}

// addPossible adds a possible cause once.
func (s *candidates) addPossible(code reason.Code, by object.Ref) {
	c := Cause{code, by, -1}
	if !slices.Contains(s.possible, c) {
		s.possible = append(s.possible, c)
	}
}

// explain returns the cause of a deletion of o that left a trace. Of several certain causes, the
// one that began to apply first counts. Without a certain cause, rankPossible ranks the possible
// ones.
func (t *tracer) explain(o *object.Object, left trace, revision uint64) explanation {
	var s candidates
	t.addGarbageCollector(&s, o, left)
	t.addNamespaceController(&s, o, left, revision)
	t.addCRD(&s, o, left)
	t.addImplicitOwner(&s, o, left)
	t.addPodGC(&s, o, left)
	if len(s.certain) > 0 {
		first := s.certain[0]
		for _, c := range s.certain[1:] {
			if c.since < first.since {
				first = c
			}
		}
		e := explanation{cause: first.Cause, certain: s.certain}
		if t.mayBeRequested(first, o) {
			e.alternatives = []Cause{{Code: reason.Requested, Request: -1}}
		}
		return e
	}
	t.addOwnController(&s, o, left, revision)
	t.addCleanup(&s, o, left)
	return t.rankPossible(&s, o)
}

// explainInRange explains a deletion that began after c.After and up to c.Revision. It adds
// alternatives if the cause at the beginning of the range differs, or began to apply within it.
func (t *tracer) explainInRange(o *object.Object, left trace, c *Change) explanation {
	e := t.explain(o, left, c.Revision)
	if c.After == 0 {
		return e
	}
	early := t.explain(o, left, c.After+1)
	doubts := append([]Cause{early.cause}, early.alternatives...)
	if slices.ContainsFunc(e.certain, func(x candidate) bool { return x.since > c.After }) {
		doubts = append(doubts, Cause{Code: reason.Requested, Request: -1})
	}
	if o.Finalizers() != nil || o.Pod() != nil && o.Pod().NodeName != "" {
		doubts = append(doubts, Cause{Code: reason.Unseen, Request: -1}) // the policy is unknown
	}
	for _, other := range doubts {
		if other.Code != e.cause.Code && !slices.ContainsFunc(e.alternatives, func(x Cause) bool { return x.Code == other.Code }) {
			e.alternatives = append(e.alternatives, other)
		}
	}
	return e
}

// rankPossible ranks uncertain causes: first the garbage collector, then the controller of a
// deleted implicit owner, then the object's controller or Kubernetes' usual cleanup, and last a
// client's request.
func (t *tracer) rankPossible(s *candidates, o *object.Object) explanation {
	requested := Cause{Code: reason.Requested, Request: -1}
	for _, first := range []func(Cause) bool{
		func(c Cause) bool {
			return c.Code == reason.OwnerWaits || c.Code == reason.OwnerGone || c.Code == reason.OwnerReplaced || c.Code == reason.OwnerNamespaceMismatch
		},
		func(c Cause) bool {
			_, went := t.lost[identityOf(c.By)]
			return went && (c.Code == reason.ServiceGone || c.Code == reason.EndpointsGone || c.Code == reason.AccountGone)
		},
		func(c Cause) bool {
			return c.Code == reason.Controller || c.Code == reason.ControllerChanged || isUsuallyCleanedUp(c.Code, o)
		},
	} {
		i := slices.IndexFunc(s.possible, first)
		if i < 0 {
			continue
		}
		c := s.possible[i]
		if c.Request < 0 {
			c.Request, _ = t.deletionBegan(c.By)
		}
		rest := slices.Delete(slices.Clone(s.possible), i, i+1)
		return explanation{cause: c, alternatives: slices.Concat([]Cause{requested}, rest, s.unlikely), byClient: c.Code == reason.Controller && !isUsuallyCleanedUp(reason.CleanedUp, o)}
	}
	return explanation{cause: requested, alternatives: slices.Concat(s.possible, s.unlikely), byClient: true}
}

// mayBeRequested reports whether a client's request may have deleted the object before a certain
// candidate did.
func (t *tracer) mayBeRequested(c candidate, o *object.Object) bool {
	switch {
	case c.since == 0 && t.created[o.UID] == 0:
		return true // the reason existed since an unknown time before the history
	case c.Code == reason.NamespaceDeleted:
		return !o.Is(object.Pod) && len(t.state.pods[o.Namespace]) > 0
	case t.orphaning[c.By.UID]:
		return true // its dependents were about to be released
	default:
		return c.Code == reason.VersionGone // other CRDs that serve it may be unknown
	}
}

// addNamespaceController adds the namespace controller, which deletes everything in a namespace
// that is being deleted, in the background.
func (t *tracer) addNamespaceController(s *candidates, o *object.Object, left trace, revision uint64) {
	if o.Namespace == "" || !t.mayLeave(o, left, background) {
		return
	}
	ref := object.Namespace.Ref("", o.Namespace)
	ns, _ := t.state.find(ref.Coordinates())
	switch {
	case ns == nil: // its content may have been removed by force
		s.addPossible(reason.NamespaceUnknown, ref)
	case !ns.BeingDeleted():
	case ns.NamespaceFacts() != nil && len(ns.NamespaceFacts().Finalizers) == 0:
		s.addPossible(reason.NamespaceDeleted, ns.Ref)
	default:
		request, since := t.deletionBegan(ns.Ref)
		switch grace := t.remainingGrace(ns, revision); {
		case grace > maxClockDifference:
		case grace > 0, !o.Is(object.Pod) && t.awaitsPods(o.Namespace, since, revision):
			s.possible = append(s.possible, Cause{reason.NamespaceDeleted, ns.Ref, request})
		default:
			s.addCertain(reason.NamespaceDeleted, ns.Ref, request, since)
		}
	}
}

// addCRD adds the API server, which deletes the instances of a CRD that is being deleted,
// without a policy.
func (t *tracer) addCRD(s *candidates, o *object.Object, left trace) {
	r, err := t.state.resources.For(o.APIVersion, o.Kind)
	switch {
	case err != nil:
		s.addPossible(reason.KindUnknown, object.Ref{APIVersion: o.APIVersion, Kind: o.Kind})
		return
	case !t.mayLeave(o, left, noPolicy):
		return
	}
	ref := definitionOf(r)
	definition, known := t.state.find(ref.Coordinates())
	_, went := t.last[ref.Coordinates()]
	switch {
	case definition == nil && known && went:
		s.addPossible(reason.DefinitionDeleted, ref)
	case definition == nil && !known && r.Custom:
		s.addPossible(reason.DefinitionUnknown, ref)
	case definition == nil: // it has none, for example with an aggregated API
	case definition.BeingDeleted():
		request, since := t.deletionBegan(definition.Ref)
		s.addCertain(reason.DefinitionDeleted, definition.Ref, request, since)
	}
}

// addPodGC adds pod GC, which deletes the pods of a deleted node. A pod that it has not deleted for
// long may have another cause.
func (t *tracer) addPodGC(s *candidates, o *object.Object, left trace) {
	facts := o.Pod()
	left.customGrace = false // pod GC uses a grace period of 0
	if facts == nil || facts.NodeName == "" || !t.mayLeave(o, left, noPolicy) {
		return
	}
	ref := object.Node.Ref("", facts.NodeName)
	if node, known := t.state.find(ref.Coordinates()); node != nil || !known {
		return
	}
	i, ok := t.last[ref.Coordinates()]
	if !ok {
		s.addPossible(reason.NodeGone, ref)
		return
	}
	node := &t.losses[i]
	s.addCertain(reason.NodeGone, node.Object.Ref, node.Cause.Request, node.Gone)
}

// deletionBegan returns the request that began the deletion of an object, and its revision. It
// returns -1 and 0 if the deletion began before the history.
func (t *tracer) deletionBegan(ref object.Ref) (request int, since uint64) {
	if i, ok := t.lost[identityOf(ref)]; ok {
		return t.losses[i].Cause.Request, t.losses[i].Began
	}
	return -1, 0
}

// trace is what a delete leaves on its object: the finalizers of the garbage collector.
type trace struct {
	orphan, foreground bool
	// customGrace is true if the delete named a grace period that is not the pod's own.
	customGrace bool
}

func traceOf(o *object.Object) trace {
	return trace{orphan: o.HasFinalizer(object.Orphan), foreground: o.HasFinalizer(object.Foreground)}
}

// traceBetween returns the trace of the delete that changed an object from before to now.
func traceBetween(before, now *object.Object) trace {
	left, got := trace{}, int64(0)
	if now.BeingDeleted() {
		left = traceOf(now)
		if period := now.GracePeriod(); period != nil {
			got = *period
		}
	}
	usual, known := defaultGracePeriod(before)
	left.customGrace = known && got != usual
	return left
}

// defaultGracePeriod returns the grace period of a pod in seconds if a delete names none.
//
// Upstream: pkg/registry/core/pod/strategy.go CheckGracefulDelete.
func defaultGracePeriod(pod *object.Object) (seconds int64, known bool) {
	facts := pod.Pod()
	switch {
	case facts == nil || !facts.VolumesKnown:
		return 0, false
	case facts.NodeName == "" || facts.Finished():
		return 0, true
	case facts.TerminationGracePeriod == nil || *facts.TerminationGracePeriod < 0:
		return 0, false
	default:
		return *facts.TerminationGracePeriod, true
	}
}

// policy returns the propagation policy. Orphan wins, as in the collector.
func (t trace) policy() metav1.DeletionPropagation {
	switch {
	case t.orphan:
		return orphan
	case t.foreground:
		return foreground
	default:
		return background
	}
}

// traceAfter returns the trace that a delete with the policy would leave. The empty policy names
// none.
func (t *tracer) traceAfter(o *object.Object, policy metav1.DeletionPropagation) trace {
	var options metav1.DeleteOptions
	if policy != "" {
		options.PropagationPolicy = &policy
	}
	standard := apisim.BackgroundDefault
	if r, err := t.state.resources.For(o.APIVersion, o.Kind); err == nil {
		standard = apisim.DefaultFor(r.GroupResource(), r.Version)
	}
	finalizers, _ := apisim.GCFinalizers(o.Finalizers(), options, standard)
	var left trace
	for _, name := range finalizers {
		left.orphan = left.orphan || name == object.Orphan
		left.foreground = left.foreground || name == object.Foreground
	}
	return left
}

// mayLeave reports whether a delete with one of the policies, and no grace period, would leave the
// trace. The first delete of a CRD leaves the same trace with all of them.
func (t *tracer) mayLeave(o *object.Object, left trace, policies ...metav1.DeletionPropagation) bool {
	if o.Is(object.CRD) {
		return true
	}
	return slices.ContainsFunc(policies, func(p metav1.DeletionPropagation) bool {
		return t.traceAfter(o, p) == left
	})
}

// collectorPolicies returns the policies that the garbage collector may use to delete an object:
// Background, Foreground, and Orphan if the object has or had that finalizer.
func (t *tracer) collectorPolicies(o *object.Object) []metav1.DeletionPropagation {
	policies := []metav1.DeletionPropagation{background, foreground}
	if t.had[o.UID].orphan {
		policies = append(policies, orphan)
	}
	return policies
}

// The policies as requests name them.
const (
	noPolicy   metav1.DeletionPropagation = ""
	background                            = metav1.DeletePropagationBackground
	foreground                            = metav1.DeletePropagationForeground
	orphan                                = metav1.DeletePropagationOrphan
)

// namespaceGraceSeconds is how many seconds the namespace controller waits after the deletion of a
// namespace began.
//
// Upstream: pkg/controller/namespace/namespace_controller.go enqueueNamespace.
const namespaceGraceSeconds = 5

// maxClockDifference is how many seconds the clocks of API servers may differ.
const maxClockDifference = 2

// remainingGrace returns how many seconds after a revision the namespace controller begins to empty
// a namespace at the earliest; 0 if it may have begun. It returns 0 for a namespace that was
// created just before its deletion: the controller may still have pending work for an earlier
// namespace of the same name.
func (t *tracer) remainingGrace(ns *object.Object, revision uint64) int64 {
	if ns.Created == 0 || ns.Deleted()-ns.Created <= namespaceGraceSeconds+maxClockDifference {
		return 0
	}
	i, _ := slices.BinarySearchFunc(t.times, revision, func(m Moment, r uint64) int { return cmp.Compare(m.Revision, r) })
	if i == len(t.times) {
		return 0
	}
	latest := t.times[i].Time + 1
	return max(0, ns.Deleted()+namespaceGraceSeconds-latest)
}

// timedChanges returns the changes that contain their own time, to the second: creations, and the
// beginning of deletions that take time. Inferred changes are skipped.
func timedChanges(changes []Change) []Moment {
	var list []Moment
	for i := range changes {
		c := &changes[i]
		switch o := c.Object; {
		case c.Unseen, c.After != 0, o.ResourceVersion != strconv.FormatUint(c.Revision, 10):
		case o.BeingDeleted():
			if c.Type == object.Modified && c.Old != nil && !c.Old.BeingDeleted() {
				list = append(list, Moment{c.Revision, o.Deleted()})
			}
		case c.Type == object.Added && o.Created > 0:
			list = append(list, Moment{c.Revision, o.Created})
		}
	}
	return list
}

// awaitsPods reports whether the deletion of a namespace must wait for a pod that existed when it
// began: one that is being deleted, will be, or may not have been deleted yet. The namespace
// controller does not wait for pods that it is not allowed to delete.
//
// Upstream: pkg/controller/namespace/deletion/namespaced_resources_deleter.go deleteAllContent.
func (t *tracer) awaitsPods(namespace string, since, revision uint64) bool {
	if !release.Of(release.Minor(t.past.Minor)).Follow(release.OrderedNamespaces) {
		return false
	}
	for _, pod := range t.state.pods[namespace] {
		if t.created[pod.UID] <= since && (pod.BeingDeleted() || t.deletedPods[pod.UID] || t.isShortlyAfter(since, revision)) {
			return true
		}
	}
	return false
}

// podsDeletedIn returns the pods with a deletion that begins in one of the changes.
func podsDeletedIn(changes []Change) map[types.UID]bool {
	leaving := map[types.UID]bool{}
	for i := range changes {
		if o := changes[i].Object; !changes[i].Unseen && o.Is(object.Pod) && (o.BeingDeleted() || changes[i].Type == object.Deleted) {
			leaving[o.UID] = true
		}
	}
	return leaving
}
