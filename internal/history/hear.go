package history

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/audit"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// hear lets the audit log decide the cause if it has the request. It keeps the causes that match
// the sender, or else the certain cause that matches because it won the race. If none matches, the
// contradiction is recorded. A request that may have come too late excludes nothing: one for a
// collection, and one that matches no cause, for an object that was not deleted at once.
func (t *tracer) hear(e explanation, o *object.Object, c *Change, left trace) explanation {
	r, match := t.sender(o, c, left)
	if r == nil {
		return e
	}
	codes, other := codesOf(r)
	var said, rest []Cause
	for _, x := range append([]Cause{e.cause}, e.or...) {
		switch {
		case slices.Contains(codes, x.Code):
			said = append(said, x)
		case r.Verb == audit.Eviction && x.Code == Requested:
			// The history cannot distinguish a delete from an eviction.
		default:
			rest = append(rest, x)
		}
	}
	heard := explanation{sent: r, match: match}
	for _, x := range e.would {
		if slices.Contains(codes, x.Code) && len(said) == 0 {
			said = append(said, x.Cause)
		}
	}
	switch {
	case match == BySelector && len(said) == 0:
		return e
	case match == BySelector:
	case len(said) == 0 && c.Type != object.Deleted:
		// An object that is being deleted can be deleted again in the same second.
		said = []Cause{{Code: other, Request: -1}}
	case len(said) == 0:
		said, rest = []Cause{{Code: other, Request: -1}}, nil
		if len(e.or) == 0 && (r.Verb != audit.Eviction || e.cause.Code != Requested) {
			heard.contradicts = &e.cause
		}
	default:
		rest = nil
	}
	heard.cause, heard.or = said[0], slices.Concat(said[1:], rest)
	heard.asked = heard.cause.Code == Requested || e.asked && len(rest) > 0
	if heard.cause.Request < 0 && !heard.asked {
		heard.cause.Request, _ = t.began(heard.cause.By)
	}
	return heard
}

// codesOf returns the causes that match the sender of a request, and the cause to report if the
// history has none of them.
func codesOf(r *audit.Request) (codes []Code, other Code) {
	name, ok := r.Controller()
	switch {
	case r.Verb == audit.Eviction:
		return []Code{Evicted}, Evicted
	case !ok:
		return []Code{Requested}, Requested
	case name == audit.GarbageCollector:
		return []Code{OwnerWaits, OwnerGone, OwnerReplaced, OwnerNamespaceMismatch, OwnerUnknown}, ByKubernetes
	case name == audit.NamespaceController:
		return []Code{NamespaceDeleted, NamespaceUnknown}, ByKubernetes
	case slices.Contains(workloads, name):
		return []Code{ControllerChanged, Controller}, ByKubernetes
	default:
		return []Code{
			Controller, ControllerChanged, Evicted, CleanedUp, NodeGone, AccountGone, ServiceGone, EndpointsGone, ClaimGone, VersionGone, KindUnknown,
		}, ByKubernetes
	}
}

// workloads are the controllers that delete only objects that they control.
var workloads = []string{
	"replicaset-controller", "replication-controller", "deployment-controller", "statefulset-controller", "daemon-set-controller",
	"job-controller", "cronjob-controller",
}

// again returns the client request in the audit log that deleted an object again with another
// policy while it was being deleted. It returns nil if there is none, or several of different
// senders.
func (t *tracer) again(o *object.Object, revision uint64, policy metav1.DeletionPropagation) *audit.Request {
	served, err := t.world.resources.For(o.APIVersion, o.Kind)
	if err != nil {
		return nil
	}
	var found *audit.Request
	for _, r := range t.senders.of[target{served.GroupResource(), o.Namespace, o.Name}] {
		if r.Options == nil || policyOf(r) != policy || r.UIDs != nil && !slices.Contains(r.UIDs, o.UID) || !t.near(r, revision) {
			continue
		}
		if _, ok := r.Controller(); ok || found != nil && !found.Equal(&r.Sender) {
			return nil
		}
		found = r
	}
	return found
}

// policySaid returns the policy that a request named, or else the observed one.
func policySaid(r *audit.Request, seen Policy) Policy {
	if r.Options == nil {
		return seen
	}
	switch policyOf(r) {
	case orphan:
		return Orphan
	case foreground:
		return Foreground
	case background:
		return Background
	default:
		return seen
	}
}

// policyOf returns the policy that a request named.
func policyOf(r *audit.Request) metav1.DeletionPropagation {
	return metav1.DeletionPropagation(r.Options.Policy)
}
