package draw

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// packed is the compressed form of a large payload, which web/src/packed.ts expands. Numbers are
// stored as differences, which compress to almost nothing, and the plan refers to objects by number
// instead of by name.
type packed struct {
	*payload

	Plan *packedPlan `json:"packedPlan,omitempty"`
}

type packedPlan struct {
	// Others are objects without a box. They are numbered after the boxes.
	Others []object.Ref `json:"others"`
	// Texts are the texts of effects and steps, which refer to them by number. The first is empty.
	Texts   []string      `json:"texts"`
	Effects packedEffects `json:"effects"`
	Steps   packedSteps   `json:"steps"`
	// Why is the text number of each box.
	Why []int `json:"why"`
}

type packedEffects struct {
	Object  []int `json:"object"`
	Outcome []int `json:"outcome"`
	Reason  []int `json:"reason"`
	Message []int `json:"message"`
	// Rest are the rarer fields, by number of the effect.
	Rest sparse[packedEffect] `json:"rest"`
}

// packedEffect is the rest of an effect, with objects as numbers.
type packedEffect struct {
	Because           []int         `json:"because,omitempty"`
	BlockedBy         *packedHoldup `json:"blockedBy,omitempty"`
	RemovedReferences []int         `json:"removedReferences,omitempty"`
	AlreadyHappening  bool          `json:"alreadyHappening,omitempty"`
	DependsOnTiming   bool          `json:"dependsOnTiming,omitempty"`
	Assumptions       []int         `json:"assumptions,omitempty"`
	Recreator         string        `json:"recreator,omitempty"`
}

type packedHoldup struct {
	Finalizers []string `json:"finalizers,omitempty"`
	Dependents []int    `json:"dependents,omitempty"`
	Conditions []string `json:"conditions,omitempty"`
	Node       string   `json:"node,omitempty"`
}

type packedSteps struct {
	Actor  []int `json:"actor"`
	Verb   []int `json:"verb"`
	Object []int `json:"object"`
	Policy []int `json:"policy"`
	Reason []int `json:"reason"`
	Cause  []int `json:"cause"`
	Patch  []int `json:"patch"`
	Answer []int `json:"answer"`
	Waits  []int `json:"waits"`
}

// pack packs a payload. It changes p, which must not be used afterwards.
func pack(p *payload) *packed {
	small := &packed{payload: p, Plan: packPlan(p)}
	if p.Plan != nil {
		p.Plan, p.Boxes.Why = nil, nil
	}
	differences(p.Boxes.Rects, 4)
	differences(p.Boxes.Pile, 1)
	differences(p.Arrows.Owner, 1)
	differences(p.Arrows.Dependent, 1)
	differences(p.Arrows.Paths, 2)
	return small
}

// differences replaces each number by its difference from the one width places before.
func differences(list []int, width int) {
	for i := len(list) - 1; i >= width; i-- {
		list[i] -= list[i-width]
	}
}

// packer numbers objects and texts.
type packer struct {
	texts  numbers[string]
	others numbers[object.Ref]
	boxes  map[types.UID]int
	count  int
}

func packPlan(p *payload) *packedPlan {
	if p.Plan == nil {
		return nil
	}
	k := &packer{boxes: make(map[types.UID]int, len(p.Boxes.UID)), count: len(p.Boxes.UID)}
	for i, uid := range p.Boxes.UID {
		if uid != "" {
			k.boxes[uid] = i
		}
	}
	k.texts.number("")
	plan := &packedPlan{Effects: k.effects(p.Plan.Effects), Steps: k.steps(p.Plan.Steps), Why: make([]int, k.count)}
	for i := range p.Boxes.Why {
		why := &p.Boxes.Why[i]
		plan.Why[why.number] = k.text(why.value)
	}
	plan.Texts, plan.Others = k.texts.list, k.others.list
	return plan
}

func (k *packer) object(r *object.Ref) int {
	if i, ok := k.boxes[r.UID]; ok {
		return i
	}
	return k.count + k.others.number(*r)
}

// text returns the number of a text; 0 for an empty one.
func (k *packer) text(s string) int {
	if s == "" {
		return 0
	}
	return k.texts.number(s)
}

func (k *packer) objects(refs []object.Ref) []int {
	list := make([]int, len(refs))
	for i := range refs {
		list[i] = k.object(&refs[i])
	}
	return list
}

func (k *packer) effects(effects []report.Effect) packedEffects {
	var p packedEffects
	for i := range effects {
		e := &effects[i]
		p.Object = append(p.Object, k.object(&e.Object))
		p.Outcome = append(p.Outcome, k.text(string(e.Outcome)))
		p.Reason = append(p.Reason, k.text(e.Reason))
		p.Message = append(p.Message, k.text(e.Message))
		rest := packedEffect{
			Because: k.objects(e.Because), RemovedReferences: k.objects(e.RemovedReferences),
			AlreadyHappening: e.AlreadyHappening, DependsOnTiming: e.DependsOnTiming, Recreator: e.Recreator,
		}
		rest.Assumptions = append(rest.Assumptions, object.Mapped(e.Assumptions, k.text)...)
		if b := e.BlockedBy; b != nil {
			rest.BlockedBy = &packedHoldup{b.Finalizers, k.objects(b.Dependents), b.Conditions, b.Node}
		}
		if !rest.empty() {
			p.Rest.add(i, rest)
		}
	}
	differences(p.Object, 1)
	return p
}

func (e *packedEffect) empty() bool {
	return len(e.Because)+len(e.RemovedReferences)+len(e.Assumptions) == 0 && e.BlockedBy == nil &&
		!e.AlreadyHappening && !e.DependsOnTiming && e.Recreator == ""
}

func (k *packer) steps(steps []report.Step) packedSteps {
	var p packedSteps
	for i := range steps {
		s := &steps[i]
		p.Actor = append(p.Actor, k.text(s.Actor))
		p.Verb = append(p.Verb, k.text(s.Verb))
		p.Object = append(p.Object, k.object(&s.Object))
		p.Policy = append(p.Policy, k.text(s.Policy))
		p.Reason = append(p.Reason, k.text(s.Reason))
		p.Cause = append(p.Cause, s.Cause)
		p.Patch = append(p.Patch, k.text(s.Patch))
		p.Answer = append(p.Answer, s.Answer)
		p.Waits = append(p.Waits, k.text(s.Waits))
	}
	differences(p.Object, 1)
	differences(p.Cause, 1)
	return p
}
