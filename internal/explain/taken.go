package explain

import (
	"context"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// mostTakers bounds how many owners are tried: each one is a simulated delete.
const mostTakers = 25

// takenBy lists the single deletes, background or foreground, after which the
// object is gone: of its owners and their owners, nearest first. Each is
// simulated on the neighbourhood of the object. An object that goes anyway is
// taken by nobody.
func (q *question) takenBy(ctx context.Context, near *snapshot.Snapshot, before report.Effect) ([]report.Taker, error) {
	if before.Outcome == report.Deleted {
		return nil, nil
	}
	g := q.collector.Graph()
	id, _ := g.Find(q.target.UID)
	var takers []report.Taker
	for i, v := range g.Walk([]graph.ID{id}, graph.ToOwners, 0) {
		if i == 0 || g.Virtual(v.ID) {
			continue
		}
		if i > mostTakers {
			break
		}
		for _, policy := range []engine.Policy{engine.Background, engine.ForegroundPolicy} {
			gone, err := q.takes(ctx, near, g.Object(v.ID), policy)
			if err != nil {
				return nil, err
			}
			if gone {
				takers = append(takers, report.Taker{Object: report.RefOf(g.Identity(v.ID)), Policy: policy.String()})
				break
			}
		}
	}
	return takers, nil
}

func (q *question) takes(ctx context.Context, near *snapshot.Snapshot, owner *object.Object, policy engine.Policy) (bool, error) {
	effect, err := plan.EffectOn(ctx, near, plan.DeleteSeed(policy, owner.Ref), q.target)
	return effect.Outcome == report.Deleted, err
}
