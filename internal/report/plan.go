package report

// Outcome is the predicted outcome of an object.
type Outcome string

// The outcomes of a plan.
const (
	// Deleted: gone once no controller has work left, in every simulated run.
	Deleted Outcome = "Deleted"
	// Orphaned: survives; references to its owner were removed by the Orphan policy.
	Orphaned Outcome = "Orphaned"
	// Pruned: survives because of an existing owner; dangling or waiting references were removed.
	Pruned Outcome = "Pruned"
	// Kept: considered, or a dependent of a deleted object, and unchanged.
	Kept Outcome = "Kept"
	// Blocked: terminating, and still there once no controller has work left.
	Blocked Outcome = "Blocked"
	// Unknown: depends on something that the snapshot does not contain, or on a kind that cannot be
	// resolved.
	Unknown Outcome = "Unknown"
)

// Outcomes returns the outcomes in display order.
func Outcomes() []Outcome { return []Outcome{Deleted, Blocked, Orphaned, Pruned, Kept, Unknown} }

// Plan is the prediction of what a request leads to. Its JSON names an object in full in its
// effect, and elsewhere by its uid.
type Plan struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Source     Source `json:"source"`
	// Rules is "upstream" or "strict".
	Rules string `json:"rules"`
	Seed  Seed   `json:"seed"`
	// Complete is false if the answer depends on something that the snapshot does not contain.
	Complete bool `json:"complete"`
	// Digest is "sha256:" and the hash of the seed, of the flags that weaken a guard, of the
	// consequences, and of the gaps where these objects are. It is empty for a plan that is
	// refused.
	Digest  string   `json:"digest"`
	Summary Summary  `json:"summary"`
	Effects []Effect `json:"effects"`
	// Consequences is the account of the run: every object that our requests change or delete, at
	// once or later. In JSON each is a part of the effect on its object. Effects point into this
	// list.
	Consequences []Consequence `json:"-"`
	// Storage has the outcome of the storage behind the PVCs and volumes of the effects, in their
	// order.
	Storage []Storage `json:"storage,omitempty"`
	// Steps is a sequence in time. It is absent unless it was asked for.
	Steps []Step `json:"steps,omitzero"`
	// Stuck lists attempts that are repeated forever without effect.
	Stuck []Stuck `json:"stuck,omitempty"`
	Gaps  []Gap   `json:"gaps"`
	// Manager is the state of kube-controller-manager by its lease. Gone: it does not run, so only
	// our requests delete objects. Unknown: everything that could show the lease was read, and
	// there is none. It is empty if it runs, if that was not read, or if the plan needs none of its
	// controllers.
	Manager ControllerVerdict `json:"manager,omitempty"`
	// Explored is the number of simulated runs in addition to the reference run.
	Explored int `json:"explored,omitempty"`
	// Exploration says whether other runs were tried; nil if that was not asked for.
	Exploration *Exploration `json:"exploration,omitempty"`
	// Finalizers are those that the request removes. Refusals are the safety rules that forbid it:
	// with any of them nothing is written.
	Finalizers []PlannedFinalizer `json:"finalizers,omitempty"`
	Refusals   []Refusal          `json:"refusals,omitempty"`
}

// Seed is the request that a plan predicts.
type Seed struct {
	// Verb is "delete", "collect" or "removeFinalizer".
	Verb string `json:"verb"`
	// Policy is "Background", "Foreground" or "Orphan"; empty for other verbs.
	Policy string `json:"policy,omitempty"`
	// GracePeriodSeconds is the grace period of the request, for pods; absent if each pod keeps its
	// own.
	GracePeriodSeconds *int64   `json:"gracePeriodSeconds,omitempty"`
	Finalizers         []string `json:"finalizers,omitempty"`
	Targets            []Ref    `json:"targets"`
}

// Summary counts the effects by outcome.
type Summary struct {
	Deleted  int     `json:"deleted"`
	Orphaned int     `json:"orphaned"`
	Pruned   int     `json:"pruned"`
	Kept     int     `json:"kept"`
	Blocked  int     `json:"blocked"`
	Unknown  int     `json:"unknown"`
	ByKind   []Count `json:"byKind"`
}

// Count is the number of objects of one kind and namespace with one outcome.
type Count struct {
	APIVersion string  `json:"apiVersion"`
	Kind       string  `json:"kind"`
	Namespace  string  `json:"namespace,omitempty"`
	Outcome    Outcome `json:"outcome"`
	Count      int     `json:"count"`
	// Data says what data such objects hold; empty for most kinds.
	Data Data `json:"data,omitempty"`
}

// Effect is the outcome of one object, and its reason.
type Effect struct {
	Object  Ref     `json:"object"`
	Outcome Outcome `json:"outcome"`
	// Reason is a CamelCase reason of docs/reasons.md.
	Reason string `json:"reason"`
	// Consequence is what a run does to the object: its entry in the account of the plan. It is
	// absent for an object that our requests do not change.
	Consequence *Consequence `json:"consequence,omitempty"`
	// AtOnce is the outcome before the finalizers of Once are removed, if it differs: their
	// controllers run, so they are expected to be removed.
	AtOnce Outcome `json:"atOnce,omitempty"`
	// Later is the outcome if the finalizers of Once are removed that are not expected to be, if it
	// differs.
	Later Outcome `json:"later,omitempty"`
	// Once are the finalizers for AtOnce and Later.
	Once []Release `json:"once,omitempty"`
	// Because names the objects that decide: the owner that keeps it, or the owner that it is
	// deleted with.
	Because []Ref `json:"because,omitempty"`
	// BlockedBy is set for Blocked.
	BlockedBy         *BlockedBy `json:"blockedBy,omitempty"`
	RemovedReferences []Ref      `json:"removedReferences,omitempty"`
	// AlreadyHappening marks an effect that would also happen without the request.
	AlreadyHappening bool `json:"alreadyHappening,omitempty"`
	// DependsOnTiming marks an uncertain outcome: it depends on timing, or on what the garbage
	// collector remembers.
	DependsOnTiming bool `json:"dependsOnTiming,omitempty"`
	// Otherwise are the other ends that were found of a contested object, the one on
	// which least rests first; empty where no run has shown it.
	Otherwise   []Otherwise `json:"otherwise,omitempty"`
	Assumptions []string    `json:"assumptions,omitempty"`
	// Recreator is the controller that creates the object again. RecreatedBy is the object that it
	// does so for, if there is one. RecreatedWhen is when it does so, such as "when it restarts";
	// empty if it does at once.
	Recreator     string `json:"recreator,omitempty"`
	RecreatedBy   *Ref   `json:"recreatedBy,omitempty"`
	RecreatedWhen string `json:"recreatedWhen,omitempty"`
	Message       string `json:"message"`
}

// BlockedBy says what holds a terminating object.
type BlockedBy struct {
	Finalizers []string `json:"finalizers,omitempty"`
	Dependents []Ref    `json:"dependents,omitempty"`
	// Conditions are those of a namespace that say what it waits for.
	Conditions []string `json:"conditions,omitempty"`
	// Node is the node with the kubelet that has to end the pod.
	Node string `json:"node,omitempty"`
}

// Step is one request, or the removal that it led to.
type Step struct {
	N int `json:"n"`
	// Actor is user, collector, apiserver, kubelet, …
	Actor string `json:"actor"`
	// Verb is GET, DELETE, PATCH, PUT, DELETECOLLECTION (of all objects of the
	// kind in the namespace; the object has no name) or REMOVED.
	Verb   string `json:"verb"`
	Object Ref    `json:"object"`
	Policy string `json:"policy,omitempty"`
	Reason string `json:"reason"`
	// Cause is the number of the step that led to this one; 0 for none.
	Cause int `json:"cause,omitempty"`
	// Patch is the body of a PATCH.
	Patch string `json:"patch,omitempty"`
	// Answer is the HTTP status, if it is not a success.
	Answer int `json:"answer,omitempty"`
	// Waits is what the object then waits for.
	Waits string `json:"waits,omitempty"`
}

// Stuck is an attempt of the collector that never succeeds.
type Stuck struct {
	Object  Ref    `json:"object"`
	Reason  string `json:"reason"`
	Because []Ref  `json:"because,omitempty"`
	Message string `json:"message"`
}
