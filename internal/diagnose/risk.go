package diagnose

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/reach"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// RiskOptions selects what to rank.
type RiskOptions struct {
	// Top is the number of wanted objects.
	Top int
	// Namespace limits the ranking to its objects and itself; empty for all. What they take may be
	// anywhere.
	Namespace string
	// Health is the health of controllers and APIs; nil if unknown.
	Health *health.Assessment
}

// rankBudget and rankBudgetExtra limit the number of simulated objects, over all simulations:
// rankBudget times the snapshot plus rankBudgetExtra. The limit is multiplied by rankBudgetGrowth while
// fewer objects than wanted were found.
const (
	rankBudget       = 10
	rankBudgetExtra  = 200_000
	rankBudgetGrowth = 4
)

// Rank ranks the objects of a snapshot by what a background delete of each alone takes: data first,
// then workloads, then the rest. It returns an error if a simulation does not end.
//
// An upper bound for each object is computed on the graph, for all objects at once (ceilings).
// Deletes are simulated in that order until the next bound is lower than the real result of the last
// wanted object. So every number in the answer is a plan's, and no omitted object would rank higher.
func Rank(ctx context.Context, snap *snapshot.Snapshot, o RiskOptions) (*report.Risk, error) {
	collector := plan.Start(snap, engine.Upstream)
	r := &ranking{snap: snap, options: o, reach: plan.ReachMap(snap, collector.Graph(), o.Health), scale: newScale(snap, collector.Graph())}
	doc := &report.Risk{
		Header: report.HeaderOf("Risk"), Source: plan.SourceOf(snap), Policy: engine.Background.String(),
		Items: []report.RiskItem{}, Gaps: []report.Gap{},
	}
	candidates := r.candidates()
	doc.Objects = r.compared
	for i, c := range candidates {
		if r.enough(c) {
			break
		}
		bound := rankBudget*len(snap.Objects) + rankBudgetExtra
		if len(r.items) < o.Top {
			bound *= rankBudgetGrowth
		}
		if r.cost > bound {
			doc.Untried = r.above(candidates[i:])
			break
		}
		if err := r.try(ctx, c); err != nil {
			return nil, err
		}
	}
	doc.Items = append(doc.Items, r.items[:min(o.Top, len(r.items))]...)
	doc.Gaps = append(doc.Gaps, plan.RelevantGaps(snap, func(string) bool { return true })...)
	doc.OthersUnknown = r.unknown
	for i := range r.items[len(doc.Items):] {
		if r.items[len(doc.Items)+i].Unknown > 0 {
			doc.OthersUnknown++
		}
	}
	doc.Complete = doc.Untried+doc.OthersUnknown == 0 && len(doc.Gaps) == 0 &&
		!slices.ContainsFunc(doc.Items, func(i report.RiskItem) bool { return i.Unknown > 0 })
	return doc, nil
}

// ranking is a ranking under construction.
type ranking struct {
	snap    *snapshot.Snapshot
	options RiskOptions
	reach   *reach.Map
	scale   *scale
	items   []report.RiskItem
	// unknown counts the objects tried that are not known to take others, and may.
	unknown int
	// compared counts the objects considered, cost the objects simulated.
	compared, cost int
}

// candidate is an object and an upper bound of what its delete takes.
type candidate struct {
	object  *object.Object
	ceiling report.Toll
}

// candidates lists the objects that may take others along, the highest ceiling first.
func (r *ranking) candidates() []candidate {
	ceilings := newCeilings(r.reach, r.snap, r.scale)
	var list []candidate
	ns := r.options.Namespace
	for i, o := range r.snap.Objects {
		if ns != "" && o.Namespace != ns && (!o.Is(object.Namespace) || o.Name != ns) {
			continue
		}
		r.compared++
		if ceiling := ceilings.of(i); ceiling.Objects > 1 {
			list = append(list, candidate{o, ceiling})
		}
	}
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(-compare(a.ceiling, b.ceiling), object.Compare(a.object.Ref, b.object.Ref))
	})
	return list
}

// enough reports whether a candidate, and thus all after it, rank below the last of the Top results
// so far even if their ceilings are reached.
func (r *ranking) enough(c candidate) bool {
	if len(r.items) < r.options.Top {
		return false
	}
	return order(r.items[r.options.Top-1], report.RiskItem{Object: c.object.Ref, Takes: c.ceiling}) < 0
}

// above counts the candidates that may rank above the last of the Top results so far.
func (r *ranking) above(rest []candidate) int {
	return object.Count(rest, func(c candidate) bool { return !r.enough(c) })
}

// order sorts the greatest toll first.
func order(a, b report.RiskItem) int {
	return cmp.Or(-compare(a.Takes, b.Takes), object.Compare(a.Object, b.Object))
}

// try simulates a delete. It adds the result if the delete takes more than the object itself, and counts it if that
// is unknown.
func (r *ranking) try(ctx context.Context, c candidate) error {
	part := r.reach.Part(c.object)
	r.cost += len(part.Objects)
	item, others, err := r.item(ctx, part, c.object)
	if err != nil || others == 0 {
		if item.Unknown > 0 {
			r.unknown++
		}
		return err
	}
	at, _ := slices.BinarySearchFunc(r.items, item, order)
	r.items = slices.Insert(r.items, at, item)
	return nil
}

// item returns what the delete of an object takes, and how many other objects: those deleted at
// once, and those deleted after finalizers are removed.
func (r *ranking) item(ctx context.Context, part *snapshot.Snapshot, o *object.Object) (item report.RiskItem, others int, err error) {
	result, err := plan.Simulate(ctx, part, plan.DeleteSeed(engine.Background, o.Ref), plan.Options{Health: r.options.Health, Record: plan.RecordNothing})
	if err != nil {
		return item, 0, err
	}
	item = report.RiskItem{Object: o.Ref, ByKind: []report.KindCount{}}
	kinds := map[report.KindCount]int{}
	for e := range result.Plan.Account() {
		switch {
		case !e.IsDeleted(), e.Consequence.Anyway && e.Object != item.Object:
		case e.Consequence.Certainty == report.Undecided:
			item.Unknown++
		case e.Outcome == report.Blocked && len(e.Once) == 0:
			item.Blocked++
		default:
			add(&item.Takes, r.scale.of(e.Object))
			kinds[report.KindCount{APIVersion: e.Object.APIVersion, Kind: e.Object.Kind}]++
			if e.Outcome != report.Deleted {
				item.Later++
			}
			if e.Object != item.Object {
				others++
			}
		}
	}
	for k, n := range kinds {
		k.Count = n
		item.ByKind = append(item.ByKind, k)
	}
	slices.SortFunc(item.ByKind, func(a, b report.KindCount) int {
		return cmp.Or(strings.Compare(a.APIVersion, b.APIVersion), strings.Compare(a.Kind, b.Kind))
	})
	return item, others, nil
}
