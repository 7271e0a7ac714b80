package plan

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Options configures a simulation.
type Options struct {
	Rules engine.Rules
	// Explore is the number of seeded schedules that are tried in addition to the reference one, to
	// find what depends on timing or on the collector's state from before. Usual picks the number
	// by cost.
	Explore int
	// Seed seeds the random source of the explored schedules.
	Seed uint64
	// Record is how much of the requests is recorded.
	Record Record
	// Keep withholds writes of our own collector from objects. nil withholds none. See Keeper.
	Keep Keeper
	// Health is the health of the other controllers. nil if it is unknown: they are then
	// assumed to do their part.
	Health *health.Assessment
	// OnlyNear leaves out what happens anyway in namespaces that the request does not affect. For a
	// collection, the Keeper decides which namespaces are included.
	OnlyNear bool
	// Controller names the controller of a finalizer and reports whether it runs. nil asks
	// Health. If those are nil too, no finalizer's controller is known.
	Controller ControllerOf
	// Collector is the state of the cluster's garbage collector. Empty if it follows from Health.
	Collector report.CollectorState
	// Guards are additional inputs of the digest: each flag that changes what is done or that
	// weakens a guard, and, for a cluster, the content of each target.
	Guards []string
	// Outside has fields that decide about outside resources, of objects that the snapshot has as
	// metadata only, by uid.
	Outside map[types.UID]*object.OutsideFacts
	// reachCache holds the paths of the snapshot, computed before the run. nil if they were not.
	reachCache *reachCache
}

// ControllerOf returns the controller that removes a finalizer from an object, and its state. The
// name is empty if it is unknown.
type ControllerOf func(o *object.Object, finalizer string) (name string, state report.ControllerState)

// Record is how much of the requests of a simulation is recorded. A plan of a million objects has
// millions of them.
type Record uint8

// The values of Record.
const (
	// RecordSteps: the plan has the requests and the removals as steps.
	RecordSteps Record = iota
	// RecordReads: the steps include GETs.
	RecordReads
	// RecordRequests: the plan has no steps. Guard and Writes know the requests.
	RecordRequests
	// RecordNothing: Guard allows no write, and Writes is empty. Not for a collection, whose
	// attribution follows its requests.
	RecordNothing
)

// RecordOf returns the Record for a plan with or without steps and reads.
func RecordOf(steps, reads bool) Record {
	switch {
	case !steps:
		return RecordRequests
	case reads:
		return RecordReads
	default:
		return RecordSteps
	}
}

func (r Record) hasSteps() bool { return r == RecordSteps || r == RecordReads }

// Result is a plan and the simulation that produced it.
type Result struct {
	Plan *report.Plan
	run  *simulation
}

// After returns the objects at quiescence, in object.Compare order. Finalizers that the plan does
// not expect to be removed are still present.
func (r *Result) After() []*object.Object {
	after := r.run.futures.end
	if after == nil {
		after = r.run.serverObjects()
	}
	after = slices.Concat(after, r.run.notSimulated())
	slices.SortFunc(after, func(a, b *object.Object) int { return object.Compare(a.Ref, b.Ref) })
	return after
}

// Simulate applies a seed to a copy of the snapshot and runs it to quiescence. It returns an error
// if a target is not in the snapshot, if the context ends, or if the simulation does not terminate.
//
// For a delete, only the objects that it may reach are simulated, if these are few.
func Simulate(ctx context.Context, snap *snapshot.Snapshot, seed Seed, o Options) (*Result, error) {
	if seed.Verb == Delete && o.Explore != 0 && o.Record != RecordReads { // what the collector reads elsewhere would be missing
		o.reachCache = findReach(snap, seed, o)
	}
	return simulate(ctx, snap, seed, o)
}

// simulate runs a seed on the whole snapshot. It repeats the run until our own collector writes to
// no object with an unknown outcome.
func simulate(ctx context.Context, snap *snapshot.Snapshot, seed Seed, o Options) (*Result, error) {
	left := withheld{}
	for {
		s := newSimulation(snap, seed, o, assumptions{withheld: left})
		all, err := s.runSchedules(ctx)
		if err != nil {
			return nil, err
		}
		if all == nil {
			continue
		}
		p := s.report(all)
		if err := s.runLaterFuture(ctx, all); err != nil {
			return nil, err
		}
		s.addLater(p, all)
		return &Result{Plan: p, run: s}, nil
	}
}

// runSchedules runs a seed up to the expected future, compares that with other runs, and returns the
// outcome of each object. It returns nil outcomes if our collector wrote to an object with an unknown
// outcome. Such objects have been added to those that are withheld, and the seed has to be run again.
func (s *simulation) runSchedules(ctx context.Context) (*outcome.Outcomes, error) {
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	all := s.judge.Outcomes()
	if s.ourCollector() && s.assumed.withheld.addUnknown(s, all) {
		return nil, nil
	}
	if err := s.explore(ctx, all); err != nil {
		return nil, err
	}
	if s.ourCollector() && s.assumed.withheld.addUnknown(s, all) { // unknown under another schedule only
		return nil, nil
	}
	if s.seed.Verb == RemoveFinalizer {
		if err := s.compareWithoutRequest(ctx, all); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// EffectOn simulates a seed and returns its effect on one object: Kept if nothing touches it. For a
// delete, the effect includes both futures. assessment is the health of the other controllers; nil if
// it is unknown.
func EffectOn(ctx context.Context, snap *snapshot.Snapshot, seed Seed, of *object.Object, assessment *health.Assessment) (report.Effect, error) {
	o := Options{Health: assessment, Record: RecordNothing}
	if seed.Verb == Collect {
		o.Record = RecordRequests
	}
	s := newSimulation(snap, seed, o, assumptions{})
	if err := s.run(ctx); err != nil {
		return report.Effect{}, err
	}
	all := s.judge.Outcomes()
	var effects []report.Effect
	if out := s.judge.OfObject(all, of); out != nil {
		effects = s.effects(out)
	}
	if seed.Verb == Delete {
		if err := s.runLaterFuture(ctx, all); err != nil {
			return report.Effect{}, err
		}
		effects = s.addFutureEffects(effects, all)
	}
	for i := range effects {
		if effects[i].Object == of.Ref {
			return effects[i], nil
		}
	}
	return report.Effect{Object: of.Ref, Outcome: report.Kept}, nil
}
