package explain

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// chain follows the deciding reference from owner to owner. It ends at an absent or unknown owner, or
// at an existing one without owners, which keeps the object.
func (q *question) chain(ctx context.Context) []report.ChainLink {
	facts := q.facts
	met := map[types.UID]bool{q.target.UID: true}
	var links []report.ChainLink
	for {
		o, ok := deciding(facts.Owners)
		if !ok {
			return links
		}
		links = append(links, report.ChainLink{Ref: report.RefOf(o.Ref), Class: classOf(o.Class)})
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
