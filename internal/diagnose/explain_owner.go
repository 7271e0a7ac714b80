package diagnose

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// owners returns the class of each owner reference, and the evidence for it.
func (q *question) owners() []report.OwnerFinding {
	findings := make([]report.OwnerFinding, 0, len(q.target.Owners))
	for i, ref := range q.target.Owners {
		f := report.OwnerFinding{
			Ref:                ref.In(q.target.Namespace),
			Controller:         ref.Controller == object.True,
			BlockOwnerDeletion: ref.Blocks(),
			Class:              report.UnknownClass,
		}
		if i < len(q.facts.Owners) {
			o := q.facts.Owners[i]
			f.Ref = o.Ref
			f.Class = classOf(o.Class)
			f.Evidence = q.evidence(o, i)
			if actual := q.elsewhere(o); actual != nil {
				f.Elsewhere = &actual.Ref
			}
		}
		findings = append(findings, f)
	}
	return findings
}

func classOf(c engine.Class) report.Class {
	switch c {
	case engine.Existing:
		return report.Existing
	case engine.Dangling:
		return report.Dangling
	case engine.Waiting:
		return report.Waiting
	default:
		return report.UnknownClass
	}
}

// evidence returns the evidence for a class as text. If the UID exists under other coordinates, the
// text names them: that is the mistake to repair.
func (q *question) evidence(o engine.OwnerFact, i int) string {
	text := q.evidenceText(o)
	if o.Class == engine.Dangling && q.attempt.ObservedElsewhere(i) {
		if id, ok := q.collector.Graph().Find(o.Reference.UID); ok {
			text += "; its uid belongs to " + q.collector.Graph().Identity(id).FullName()
		}
	}
	return text
}

func (q *question) evidenceText(o engine.OwnerFact) string {
	switch o.Evidence {
	case engine.Found:
		if o.Live.BeingDeleted() {
			return "exists; it is being deleted, but not in the foreground, and counts until it is gone"
		}
		return "exists with this uid"
	case engine.FoundWaiting:
		return "exists and is being deleted in the foreground"
	case engine.FoundHeld:
		return "exists; it is being deleted in the foreground, and something else holds it as well"
	case engine.Remembered:
		return "was found absent before"
	case engine.Absent:
		return "does not exist"
	case engine.NotServed:
		return "does not exist: nothing serves the kind " + o.Ref.Kind
	case engine.OtherUID:
		return fmt.Sprintf("an object of that name exists with another uid, %s", o.Live.UID)
	case engine.KindNotServed:
		if q.snap.KnowsKindsOf(o.Ref.APIVersion) {
			return "the kind is not served in " + o.Ref.APIVersion
		}
		return "unknown whether the kind is served in " + o.Ref.APIVersion
	case engine.NeedsNamespace:
		return "a cluster-scoped object cannot have a namespaced owner"
	case engine.NotCovered:
		return "unknown whether it exists: " + object.WhyUncovered(o.Err)
	case engine.Failed:
		return o.Err.Error()
	default:
		return "not looked up"
	}
}

// dependents lists the objects that refer to the target.
func (q *question) dependents() []report.DependentFinding {
	g := q.collector.Graph()
	id, ok := g.Find(q.target.UID)
	if !ok {
		return nil
	}
	findings := make([]report.DependentFinding, 0, g.DependentCount(id))
	for _, d := range g.Dependents(id) {
		f := report.DependentFinding{Ref: g.Identity(d), State: "Live"}
		for _, ref := range g.Owners(d) {
			f.Blocking = f.Blocking || ref.UID == q.target.UID && ref.Blocks()
		}
		if g.BeingDeleted(d) {
			f.State = "BeingDeleted"
		}
		if g.WaitingForDependents(d) {
			f.State = "WaitingForDependents"
		}
		findings = append(findings, f)
	}
	return findings
}

// chain follows the deciding reference from owner to owner. It ends at an absent or unknown owner,
// or at an existing one without owners, which keeps the object.
func (q *question) chain(ctx context.Context) []report.ChainLink {
	facts := q.facts
	met := map[types.UID]bool{q.target.UID: true}
	var links []report.ChainLink
	for {
		o, ok := deciding(facts.Owners)
		if !ok {
			return links
		}
		links = append(links, report.ChainLink{Ref: o.Ref, Class: classOf(o.Class)})
		if o.Class != engine.Existing && o.Class != engine.Waiting || met[o.Ref.UID] {
			return links
		}
		met[o.Ref.UID] = true
		a, known := q.collector.Inspect(o.Ref.UID)
		if !known {
			return links
		}
		facts = engine.Examine(ctx, q.world, engine.Upstream, a)
	}
}

// deciding returns the reference that matters most. An unresolvable one keeps the collector from
// deciding anything. One existing owner keeps an object. Otherwise waiting, unknown and absent owners
// matter in that order.
func deciding(owners []engine.OwnerFact) (engine.OwnerFact, bool) {
	for _, o := range owners {
		if o.Class == engine.Unresolved && o.Evidence != engine.NotCovered && o.Evidence != engine.NotAsked {
			return o, true
		}
	}
	for _, class := range []engine.Class{engine.Existing, engine.Waiting, engine.Unresolved, engine.Dangling} {
		for _, o := range owners {
			if o.Class == class {
				return o, true
			}
		}
	}
	return engine.OwnerFact{}, false
}
