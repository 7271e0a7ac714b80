package history

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/audit"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// explanation is how a deletion came about.
type explanation struct {
	cause Cause
	or    []Cause
	// asked: it is the request of somebody, or may be.
	asked bool
	// would are those who would have done it, too, had they been faster.
	would []candidate
	// sent is the request in the audit log, and contradicts what would be certain without it.
	sent        *audit.Request
	match       Match
	contradicts *Cause
}

// candidate is somebody who would have deleted an object, and since when.
type candidate struct {
	Cause
	since uint64
}

// suspects are those who may have deleted an object.
type suspects struct {
	// would are those who would have done it whatever else happens; might are those of whom
	// that is not known.
	would []candidate
	might []Cause
	// unlikely are those who would have done it in another way.
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

// explain says who deletes an object in a way that leaves such a trace on it. Of several who
// would have done it the one has it who had reason first. What nobody would have done was
// somebody's request.
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

// explainBetween explains a deletion of which it is only known between which revisions it began. Where
// the answer is another one at their beginning, or its reason came up between them, it is not certain.
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
		doubts = append(doubts, Cause{Code: Unseen, Request: -1}) // with which policy is not known
	}
	for _, other := range doubts {
		if other.Code != e.cause.Code && !slices.ContainsFunc(e.or, func(x Cause) bool { return x.Code == other.Code }) {
			e.or = append(e.or, other)
		}
	}
	return e
}

// likeliest weighs those who may have deleted an object: the garbage collector, and whoever it
// follows to the end, before its controller, and all before somebody.
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

// doubtful reports whether somebody may have been faster than the one who would have deleted an
// object.
func (t *tracer) doubtful(c candidate, o *object.Object) bool {
	switch {
	case c.since == 0 && t.created[o.UID] == 0:
		return true // there was reason to delete it when history began, for nobody knows how long
	case c.Code == NamespaceDeleted:
		return !o.Is(object.Pod) && len(t.world.pods[o.Namespace]) > 0
	case t.orphaning[c.By.UID]:
		return true // its dependents were on their way to be released
	default:
		return c.Code == VersionGone // other definitions that serve it may not have been seen
	}
}

// byNamespace: the namespace controller deletes everything in a namespace that is being
// deleted, in the background.
func (t *tracer) byNamespace(s *suspects, o *object.Object, left trace, revision uint64) {
	if o.Namespace == "" || !t.leaves(o, left, background) {
		return
	}
	ref := object.Namespace.Ref("", o.Namespace)
	ns, _ := t.world.find(placeOf(ref))
	switch {
	case ns == nil: // gone, it may have been emptied by force
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

// byDefinition: the API server deletes the instances of a definition that is being deleted,
// and says nothing of a policy.
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
	definition, known := t.world.find(placeOf(ref))
	_, went := t.last[placeOf(ref)]
	switch {
	case definition == nil && known && went:
		s.suspect(DefinitionDeleted, ref)
	case definition == nil && !known && r.Custom:
		s.suspect(DefinitionUnknown, ref)
	case definition == nil: // it has none, as that of an aggregated API
	case definition.BeingDeleted():
		request, since := t.began(definition.Ref)
		s.add(DefinitionDeleted, definition.Ref, request, since)
	}
}

// byNode: pod GC deletes the pods of a node that is gone. What it has not deleted long ago it
// may have left for a reason.
func (t *tracer) byNode(s *suspects, o *object.Object, left trace) {
	facts := o.Pod()
	left.hurried = false // it gives them no time
	if facts == nil || facts.NodeName == "" || !t.leaves(o, left, unnamed) {
		return
	}
	ref := object.Node.Ref("", facts.NodeName)
	if node, known := t.world.find(placeOf(ref)); node != nil || !known {
		return
	}
	i, ok := t.last[placeOf(ref)]
	if !ok {
		s.suspect(NodeGone, ref)
		return
	}
	node := &t.losses[i]
	s.add(NodeGone, node.Object.Ref, node.Cause.Request, node.Gone)
}

// began is the request by which the deletion of an object began, and when that was: -1 and 0
// for one that began before history.
func (t *tracer) began(ref object.Ref) (request int, since uint64) {
	if i, ok := t.lost[identityOf(ref)]; ok {
		return t.losses[i].Cause.Request, t.losses[i].Asked
	}
	return -1, 0
}
