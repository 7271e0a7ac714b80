package unserve

import (
	"context"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Options say what to answer.
type Options struct {
	// Fix adds the patches that migrate references to another version.
	Fix bool
}

// question is one definition in one snapshot.
type question struct {
	snap      *snapshot.Snapshot
	subject   *subject
	collector *engine.Collector
	world     engine.World
	// dependents are all objects with references through the version.
	dependents map[object.Ref]*dependent
	doc        *report.Exposure
}

// Judge says what the collector may delete or prune when a version of a definition
// stops being served; with an empty version, when the definition is deleted. It returns
// an *UnknownVersionError for a version that the definition does not have.
//
// It is pure: nothing is asked for and nothing is sent.
func Judge(ctx context.Context, snap *snapshot.Snapshot, definition *object.Object, version string, o Options) (*report.Exposure, error) {
	s, err := newSubject(snap, definition, version)
	if err != nil {
		return nil, err
	}
	q := &question{snap: snap, subject: s, dependents: map[object.Ref]*dependent{}, doc: newDocument(snap, s)}
	q.collector, q.world = plan.Open(snap, engine.Upstream)
	q.find(ctx)
	if s.isServed() {
		err = q.expose(ctx)
	} else {
		q.notServed()
	}
	if err != nil {
		return nil, err
	}
	if o.Fix {
		err = q.patches()
	}
	q.finish()
	return q.doc, err
}

func newDocument(snap *snapshot.Snapshot, s *subject) *report.Exposure {
	return &report.Exposure{
		APIVersion: report.APIVersion, Kind: "Exposure", Source: plan.SourceOf(snap),
		Definition: report.RefOf(s.object.Ref), Version: s.report(snap),
		Conditions: []report.ExposureCondition{}, Dependents: []report.ExposedDependent{},
		Consequences: []report.ExposureConsequence{}, Owners: []report.ExposedOwner{},
		Safe: []report.SafeDependent{}, Notes: []report.ExposureNote{}, Gaps: []report.Gap{},
	}
}

// find collects the dependents of the kind. Those that name another version that stays
// are safe.
func (q *question) find(ctx context.Context) {
	left := q.subject.remaining()
	for _, o := range q.snap.Objects {
		var others []report.Ref
		through := false
		for _, ref := range o.Owners {
			through = through || q.subject.through(ref)
			if version, ok := q.subject.named(ref); ok && slices.Contains(left, version) {
				others = append(others, report.RefOf(ref.In(o.Namespace)))
			}
		}
		switch {
		case through:
			q.dependents[o.Ref] = q.examine(ctx, o)
		case len(others) > 0:
			q.safe(o, reason.OtherVersion, others)
		}
	}
}

func (q *question) safe(o *object.Object, why reason.Code, because []report.Ref) {
	q.doc.Safe = append(q.doc.Safe, report.SafeDependent{Object: report.RefOf(o.Ref), Reason: string(why), Because: because})
}

// notServed is about a version that nobody could stop serving.
func (q *question) notServed() {
	for _, d := range q.dependents {
		var named []engine.OwnerFact
		for _, f := range d.facts {
			if q.subject.through(f.Reference) {
				named = append(named, f)
			}
		}
		q.safe(d.Object, reason.VersionNotServed, refs(refsOf(named)))
	}
}

// expose runs the worlds and sorts the dependents by what becomes of them.
func (q *question) expose(ctx context.Context) error {
	base, err := run(ctx, q.snap)
	if err != nil {
		return err
	}
	spared, err := q.spared(ctx, base)
	if err != nil {
		return err
	}
	look, err := run(ctx, q.lookedAt())
	if err != nil {
		return err
	}
	worst, err := q.worst(ctx, base, look)
	if err != nil {
		return err
	}
	exposed := map[report.Ref]bool{}
	for r, d := range q.dependents {
		ref := report.RefOf(r)
		if why, because := q.whySafe(d, base, spared, look); why != "" {
			q.safe(d.Object, why, because)
			continue
		}
		exposed[ref] = true
		q.doc.Dependents = append(q.doc.Dependents, q.exposed(d, look[ref], worst.outcome(ref)))
	}
	q.consequences(base, look, worst, exposed, spared)
	q.owners()
	return nil
}

// spared are those that go or lose references in the base, and in another order do not; all
// that do where there is too much to try another. Other orders are tried only where a dependent
// would be safe because of what happens to it.
func (q *question) spared(ctx context.Context, base ends) (func(report.Ref) bool, error) {
	for r := range q.dependents {
		if ref := report.RefOf(r); base.goes(ref) || base.outcome(ref) == report.Pruned {
			other, untried, err := orders(ctx, q.snap, plan.Usual)
			return func(r report.Ref) bool {
				contested := untried || other[r] != nil && other[r].DependsOnTiming
				return base.goes(r) && (contested || !other.goes(r)) || base.outcome(r) == report.Pruned && contested
			}, err
		}
	}
	return func(report.Ref) bool { return false }, nil
}

// whySafe is empty for a dependent that is exposed.
func (q *question) whySafe(d *dependent, base ends, spared func(report.Ref) bool, lookedAt ends) (reason.Code, []report.Ref) {
	ref := report.RefOf(d.Ref)
	anyway, look := base.outcome(ref), lookedAt[ref]
	switch {
	case d.BeingDeleted():
		return reason.AlreadyBeingDeleted, nil
	case len(d.through) == 0 && len(unresolved(d.facts)) > 0:
		return reason.OwnerUnresolved, refs(refsOf(unresolved(d.facts)))
	case len(d.through) == 0:
		return reason.OwnerNotLiving, nil
	case base.goes(ref) && !spared(ref):
		return reason.AlreadyGarbage, nil
	case anyway == report.Pruned && !lookedAt.differs(base, ref) && !spared(ref):
		return reason.OwnerNotLiving, nil
	case look != nil && look.Reason == reason.UnknownOwnerKind.String() && q.snap.KnowsAllKinds():
		return reason.OwnerUnresolved, refs(refsOf(unresolved(d.facts)))
	case look != nil && look.Outcome != report.Kept:
		return "", nil
	case !q.watched(d.Object):
		return reason.NotWatched, nil
	default:
		return reason.OwnerUnresolved, refs(refsOf(unresolved(d.facts)))
	}
}

func unresolved(facts []engine.OwnerFact) []engine.OwnerFact {
	return slices.DeleteFunc(slices.Clone(facts), func(f engine.OwnerFact) bool { return f.Class != engine.Unresolved })
}

func (q *question) exposed(d *dependent, look *report.Effect, worst report.Outcome) report.ExposedDependent {
	x := report.ExposedDependent{
		Object: report.RefOf(d.Ref), References: refs(refsOf(d.throughFacts())), Outcome: look.Outcome, Reason: look.Reason,
		BlockedBy: look.BlockedBy, KeptBy: refs(refsOf(d.keepers)), When: q.when(d, look.Outcome, worst),
	}
	x.Message = message(&x)
	return x
}

// consequences adds what becomes of others that does not happen in the base: when the
// dependents are looked at, and in the end.
func (q *question) consequences(base, look, worst ends, exposed map[report.Ref]bool, spared func(report.Ref) bool) {
	known := maps.Clone(exposed)
	for _, tier := range []struct {
		ends      ends
		condition reason.Code
	}{{look, reason.LookedAt}, {worst, reason.InTheEnd}} {
		for r, x := range tier.ends {
			if known[r] || x.Outcome == report.Kept || !tier.ends.differs(base, r) {
				continue
			}
			known[r] = true
			c := report.ExposureConsequence{Object: r, Outcome: x.Outcome, Condition: string(tier.condition), Because: q.actual(r, x.Because)}
			if x.Outcome == report.Pruned || x.Outcome == report.Orphaned {
				c.Because = q.actual(r, x.RemovedReferences)
			}
			if end := worst.outcome(r); end != x.Outcome {
				c.InTheEnd = end
			}
			q.doc.Consequences = append(q.doc.Consequences, c)
		}
	}
	q.uncertain(worst, known, spared)
}

// uncertain adds those of which nobody knows what becomes of them, in the base either, and
// that name one as an owner that is listed: what is not known need not be the same.
func (q *question) uncertain(worst ends, known map[report.Ref]bool, spared func(report.Ref) bool) {
	waiting := map[types.UID][]report.Ref{} // by the owners that they name
	for r, x := range worst {
		if known[r] || x.Outcome != report.Unknown && !spared(r) {
			continue
		}
		if o := q.snap.Find(r.APIVersion, r.Kind, r.Namespace, r.Name); o != nil {
			for _, ref := range o.Owners {
				waiting[ref.UID] = append(waiting[ref.UID], r)
			}
		}
	}
	open := slices.Collect(maps.Keys(known))
	for len(open) > 0 {
		owner := open[len(open)-1]
		open = open[:len(open)-1]
		for _, r := range waiting[owner.UID] {
			if known[r] {
				continue
			}
			known[r], open = true, append(open, r)
			q.doc.Consequences = append(q.doc.Consequences, report.ExposureConsequence{
				Object: r, Outcome: worst.outcome(r), Condition: string(reason.InTheEnd), Because: q.actual(r, worst[r].Because),
			})
		}
	}
}

// actual are owners of an object as they are in the snapshot, and not as its references in
// another world name them. One that is not watched is as its own references name it.
func (q *question) actual(dependent report.Ref, list []report.Ref) []report.Ref {
	var refs []report.Ref
	o := q.snap.Find(dependent.APIVersion, dependent.Kind, dependent.Namespace, dependent.Name)
	for _, r := range list {
		if id, ok := q.collector.Graph().Find(r.UID); ok && !q.collector.Graph().Virtual(id) {
			r = report.RefOf(q.collector.Graph().Identity(id))
		} else if o != nil {
			for _, ref := range o.Owners {
				if ref.UID == r.UID {
					r = report.RefOf(ref.In(o.Namespace))
				}
			}
		}
		refs = append(refs, r)
	}
	slices.SortFunc(refs, func(a, b report.Ref) int { return object.Compare(object.Ref(a), object.Ref(b)) })
	return slices.Compact(refs)
}

// owners lists whom dependents name through the version, each as the collector knows
// it. A new dependent is looked at because its reference disagrees with what the
// collector watches; where it watches the kind in this very version, it is not.
func (q *question) owners() {
	counts := map[object.Ref]int{}
	for _, d := range q.dependents {
		var owners []object.Ref
		for _, f := range d.throughFacts() {
			if r := q.identity(f); !slices.Contains(owners, r) {
				owners = append(owners, r)
				counts[r]++
			}
		}
	}
	effect := report.Deleted
	if q.subject.whole() || q.subject.preferred(q.snap) {
		effect = report.Kept
	}
	for r, n := range counts {
		q.doc.Owners = append(q.doc.Owners, report.ExposedOwner{Object: report.RefOf(r), Dependents: n, New: effect})
	}
}

// identity is the owner of a reference in the version that the collector watches.
func (q *question) identity(f engine.OwnerFact) object.Ref {
	r := f.Ref
	r.Kind = q.subject.Kind
	if p, ok := q.snap.Resources.Preferred(q.subject.resource()); ok {
		r.APIVersion = p.APIVersion()
	}
	return r
}
