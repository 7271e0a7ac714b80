package unserve

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// dependent is an object with references through the version in question.
type dependent struct {
	*object.Object
	// facts are what its references count as today, in their order.
	facts []engine.OwnerFact
	// through has the places of the references through the version whose owner lives,
	// or may live.
	through []int
	// keepers are its other owners that exist and do not wait for dependents.
	keepers []engine.OwnerFact
}

// examine asks the engine about the references of one object.
func (q *question) examine(ctx context.Context, o *object.Object) *dependent {
	a, ok := q.collector.Inspect(o.UID)
	if !ok || a.Ref != o.Ref {
		a = engine.Attempt{Ref: o.Ref, Observed: o}
	}
	d := &dependent{Object: o, facts: engine.Examine(ctx, q.world, engine.Upstream, a).Owners}
	for i := range d.facts {
		f := &d.facts[i]
		switch {
		case q.subject.through(f.Reference):
			if lives(f) || mayLive(f) {
				d.through = append(d.through, i)
			}
		case lives(f):
			d.keepers = append(d.keepers, *f)
		}
	}
	return d
}

// lives reports whether the owner is there and keeps its dependents.
func lives(f *engine.OwnerFact) bool {
	return f.Class == engine.Existing && !strings.HasPrefix(string(f.Live.UID), snapshot.MissingUID)
}

// mayLive reports whether nobody knows: the place of the owner was not seen, or the
// object there has no uid in the dump.
func mayLive(f *engine.OwnerFact) bool {
	if f.Evidence == engine.OtherUID {
		return strings.HasPrefix(string(f.Live.UID), snapshot.MissingUID)
	}
	return f.Evidence == engine.NotCovered || f.Evidence == engine.Failed
}

// throughFacts are the facts of the references through the version.
func (d *dependent) throughFacts() []engine.OwnerFact {
	facts := make([]engine.OwnerFact, len(d.through))
	for i, at := range d.through {
		facts[i] = d.facts[at]
	}
	return facts
}

// refsOf are the owners that references name, each once, sorted.
func refsOf(facts []engine.OwnerFact) []object.Ref {
	refs := make([]object.Ref, 0, len(facts))
	for _, f := range facts {
		refs = append(refs, f.Ref)
	}
	slices.SortFunc(refs, object.Compare)
	return slices.Compact(refs)
}

// uidsOf are the uids of the owners, each once.
func uidsOf(facts []engine.OwnerFact) []types.UID {
	var uids []types.UID
	for _, f := range facts {
		if !slices.Contains(uids, f.Reference.UID) {
			uids = append(uids, f.Reference.UID)
		}
	}
	return uids
}
