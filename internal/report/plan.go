package report

import (
	"iter"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

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
	Header

	Source Source `json:"source"`
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
	// Storage has the outcome of the storage behind the PVCs and volumes of the effects, in their
	// order.
	Storage []Storage `json:"storage,omitempty"`
	// Broken are the objects that stay and stop working, the worst first: something that they refer to
	// is deleted. What was broken before is not among them. UnreadReferrers are the lists that were not
	// read and may hold more.
	Broken          []Breakage `json:"broken,omitempty"`
	UnreadReferrers []Gap      `json:"unreadReferrers,omitempty"`
	// Outside has the outcomes of the outside resources of objects of the account, in the order of the
	// effects. Storage has those of volumes.
	Outside []Outside `json:"outside,omitempty"`
	// Steps is a sequence in time. It is absent unless it was asked for.
	Steps []Step `json:"steps,omitzero"`
	// Stuck lists attempts that are repeated forever without effect.
	Stuck []Stuck `json:"stuck,omitempty"`
	Gaps  []Gap   `json:"gaps"`
	// Unlisted are the objects of effects whose controllers delete other objects that the effects may
	// lack. The plan is not complete then.
	Unlisted []Unlisted `json:"unlisted,omitempty"`
	// Remedies are commands of deployers that keep what these delete with a target.
	Remedies []Remedy `json:"remedies,omitempty"`
	// Manager is the state of kube-controller-manager by its lease. Gone: it does not run, so only
	// our requests delete objects. Unknown: it has no lease, or the lease has expired, but not all
	// programs were read. It is empty if it runs, if that was not read, or if the plan needs none of its
	// controllers.
	Manager ControllerVerdict `json:"manager,omitempty"`
	// Collector is the state of the cluster's garbage collector that the plan assumes. It is absent if
	// no other state is known to change the end of an object in the account. It is never absent if it
	// was asked for.
	Collector CollectorState `json:"collector,omitempty"`
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
	GracePeriodSeconds *int64       `json:"gracePeriodSeconds,omitempty"`
	Finalizers         []string     `json:"finalizers,omitempty"`
	Targets            []object.Ref `json:"targets"`
	// Uninstall is set if the request is `helm uninstall`. The targets are then what Helm deletes, in its
	// order.
	Uninstall *Uninstall `json:"uninstall,omitempty"`
}

// Uninstall says which release of Helm a plan uninstalls, and what Helm does besides its deletes.
type Uninstall struct {
	Release   string `json:"release"`
	Namespace string `json:"namespace"`
	// Revision is the newest revision, which Helm uninstalls whatever its status is. Record is the
	// Secret or ConfigMap with it.
	Revision int64      `json:"revision,omitempty"`
	Record   object.Ref `json:"record"`
	Status   string     `json:"status,omitempty"`
	// Chart is the name of the chart with its version.
	Chart string `json:"chart,omitempty"`
	// KeepHistory is true if the records of the release stay.
	KeepHistory bool `json:"keepHistory,omitempty"`
	// Stays are existing objects of the release that Helm does not delete.
	Stays []HelmKept `json:"stays,omitempty"`
	// Hooks are the objects that Helm creates before and after its deletes.
	Hooks []HelmHook `json:"hooks,omitempty"`
	// CRDs is true if the directory crds of the chart has files. Helm does not delete these CRDs.
	CRDs bool `json:"crds,omitempty"`
	// Command is the command of Helm.
	Command string `json:"command"`
}

// HelmKept is an object of a release that Helm does not delete, and why.
type HelmKept struct {
	Object  object.Ref `json:"object"`
	Message string     `json:"message"`
}

// HelmHook is an object that Helm creates before (pre-delete) or after (post-delete) its deletes. Its
// delete policies say when Helm deletes it.
type HelmHook struct {
	Object         object.Ref `json:"object"`
	Events         []string   `json:"events"`
	DeletePolicies []string   `json:"deletePolicies"`
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
	Object  object.Ref `json:"object"`
	Outcome Outcome    `json:"outcome"`
	// Reason is a CamelCase reason of docs/reasons.md.
	Reason string `json:"reason"`
	// Consequence is what a run does to the object, as part of the account of the plan. It is
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
	Because []object.Ref `json:"because,omitempty"`
	// BlockedBy is set for Blocked.
	BlockedBy         *BlockedBy   `json:"blockedBy,omitempty"`
	RemovedReferences []object.Ref `json:"removedReferences,omitempty"`
	// AlreadyHappening marks an effect that would also happen without the request.
	AlreadyHappening bool `json:"alreadyHappening,omitempty"`
	// DependsOnTiming marks an uncertain outcome: it depends on timing, or on what the garbage
	// collector remembers.
	DependsOnTiming bool `json:"dependsOnTiming,omitempty"`
	// Otherwise are the other ends that were found of a contested object, the one on
	// which least rests first; empty where no run has shown it.
	Otherwise   []Otherwise `json:"otherwise,omitempty"`
	Assumptions []string    `json:"assumptions,omitempty"`
	// Expiry is the later delete by time of an object that stays; nil if none is known.
	Expiry *Expiry `json:"expiry,omitempty"`
	// Recreator is the controller that creates the object again. RecreatedBy is the object that it
	// does so for, if there is one. RecreatedWhen is when it does so, such as "when it restarts",
	// or why that is of no use, such as "but no node is left to run it"; empty if it does at once.
	// RecreatedIf is what is not known and decides whether it does so, such as "it runs"; empty for nothing.
	Recreator     string      `json:"recreator,omitempty"`
	RecreatedBy   *object.Ref `json:"recreatedBy,omitempty"`
	RecreatedWhen string      `json:"recreatedWhen,omitempty"`
	RecreatedIf   string      `json:"recreatedIf,omitempty"`
	Message       string      `json:"message"`
}

// BlockedBy says what holds a terminating object.
type BlockedBy struct {
	Finalizers []string     `json:"finalizers,omitempty"`
	Dependents []object.Ref `json:"dependents,omitempty"`
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
	Verb   string     `json:"verb"`
	Object object.Ref `json:"object"`
	Policy string     `json:"policy,omitempty"`
	Reason string     `json:"reason"`
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
	Object  object.Ref   `json:"object"`
	Reason  string       `json:"reason"`
	Because []object.Ref `json:"because,omitempty"`
	Message string       `json:"message"`
}

// Consequence is what a run does to one object, at once or later: our requests change or delete it.
// The effects with a consequence are the account of a run ([Plan.Account]). Guards, question, counts,
// backup, waiting and comparison read the account and nothing else.
type Consequence struct {
	Change Change `json:"change"`
	// When is what must happen before. With FinalizerRemoved, nothing happens to the object before the
	// finalizers in Once of the effect are removed.
	When When `json:"when"`
	// Controller is the controller that acts, for ControllerActs.
	Controller string    `json:"controller,omitempty"`
	Certainty  Certainty `json:"certainty"`
	// Anyway is true if it would also happen without the request. The ranking of risk leaves such an
	// object out. Everything else counts it like any other.
	Anyway bool `json:"anyway,omitempty"`
}

// Account returns the account of the run: the effect on every object that our requests change or delete,
// at once or later, with its Consequence. The outcome of an effect may be less than its Change.
func (p *Plan) Account() iter.Seq[*Effect] {
	return func(yield func(*Effect) bool) {
		for i := range p.Effects {
			if e := &p.Effects[i]; e.Consequence != nil && !yield(e) {
				return
			}
		}
	}
}

// IsDeleted reports whether our requests delete the object, at once or later, or may.
func (e *Effect) IsDeleted() bool {
	return e.Consequence != nil && e.Consequence.Change == ChangeDeleted
}

// Change is the most that may happen to an object.
type Change string

// The changes.
const (
	// ChangeDeleted: the object is deleted, or marked for deletion, which cannot be undone.
	ChangeDeleted Change = "Deleted"
	// ChangeEdited: the object stays, with other owner references or finalizers, or rewritten by a
	// controller.
	ChangeEdited Change = "Changed"
)

// When is what must happen before an object is changed or deleted.
type When string

// The times.
const (
	// AtOnce: our request does it, or the garbage collector as a result of it.
	AtOnce When = "AtOnce"
	// ControllerActs: another controller of the cluster does it, such as the namespace controller.
	ControllerActs When = "ControllerActs"
	// FinalizerRemoved: not before finalizers of other objects are removed.
	FinalizerRemoved When = "FinalizerRemoved"
)

// Certainty is how certain it is that an object is changed or deleted.
type Certainty string

// The certainties.
const (
	// Sure: whatever else happens in the cluster meanwhile, as far as the plan can see.
	Sure Certainty = "Sure"
	// Possible: it depends on timing, or on a finalizer that may or may not be removed.
	Possible Certainty = "Possible"
	// Undecided: the snapshot does not show what it depends on.
	Undecided Certainty = "Unknown"
)

// Unlisted says that a controller deletes other objects with one of the plan, and that these are not, or not
// all, among the effects.
type Unlisted struct {
	Object object.Ref `json:"object"`
	// Finalizer is the one that the controller removes after that. Empty if it acts once the object is gone.
	Finalizer string `json:"finalizer"`
	// Controller is the name of the controller. Empty if it is unknown.
	Controller string `json:"controller,omitempty"`
	Reason     string `json:"reason"`
	// Message says why they are not listed, or when they are deleted.
	Message string `json:"message"`
	// Others are the objects that it deletes, as far as they are known.
	Others []object.Ref `json:"others,omitempty"`
}

// IsDoubt reports whether the controller is not known to exist.
func (u *Unlisted) IsDoubt() bool {
	return u.Reason == string(reason.FinalizerUnknown) || u.Reason == string(reason.ControllerUnread)
}

// IsUnrelated reports whether an effect belongs to what happens anyway, and not to the request. The volume of a
// PVC that the request deletes belongs to the request, also if that PVC was garbage: its data is lost now.
func (p *Plan) IsUnrelated(e *Effect) bool {
	if !e.AlreadyHappening || p.Seed.Verb == "collect" {
		return false
	}
	return e.Reason != string(reason.VolumeReclaimed) || !slices.ContainsFunc(e.Because, func(r object.Ref) bool { return slices.Contains(p.Seed.Targets, r) })
}

// Exploration says which other runs of the same request were simulated: under other schedules, and
// with the state of a garbage collector that has been running for a while. The reference run begins
// with a collector that has just started.
type Exploration struct {
	State ExplorationState `json:"state"`
	// Objects is the number of objects that the request can reach.
	Objects int `json:"objects"`
	// Requested is true if the user set the number of schedules. Otherwise a few are tried, or none
	// if they cannot change anything.
	Requested bool `json:"requested,omitempty"`
	// Schedules and Memories are the numbers of runs with other schedules and other collector
	// states.
	Schedules int `json:"schedules,omitempty"`
	Memories  int `json:"memories,omitempty"`
}

// ExplorationState says whether other runs were tried.
type ExplorationState string

// The states of an exploration.
const (
	// Explored: other runs were tried. Effects with another outcome in one of them are contested.
	Explored ExplorationState = "Explored"
	// OneEnd: none was tried, because no schedule and no collector state can make a difference.
	OneEnd ExplorationState = "OneEnd"
	// TooLarge: none was tried, because the request can reach too many objects.
	TooLarge ExplorationState = "TooLarge"
)

// CollectorState is the state of a garbage collector at the time of a request.
type CollectorState string

// The states of a garbage collector.
const (
	// CollectorRunning: it has been running for long. It may have missed a deletion, and may remember
	// what no snapshot shows.
	CollectorRunning CollectorState = "Running"
	// CollectorRestarted: it has just started. It continues every unfinished deletion and remembers
	// nothing.
	CollectorRestarted CollectorState = "Restarted"
	// CollectorStopped: it does not run. Its finalizers and the dependents of deleted owners stay.
	CollectorStopped CollectorState = "Stopped"
)

// Otherwise is another possible outcome of an object, and what it depends on.
type Otherwise struct {
	Outcome Outcome `json:"outcome"`
	Because Hinge   `json:"because"`
	// Message is that outcome as a sentence.
	Message string `json:"message"`
	// Remembered is what the garbage collector must have seen for it; empty for Timing.
	Remembered string `json:"remembered,omitempty"`
}

// Hinge is what another outcome depends on.
type Hinge string

// The hinges.
const (
	// Timing: the order of requests by the user, the garbage collector, the API server and other
	// controllers.
	Timing Hinge = "schedule"
	// Memory: what the garbage collector has seen since it was started.
	Memory Hinge = "memory"
)

// PlannedFinalizer is a finalizer that a plan removes, and what is known about it.
type PlannedFinalizer struct {
	Name string `json:"name"`
	// Class is Collector, Protection, Cleanup, Cloud, Operator or Unknown.
	Class string `json:"class"`
	// RemovedBy and When are the controller that normally removes it, and on what condition.
	RemovedBy string `json:"removedBy,omitempty"`
	When      string `json:"when,omitempty"`
	// Without is what is lost or left behind.
	Without string `json:"without,omitempty"`
	Objects int    `json:"objects"`
}

// Refusal is a safety rule that forbids the removal of a finalizer.
type Refusal struct {
	Object    object.Ref `json:"object"`
	Finalizer string     `json:"finalizer"`
	// Reason is a CamelCase reason of docs/reasons.md.
	Reason string `json:"reason"`
	// Because are the first objects that cause the refusal.
	Because []object.Ref `json:"because,omitempty"`
	// LiftedBy is the flag that lifts the refusal; empty if none does.
	LiftedBy string `json:"liftedBy,omitempty"`
	Message  string `json:"message"`
}

// MayBeDeleted reports whether the object is or may be deleted, also if only after a finalizer is
// removed.
func (e *Effect) MayBeDeleted() bool {
	switch e.Outcome {
	case Deleted, Blocked, Unknown:
		return true
	default:
		return e.Later == Deleted || e.Later == Unknown
	}
}
