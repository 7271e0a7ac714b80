package plan

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// late are the deletions in the snapshot with which somebody could have gone on at once,
// and has not for minutes, or has tried and failed: what nobody does is not simulated.
// A nil late stands for none.
type late struct {
	turns map[turn]evidence.Lateness
	// standing are the objects of the turns.
	standing map[object.Ref]standstill
	// owners are those for which the collector is late.
	owners []*object.Object
}

// turn is the part of one actor in the end of one object, which is named without its
// UID.
type turn struct {
	actor string
	of    object.Ref
}

// standstill is why an object does not go, and the finalizers that stay therefore.
type standstill struct {
	evidence.Lateness
	actor string
	holds []string
}

// errLate is the answer to a write that is not made, because who should make it does
// not.
var errLate = errors.New("should have been changed or deleted minutes ago")

// of is why an object stands still.
func (l *late) of(ref object.Ref) (standstill, bool) {
	if l == nil {
		return standstill{}, false
	}
	st, ok := l.standing[ref.WithoutUID()]
	return st, ok
}

// add takes up that an actor is late. Of several who are, the first is named.
func (l *late) add(actor string, o *object.Object, why evidence.Lateness, holds string) {
	key := o.Ref.WithoutUID()
	l.turns[turn{actor, key}] = why
	st, known := l.standing[key]
	if !known {
		st = standstill{Lateness: why, actor: actor}
	}
	if holds != "" {
		st.holds = append(st.holds, holds)
	}
	l.standing[key] = st
	if actor == actorCollector {
		l.owners = append(l.owners, o)
	}
}

// stops tells whether an actor is late with what an object is to go with.
func (l *late) stops(actor string, of object.Ref) bool {
	if l == nil {
		return false
	}
	_, yes := l.turns[turn{actor, of.WithoutUID()}]
	return yes
}

// stopsWrite refuses a write of a controller that is late with it.
func (r *recorder) stopsWrite(ref object.Ref) error {
	if r.late == nil || r.actor == actorCollector || !r.late.stops(r.actor, r.sake(ref)) {
		return nil
	}
	return errLate
}

// sake is the object for whose end the actor at work writes to another one: the
// namespace or the definition that it is in.
func (r *recorder) sake(ref object.Ref) object.Ref {
	switch {
	case r.actor == controllers.NamespaceName && ref.Namespace != "":
		return namespaceRef(ref.Namespace)
	case r.actor == controllers.DefinitionName && !ref.Is(object.CRD):
		if res, err := r.server.Resource(ref.APIVersion, ref.Kind); err == nil {
			return definitionRef(res.GroupResource().String())
		}
	}
	return ref
}

func namespaceRef(name string) object.Ref {
	return object.Namespace.Ref("", name)
}

func definitionRef(name string) object.Ref {
	return object.CRD.Ref("", name)
}

// collectorStops tells whether the collector is late with a write: with the finalizer of
// an object, or with a dependent that has to go, or to be let go, before that comes off.
func (r *recorder) collectorStops(ref object.Ref) (Reason, bool) {
	if r.late == nil || r.actor != actorCollector {
		return "", false
	}
	if r.late.stops(actorCollector, ref) {
		st, _ := r.late.of(ref)
		return lateReason(st.Reason), true
	}
	owner := r.lateOwner(ref)
	if owner == nil {
		return "", false
	}
	st, _ := r.late.of(owner.Ref)
	return lateReason(st.Reason), true
}

// lateOwner is the owner for the sake of whose deletion the collector should long have
// written to an object; nil if there is none.
func (r *recorder) lateOwner(ref object.Ref) *object.Object {
	o, err := r.server.Get(context.Background(), ref)
	if r.late == nil || err != nil || o.BeingDeleted() {
		return nil
	}
	for _, owner := range r.late.owners {
		i := slices.IndexFunc(o.Owners, func(x object.OwnerReference) bool { return x.UID == owner.UID })
		if i < 0 {
			continue
		}
		now, err := r.server.Get(context.Background(), owner.Ref)
		if err != nil || now.UID != owner.UID {
			continue
		}
		if now.HasFinalizer(object.Orphan) || now.HasFinalizer(object.Foreground) && o.Owners[i].Blocks() {
			return owner
		}
	}
	return nil
}

// lateReason is the reason of an effect for a lateness.
func lateReason(why reason.Code) Reason {
	if why == reason.DeletionForgotten {
		return DeletionMissed
	}
	return Reason(why)
}

// Late says why somebody who could long have gone on with the deletion of an object has
// not; false where nobody is late with it.
func (r *Result) Late(ref object.Ref) (Reason, bool) {
	l := r.run.recorder.late
	if r.run.futures.healed { // in that future nobody is
		l = r.run.futures.late
	}
	st, ok := l.of(ref)
	return lateReason(st.Reason), ok
}

// IsLate tells whether a reason says that somebody is late, or fails.
func IsLate(r Reason) bool {
	switch r {
	case CollectorNotWorking, ControllerNotWorking, DefinitionCleanupFails, NamespaceDeletionFails, PodNotFinished, DeletionMissed:
		return true
	default:
		return false
	}
}

// standStill gives the fate of an object with which nobody goes on: proven to stay, or
// not known.
func (f *fate) standStill(st standstill) {
	f.outcome, f.reason, f.detail = report.Blocked, string(lateReason(st.Reason)), st.Detail
	if st.Reason == reason.ControllerNotWorking {
		f.detail = st.actor
	}
	if !st.Proven {
		f.doubt(Reason(f.reason))
	}
}

// standsOpen tells whether it is not known what becomes of an object, because somebody is
// late with it: another run can say no more.
func (f *fate) standsOpen() bool { return f.outcome == report.Unknown && IsLate(Reason(f.reason)) }

// blockedByLate is about an object with which somebody should long have gone on. What
// else holds it holds it for certain.
func (s *simulation) blockedByLate(f *fate, o *object.Object) {
	st, ok := s.recorder.late.of(o.Ref)
	if ok {
		f.blocked.Conditions = nil // who would write them does not
	}
	if !ok || slices.ContainsFunc(f.blocked.Finalizers, func(name string) bool { return !slices.Contains(st.holds, name) }) {
		return
	}
	if s.blockedBesides(f, o) {
		return
	}
	switch Reason(f.reason) {
	case BlockingDependents, ContentRemains:
		if !s.untouched(f.blocked.Dependents) {
			f.late = &st // whoever else holds it may hold it for certain
			return
		}
	case "", FinalizerRemains, GracePeriodRuns, OrphaningFails:
	default:
		return
	}
	if len(f.blocked.Finalizers) == 0 {
		f.blocked.Finalizers = slices.Clone(o.Finalizers())
	}
	f.standStill(st)
}

// blockedBesides says of a namespace with which its controller is late what holds it for
// certain: tokens of others, and APIs that discovery cannot name.
func (s *simulation) blockedBesides(f *fate, o *object.Object) bool {
	if !o.Is(object.Namespace) {
		return false
	}
	var failing []string
	for _, u := range s.neighbours.Undiscovered() {
		if !u.Hidden {
			failing = append(failing, u.APIVersion+": "+u.Why)
		}
	}
	switch tokens := foreignTokens(o); {
	case len(tokens) > 0:
		f.reason, f.detail = string(ContentRemains), "spec.finalizers has "+strings.Join(tokens, ", ")
	case len(failing) > 0:
		f.reason, f.detail = string(s.discoveryReason()), strings.Join(failing, "; ")
	default:
		return false
	}
	f.outcome, f.blocked.Dependents = report.Blocked, nil
	return true
}

// foreignTokens are those in the spec of a namespace that others have to remove.
func foreignTokens(o *object.Object) []string {
	facts := o.NamespaceFacts()
	if facts == nil {
		return nil
	}
	list := slices.DeleteFunc(slices.Clone(facts.Finalizers), func(name string) bool { return name == finalizer.NamespaceToken })
	slices.Sort(list)
	return slices.Compact(list)
}

// untouched tells whether nobody has deleted any of these objects.
func (s *simulation) untouched(list []report.Ref) bool {
	return !slices.ContainsFunc(list, func(r report.Ref) bool {
		o, err := s.recorder.server.Get(context.Background(), object.Ref(r))
		return err != nil || o.BeingDeleted()
	})
}

// addLate adds the fates of those objects that others wait for, and with which somebody
// is late: they are as they would be without our requests.
func (s *simulation) addLate(all fates) {
	if s.recorder.late == nil {
		return
	}
	var more []*track
	for _, f := range all {
		if f.blocked == nil {
			continue
		}
		for _, ref := range f.blocked.Dependents {
			if _, is := s.recorder.late.of(object.Ref(ref)); !is || s.fateIn(all, object.Ref(ref)) != nil {
				continue
			}
			if o, err := s.recorder.server.Get(context.Background(), object.Ref(ref)); err == nil {
				more = append(more, s.tracks.of(o))
			}
		}
	}
	for _, tr := range more {
		f := &fate{track: tr, baseline: s.seed.Verb != Collect}
		s.blockedFate(f)
		all[s.tracks.key(tr.first.Ref)] = f
	}
}

// mayYetGo tells of an object that nothing has touched whether somebody may yet delete
// it who is late with that: then it is not known to stay.
func (s *simulation) mayYetGo(ref object.Ref) bool {
	r := s.recorder
	if r.late == nil {
		return false
	}
	open := func(of object.Ref) bool {
		st, ok := r.late.of(of)
		return ok && !st.Proven
	}
	if ref.Namespace != "" && open(namespaceRef(ref.Namespace)) {
		return true
	}
	if res, err := r.server.Resource(ref.APIVersion, ref.Kind); err == nil && open(definitionRef(res.GroupResource().String())) {
		return true
	}
	owner := r.lateOwner(ref)
	return owner != nil && open(owner.Ref)
}
