package plan

import (
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Verb is what a seed does.
type Verb string

// The verbs of seeds.
const (
	Delete          Verb = "delete"
	Collect         Verb = "collect"
	RemoveFinalizer Verb = "removeFinalizer"
)

// Seed is what is put into the world. Use DeleteSeed, CollectSeed or
// RemoveFinalizerSeed.
type Seed struct {
	Verb    Verb
	Policy  engine.Policy
	Targets []object.Ref
	// Grace is the grace period in seconds that Delete asks for; nil for that of each
	// object. Only pods have one.
	Grace *int64
	// Finalizers are those that RemoveFinalizer takes off.
	Finalizers []string
}

// DeleteSeed deletes the targets in their order, as `kubectl delete` does: by
// name, with an explicit policy and no preconditions.
func DeleteSeed(policy engine.Policy, targets ...object.Ref) Seed {
	return Seed{Verb: Delete, Policy: policy, Targets: targets}
}

// CollectSeed deletes nothing: the plan is what the collector does by itself.
func CollectSeed() Seed { return Seed{Verb: Collect} }

// RemoveFinalizerSeed takes the finalizers off the targets, of a namespace those
// of its spec, too. The removal comes first and the collector after it, as after a
// restart: it has not taken up what the finalizers ask of it. (Q8)
func RemoveFinalizerSeed(finalizers []string, targets ...object.Ref) Seed {
	return Seed{Verb: RemoveFinalizer, Finalizers: finalizers, Targets: targets}
}

func (s Seed) policy() string {
	if s.Verb != Delete {
		return ""
	}
	return s.Policy.String()
}
