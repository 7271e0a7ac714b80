package plan

import (
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Verb is what a seed does.
type Verb string

// The verbs of seeds.
const (
	Delete  Verb = "delete"
	Collect Verb = "collect"
)

// Seed is what is put into the world. Use DeleteSeed or CollectSeed.
type Seed struct {
	Verb    Verb
	Policy  engine.Policy
	Targets []object.Ref
}

// DeleteSeed deletes the targets in their order, as `kubectl delete` does: by
// name, with an explicit policy and no preconditions.
func DeleteSeed(policy engine.Policy, targets ...object.Ref) Seed {
	return Seed{Verb: Delete, Policy: policy, Targets: targets}
}

// CollectSeed deletes nothing: the plan is what the collector does by itself.
func CollectSeed() Seed { return Seed{Verb: Collect} }

func (s Seed) policy() string {
	if s.Verb == Collect {
		return ""
	}
	return s.Policy.String()
}
