package plan

import (
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Verb is the action of a seed.
type Verb string

// The verbs of seeds.
const (
	Delete          Verb = "delete"
	Collect         Verb = "collect"
	RemoveFinalizer Verb = "removeFinalizer"
)

// Seed is what the user asked for. Use DeleteSeed, UninstallSeed, CollectSeed or
// RemoveFinalizerSeed.
type Seed struct {
	Verb    Verb
	Policy  engine.Policy
	Targets []object.Ref
	// Grace is the grace period of a Delete in seconds. nil means that of each object. Only pods
	// have one.
	Grace *int64
	// Finalizers lists what RemoveFinalizer removes.
	Finalizers []string
	// Uninstall has the order of a Delete by Helm, and what the plan says about it. nil for any other
	// request.
	Uninstall *Uninstall
}

// DeleteSeed deletes the targets in order, as `kubectl delete` does: by name, with an explicit
// policy and no preconditions.
func DeleteSeed(policy engine.Policy, targets ...object.Ref) Seed {
	return Seed{Verb: Delete, Policy: policy, Targets: targets}
}

// CollectSeed deletes nothing: the plan is what the collector does on its own.
func CollectSeed() Seed { return Seed{Verb: Collect} }

// RemoveFinalizerSeed removes the finalizers from the targets, and from the spec of a namespace.
// The collector starts after the removal, as after a restart, and has not yet acted on the
// finalizers. (Q8)
func RemoveFinalizerSeed(finalizers []string, targets ...object.Ref) Seed {
	return Seed{Verb: RemoveFinalizer, Finalizers: finalizers, Targets: targets}
}

func (s Seed) policy() string {
	if s.Verb != Delete {
		return ""
	}
	return s.Policy.String()
}
