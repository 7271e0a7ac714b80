package plan

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// steps returns the requests to the server and the removals, in order.
func (s *simulation) steps() []report.Step {
	rec := s.recorder
	steps := make([]report.Step, 0, rec.steps.len())
	c := stepCauses{changed: map[types.UID]int{}, dependentRemoved: map[types.UID]int{}}
	for n, r := range rec.steps.all {
		step := report.Step{
			N: n, Actor: rec.words.Text(r.actor), Verb: rec.words.Text(r.verb), Object: r.object.Ref, Policy: rec.words.Text(r.policy),
			Reason: rec.words.Text(r.reason), Cause: int(r.cause), Answer: int(r.answer),
		}
		if r.patch != nil {
			step.Patch = string(r.patch.Body())
		}
		if step.Actor == outcome.ActorCollector && r.cause == 0 {
			step.Cause = c.causeOf(r)
		}
		if step.Verb != verbGet && r.answer == 0 {
			c.record(n, r, step.Verb == verbRemoved)
		}
		steps = append(steps, step)
	}
	return steps
}

// stepCauses finds the step that made the collector look at an object: a step about one of its
// owners, the start of its own deletion, or the end of one of its dependents.
type stepCauses struct {
	// changed is the last step that changed an object, and dependentRemoved the last one that
	// removed one of its dependents.
	changed, dependentRemoved map[types.UID]int
}

func (c stepCauses) causeOf(r *record) int {
	cause := max(c.changed[r.object.UID], c.dependentRemoved[r.object.UID])
	for _, ref := range r.object.Owners {
		cause = max(cause, c.changed[ref.UID])
	}
	return cause
}

// record records the n-th step as a possible cause of later ones.
func (c stepCauses) record(n int, r *record, removed bool) {
	if r.object.UID == "" {
		return
	}
	c.changed[r.object.UID] = n
	if removed {
		for _, ref := range r.object.Owners {
			c.dependentRemoved[ref.UID] = n
		}
	}
}

// stuck returns the attempts that are repeated forever without effect. It leaves out those that are
// repeated only because an object is not in the snapshot, not watched or not proven to be absent: a
// real collector has the object, or repeats the attempt on purpose.
func (s *simulation) stuck() []report.Stuck {
	g := s.collector.Graph()
	var stuck []report.Stuck
	for _, work := range []engine.Work{engine.DeleteWork, engine.OrphanWork} {
		for _, ref := range s.collector.Deferred(work) {
			if _, withheld := s.recorder.withheldWrites[ref]; withheld {
				continue
			}
			if ref.Namespace != "" && s.notAskedFor(&object.Object{Ref: ref}) {
				continue
			}
			st := report.Stuck{Object: ref}
			id, present := g.Find(ref.UID)
			if present && g.Virtual(id) {
				st.Reason, st.Message = s.virtualReason(ref)
				st.Because = append(st.Because, object.Mapped(g.Dependents(id), g.Identity)...)
			} else if tr := s.tracks.ByUID(ref.UID); tr != nil {
				st.Reason = tr.Decision.Reason.String()
				if work == engine.OrphanWork {
					st.Reason = string(reason.OrphaningFails)
				}
				if err := tr.Decision.Err(); err != nil {
					st.Message = err.Error()
				}
				if unresolved := tr.Decision.Unresolved(); unresolved != nil {
					st.Because = []object.Ref{unresolved.Ref}
				}
			}
			if st.Reason == "" { // never decided on its own: another object has its UID
				st.Reason, st.Message = string(reason.SharedUID), "several objects have its uid: they cannot be told apart"
			}
			switch st.Reason {
			case reason.ObjectNotCovered.String(), reason.OwnerNotCovered.String(), reason.NotObserved.String(), reason.AbsenceNotProven.String():
				continue
			case reason.UnknownOwnerKind.String():
				if len(st.Because) == 0 || !s.snap.KnowsKindsOf(st.Because[0].APIVersion) {
					continue
				}
			}
			stuck = append(stuck, st)
		}
	}
	slices.SortFunc(stuck, func(a, b report.Stuck) int { return object.Compare(a.Object, b.Object) })
	return stuck
}

// virtualReason returns why the collector keeps looking up an owner that it knows only from
// references.
func (s *simulation) virtualReason(ref object.Ref) (code, text string) {
	r, err := s.recorder.Resource(ref.APIVersion, ref.Kind)
	if err != nil {
		return reason.UnknownOwnerKind.String(), err.Error()
	}
	if !r.Namespaced {
		ref.Namespace = ""
	}
	if why := s.snap.Why(r, ref.Namespace); why != "" {
		return reason.ObjectNotCovered.String(), why
	}
	return reason.NotObserved.String(), reason.Collector.Sentence(reason.NotObserved)
}

// records is a list of steps that grows without copying.
type records struct{ chunks [][]record }

const recordChunk = 1 << 14

// add appends a step. Only the first chunk grows, because most runs are short.
func (l *records) add(r record) {
	last := len(l.chunks) - 1
	if last < 0 || len(l.chunks[last]) == recordChunk {
		size := recordChunk
		if last < 0 {
			size = 0
		}
		l.chunks = append(l.chunks, make([]record, 0, size))
		last++
	}
	l.chunks[last] = append(l.chunks[last], r)
}

func (l *records) len() int {
	if len(l.chunks) == 0 {
		return 0
	}
	return (len(l.chunks)-1)*recordChunk + len(l.chunks[len(l.chunks)-1])
}

// all calls yield with the number of each step, from 1, and the step.
func (l *records) all(yield func(int, *record) bool) {
	n := 0
	for _, c := range l.chunks {
		for i := range c {
			n++
			if !yield(n, &c[i]) {
				return
			}
		}
	}
}
