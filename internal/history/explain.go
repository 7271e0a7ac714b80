package history

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/audit"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// explanation is the attribution of a deletion.
type explanation struct {
	cause Cause
	or    []Cause
	// asked is true if a client's request is the cause, or may be.
	asked bool
	// would are all certain candidates, including the cause.
	would []candidate
	// sent is the request in the audit log. contradicts is the certain cause that it refutes.
	sent        *audit.Request
	match       Match
	contradicts *Cause
}

// candidate is a cause that would have led to the deletion. since is the revision where it began to
// apply.
type candidate struct {
	Cause
	since uint64
}

// suspects are the possible causes of a deletion.
type suspects struct {
	// would are causes that certainly apply; might are those that may.
	would []candidate
	might []Cause
	// unlikely are causes that would have left another trace.
	unlikely []Cause
}

func (s *suspects) add(code Code, by object.Ref, request int, since uint64) {
	s.would = append(s.would, candidate{Cause{code, by, request}, since})
}

func (s *suspects) suspect(code Code, by object.Ref) {
	c := Cause{code, by, -1}
	if !slices.Contains(s.might, c) {
		s.might = append(s.might, c)
	}
}

// explain returns the cause of a deletion that leaves such a trace. Of several certain causes the
// earliest counts. Without a certain cause, likeliest decides. Without any, it is a client's
// request.
func (t *tracer) explain(o *object.Object, left trace, revision uint64) explanation {
	var s suspects
	t.byCollector(&s, o, left)
	t.byNamespace(&s, o, left, revision)
	t.byDefinition(&s, o, left)
	t.byFollower(&s, o, left)
	t.byNode(&s, o, left)
	if len(s.would) > 0 {
		first := s.would[0]
		for _, c := range s.would[1:] {
			if c.since < first.since {
				first = c
			}
		}
		e := explanation{cause: first.Cause, would: s.would}
		if t.doubtful(first, o) {
			e.or = []Cause{{Code: Requested, Request: -1}}
		}
		return e
	}
	t.byController(&s, o, left, revision)
	t.byItself(&s, o, left)
	return t.likeliest(&s, o)
}

// explainBetween explains a deletion that began in a range of revisions. If the result differs at
// the beginning of the range, or its reason began within the range, it is uncertain.
func (t *tracer) explainBetween(o *object.Object, left trace, c *Change) explanation {
	e := t.explain(o, left, c.Revision)
	if c.After == 0 {
		return e
	}
	early := t.explain(o, left, c.After+1)
	doubts := append([]Cause{early.cause}, early.or...)
	if slices.ContainsFunc(e.would, func(x candidate) bool { return x.since > c.After }) {
		doubts = append(doubts, Cause{Code: Requested, Request: -1})
	}
	if o.Finalizers() != nil || o.Pod() != nil && o.Pod().NodeName != "" {
		doubts = append(doubts, Cause{Code: Unseen, Request: -1}) // the policy is unknown
	}
	for _, other := range doubts {
		if other.Code != e.cause.Code && !slices.ContainsFunc(e.or, func(x Cause) bool { return x.Code == other.Code }) {
			e.or = append(e.or, other)
		}
	}
	return e
}

// likeliest ranks uncertain causes: first the garbage collector, then a follower whose leader was
// deleted, then the object's controller, and last a client's request.
func (t *tracer) likeliest(s *suspects, o *object.Object) explanation {
	requested := Cause{Code: Requested, Request: -1}
	for _, first := range []func(Cause) bool{
		func(c Cause) bool {
			return c.Code == OwnerWaits || c.Code == OwnerGone || c.Code == OwnerReplaced || c.Code == OwnerNamespaceMismatch
		},
		func(c Cause) bool {
			_, went := t.lost[identityOf(c.By)]
			return went && (c.Code == ServiceGone || c.Code == EndpointsGone || c.Code == AccountGone)
		},
		func(c Cause) bool { return c.Code == Controller || c.Code == ControllerChanged || passing(c.Code, o) },
	} {
		i := slices.IndexFunc(s.might, first)
		if i < 0 {
			continue
		}
		c := s.might[i]
		if c.Request < 0 {
			c.Request, _ = t.began(c.By)
		}
		rest := slices.Delete(slices.Clone(s.might), i, i+1)
		return explanation{cause: c, or: slices.Concat([]Cause{requested}, rest, s.unlikely), asked: c.Code == Controller && !passing(CleanedUp, o)}
	}
	return explanation{cause: requested, or: slices.Concat(s.might, s.unlikely), asked: true}
}

// doubtful reports whether another request may have won the race against a candidate.
func (t *tracer) doubtful(c candidate, o *object.Object) bool {
	switch {
	case c.since == 0 && t.created[o.UID] == 0:
		return true // the reason existed since an unknown time before the history
	case c.Code == NamespaceDeleted:
		return !o.Is(object.Pod) && len(t.world.pods[o.Namespace]) > 0
	case t.orphaning[c.By.UID]:
		return true // its dependents were about to be released
	default:
		return c.Code == VersionGone // other CRDs that serve it may be unknown
	}
}

// byNamespace adds the namespace controller, which deletes everything in a namespace that is being
// deleted, in the background.
func (t *tracer) byNamespace(s *suspects, o *object.Object, left trace, revision uint64) {
	if o.Namespace == "" || !t.leaves(o, left, background) {
		return
	}
	ref := object.Namespace.Ref("", o.Namespace)
	ns, _ := t.world.find(ref.Coordinates())
	switch {
	case ns == nil: // its content may have been removed by force
		s.suspect(NamespaceUnknown, ref)
	case !ns.BeingDeleted():
	case ns.NamespaceFacts() != nil && len(ns.NamespaceFacts().Finalizers) == 0:
		s.suspect(NamespaceDeleted, ns.Ref)
	default:
		request, since := t.began(ns.Ref)
		switch patience := t.patience(ns, revision); {
		case patience > apart:
		case patience > 0, !o.Is(object.Pod) && t.awaitsPods(o.Namespace, since, revision):
			s.might = append(s.might, Cause{NamespaceDeleted, ns.Ref, request})
		default:
			s.add(NamespaceDeleted, ns.Ref, request, since)
		}
	}
}

// byDefinition adds the API server, which deletes the instances of a CRD that is being deleted,
// without a policy.
func (t *tracer) byDefinition(s *suspects, o *object.Object, left trace) {
	r, err := t.world.resources.For(o.APIVersion, o.Kind)
	switch {
	case err != nil:
		s.suspect(KindUnknown, object.Ref{APIVersion: o.APIVersion, Kind: o.Kind})
		return
	case !t.leaves(o, left, unnamed):
		return
	}
	ref := definitionOf(r)
	definition, known := t.world.find(ref.Coordinates())
	_, went := t.last[ref.Coordinates()]
	switch {
	case definition == nil && known && went:
		s.suspect(DefinitionDeleted, ref)
	case definition == nil && !known && r.Custom:
		s.suspect(DefinitionUnknown, ref)
	case definition == nil: // it has none, for example with an aggregated API
	case definition.BeingDeleted():
		request, since := t.began(definition.Ref)
		s.add(DefinitionDeleted, definition.Ref, request, since)
	}
}

// byNode adds pod GC, which deletes the pods of a deleted node. A pod that it has not deleted for
// long may have another cause.
func (t *tracer) byNode(s *suspects, o *object.Object, left trace) {
	facts := o.Pod()
	left.hurried = false // pod GC uses a grace period of 0
	if facts == nil || facts.NodeName == "" || !t.leaves(o, left, unnamed) {
		return
	}
	ref := object.Node.Ref("", facts.NodeName)
	if node, known := t.world.find(ref.Coordinates()); node != nil || !known {
		return
	}
	i, ok := t.last[ref.Coordinates()]
	if !ok {
		s.suspect(NodeGone, ref)
		return
	}
	node := &t.losses[i]
	s.add(NodeGone, node.Object.Ref, node.Cause.Request, node.Gone)
}

// began returns the request that began the deletion of an object, and its revision. It returns -1
// and 0 if the deletion began before the history.
func (t *tracer) began(ref object.Ref) (request int, since uint64) {
	if i, ok := t.lost[identityOf(ref)]; ok {
		return t.losses[i].Cause.Request, t.losses[i].Asked
	}
	return -1, 0
}
