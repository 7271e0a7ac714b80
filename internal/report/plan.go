package report

// Outcome is what becomes of an object.
type Outcome string

// The outcomes of a plan.
const (
	// Deleted: gone at quiescence, in every run that was explored.
	Deleted Outcome = "Deleted"
	// Orphaned: survives; references to its owner were removed by the Orphan policy.
	Orphaned Outcome = "Orphaned"
	// Pruned: survives because of an existing owner; dangling or waiting references were removed.
	Pruned Outcome = "Pruned"
	// Kept: considered, or a dependent of something that goes, and unchanged.
	Kept Outcome = "Kept"
	// Blocked: terminating and still there at quiescence.
	Blocked Outcome = "Blocked"
	// Unknown: rests on something the snapshot does not contain, or on a kind
	// that cannot be resolved.
	Unknown Outcome = "Unknown"
)

// Outcomes lists the outcomes in the order in which they are shown.
func Outcomes() []Outcome { return []Outcome{Deleted, Blocked, Orphaned, Pruned, Kept, Unknown} }

// Plan is the future as data: what a seed leads to. Its JSON names an object in whole in its
// effect, and elsewhere by its uid.
type Plan struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Source     Source `json:"source"`
	// Rules is "upstream" or "strict".
	Rules string `json:"rules"`
	Seed  Seed   `json:"seed"`
	// Complete is false when some answer rests on something that the snapshot
	// does not contain.
	Complete bool `json:"complete"`
	// Digest is "sha256:" and the hash of the seed, of the flags that weaken a guard, of
	// the consequences, and of the gaps where these objects are. It is empty for a plan
	// that would be refused.
	Digest  string   `json:"digest"`
	Summary Summary  `json:"summary"`
	Effects []Effect `json:"effects"`
	// Consequences is the account of the run: every object that is changed or gone
	// because of what we send, at once or later. In JSON each is a part of the effect on its
	// object, which points to it.
	Consequences []Consequence `json:"-"`
	// Storage is what becomes of the storage behind the claims and volumes that the
	// seed takes, in the order of the effects.
	Storage []Storage `json:"storage,omitempty"`
	// Steps is a sequence in time. It is there for those who ask for it.
	Steps []Step `json:"steps,omitzero"`
	// Stuck lists attempts that are repeated forever without effect.
	Stuck []Stuck `json:"stuck,omitempty"`
	Gaps  []Gap   `json:"gaps"`
	// Manager is what its lease says of kube-controller-manager, without which only what a request
	// of ours deletes goes: that it does not run (Gone), or that everything was read that could
	// show the lease and there is none (Unknown). It is empty where it runs, where that was
	// not read, and where the plan needs none of its controllers.
	Manager ControllerVerdict `json:"manager,omitempty"`
	// Explored is the number of runs tried beside the reference one.
	Explored int `json:"explored,omitempty"`
	// Exploration says whether other runs were tried; nil when nobody asked.
	Exploration *Exploration `json:"exploration,omitempty"`
	// Finalizers are those that the seed takes off, and Refusals what speaks
	// against it: with any of them nothing is written.
	Finalizers []PlannedFinalizer `json:"finalizers,omitempty"`
	Refusals   []Refusal          `json:"refusals,omitempty"`
}

// Seed is what is put into the world.
type Seed struct {
	// Verb is "delete", "collect" or "removeFinalizer".
	Verb string `json:"verb"`
	// Policy is "Background", "Foreground" or "Orphan"; empty for other verbs.
	Policy string `json:"policy,omitempty"`
	// GracePeriodSeconds is the grace period that the request asks for, of pods; it is not
	// there where each has its own.
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

// Effect is what becomes of one object, and why.
type Effect struct {
	Object  Ref     `json:"object"`
	Outcome Outcome `json:"outcome"`
	// Reason is a CamelCase reason of docs/reasons.md.
	Reason string `json:"reason"`
	// Consequence is what a run does to the object: its entry in the account of the plan. It is
	// not there for an object that no request of ours changes.
	Consequence *Consequence `json:"consequence,omitempty"`
	// AtOnce is the outcome before the finalizers of Once come off, if it is another
	// one: their controllers run, so they are expected to.
	AtOnce Outcome `json:"atOnce,omitempty"`
	// Later is the outcome if those finalizers of Once come off of which that is not
	// expected, if it is another one.
	Later Outcome `json:"later,omitempty"`
	// Once are the finalizers for AtOnce and Later.
	Once []Release `json:"once,omitempty"`
	// Because names the objects that decide: the owner that keeps it, the owner
	// that takes it.
	Because []Ref `json:"because,omitempty"`
	// BlockedBy is set for Blocked.
	BlockedBy         *BlockedBy `json:"blockedBy,omitempty"`
	RemovedReferences []Ref      `json:"removedReferences,omitempty"`
	// AlreadyHappening marks what would happen without the seed too, and is not because of it.
	AlreadyHappening bool `json:"alreadyHappening,omitempty"`
	// DependsOnTiming marks an object whose end is not certain: it depends on timing, or on
	// what the garbage collector remembers.
	DependsOnTiming bool `json:"dependsOnTiming,omitempty"`
	// Otherwise are the other ends that were found of a contested object, the one on
	// which least rests first; empty where no run has shown it.
	Otherwise   []Otherwise `json:"otherwise,omitempty"`
	Assumptions []string    `json:"assumptions,omitempty"`
	// Recreator is the controller that creates the object again, RecreatedBy the
	// object for whose sake it does so, where there is one. RecreatedWhen is the moment at which
	// it does, such as "when it restarts"; empty if it is at once.
	Recreator     string `json:"recreator,omitempty"`
	RecreatedBy   *Ref   `json:"recreatedBy,omitempty"`
	RecreatedWhen string `json:"recreatedWhen,omitempty"`
	Message       string `json:"message"`
}

// BlockedBy says what holds a terminating object.
type BlockedBy struct {
	Finalizers []string `json:"finalizers,omitempty"`
	Dependents []Ref    `json:"dependents,omitempty"`
	// Conditions are those by which a namespace says what it waits for.
	Conditions []string `json:"conditions,omitempty"`
	// Node is the node whose kubelet has to finish the pod.
	Node string `json:"node,omitempty"`
}

// Step is one request, or the removal it led to.
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
	// Answer is the HTTP status, when it is not a success.
	Answer int `json:"answer,omitempty"`
	// Waits says what the object now waits for.
	Waits string `json:"waits,omitempty"`
}

// Stuck is an attempt of the collector that never succeeds.
type Stuck struct {
	Object  Ref    `json:"object"`
	Reason  string `json:"reason"`
	Because []Ref  `json:"because,omitempty"`
	Message string `json:"message"`
}
