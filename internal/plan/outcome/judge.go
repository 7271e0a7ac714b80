package outcome

import (
	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Judge computes the outcomes of a run from the snapshot, the recorded tracks and the state of the
// simulated cluster at the end.
type Judge struct {
	// Snap is the snapshot that the run started with.
	Snap *snapshot.Snapshot
	// Collects: only our collector writes. Takes: the request removes finalizers. If both are false,
	// the request deletes the targets.
	Collects, Takes bool
	Rules           engine.Rules
	// Partial: the rules look for owners in all namespaces, and the snapshot is incomplete.
	Partial bool
	// NotAskedFor reports whether an object is outside of the collected scope.
	NotAskedFor func(*object.Object) bool
	// UndecidedBefore has the withheld objects, with their outcomes in an earlier run.
	UndecidedBefore map[object.Ref]*Outcome

	// Tracks records what happened to each object. Words interns the texts in them.
	Tracks *Tracks
	Words  *Words
	// Kept is why writes of the collector were withheld. Refused is the error of the server for other
	// writes.
	Kept    map[object.Ref]reason.Code
	Refused map[object.Ref]error

	// Server stores the current state. Lookups is the collector's view of it, which can prove less.
	Server    *apisim.Server
	Lookups   engine.API
	Collector *engine.Collector
	// Inventory returns what a deployer may delete with an object; nil if the snapshot lacks it.
	Inventory func(*finalizer.Deployer, *object.Object) *object.InventoryFacts
	// Gone reports whether the controller of a finalizer of an object is known not to run.
	Gone func(o *object.Object, finalizer string) bool
	// Attempted returns the finalizers of an object that their controllers tried to remove.
	Attempted func(*object.Object) []string
	// Controllers are the simulated controllers other than the collector. Health is their known
	// health.
	Controllers []controllers.Controller
	// WaitsOf returns what they wait for with an object since their last pass.
	WaitsOf func(object.Ref) []controllers.Wait
	Health  *Health
	Causes  Causes

	adopters adopters
	// dependentsByName is the result of namelessOwners, computed on first use.
	dependentsByName map[*object.Object][]*object.Object
	// child is the object most recently passed to onlyOwner. parent is its result.
	child  *object.Object
	parent []object.Ref
}

// Causes separates the effects of a run's requests from what happens without them.
type Causes interface {
	// Follows reports whether something happened to an object after the requests and because of them.
	Follows(*Track) bool
	// Besides reports whether the collector considered an object only because of earlier deletions
	// that others requested.
	Besides(*Track) bool
}

// pass is one step from the recorded tracks to the outcomes.
type pass struct {
	name string
	// why is the reason for the position of the pass.
	why string
	run func(*Judge, *Outcomes)
}

// passes run in this order. Each reads the results of the earlier ones: it adds objects that have no
// outcome yet, or derives outcomes from others.
var passes = []pass{
	{"tracked", "first: each object is judged by its own track, which needs no other outcome",
		(*Judge).addTracked},
	{"ambiguous", "before any outcome is derived from another one: the run may have confused the two objects",
		(*Judge).markAmbiguous},
	{"may be orphaned", "before any outcome is derived from another one: what goes with such an object may stay, too",
		(*Judge).markMayBeOrphaned},
	{"terminating", "after the tracked: it adds objects that have no outcome yet",
		(*Judge).addTerminating},
	{"unresolved", "after the tracked: it adds objects that have no outcome yet",
		(*Judge).addUnresolved},
	{"withheld", "after all passes that judge an object by itself: it replaces their outcomes by those of the run that wanted to write",
		(*Judge).addWithheld},
	{"other release", "after all passes that judge an object by itself, and before those that follow what is unknown",
		(*Judge).markOtherRelease},
	{"overdue", "after all passes that set what an object waits for: it adds the objects that are waited for",
		(*Judge).addOverdue},
	{"dependents", "after all passes that mark an object as unknown by itself: it follows the owner references down from these",
		(*Judge).markDependents},
	{"waiting", "after the dependents: an object may wait for one that is unknown because of its owner",
		(*Judge).spreadWaiting},
	{"claims pending", "after the outcomes of StatefulSets, and before the followers: the volumes of such a claim are unknown, too",
		(*Judge).addClaimsPending},
	{"followers", "after the waiting: a claim or an account that waits may be unknown, and its volume or tokens with it",
		(*Judge).markFollowers},
	{"kept by blocked", "after all passes that may turn a blocked object into an unknown one: it adds the dependents that a blocked owner keeps",
		(*Judge).addKeptByBlocked},
	{"claims left", "after the outcomes of StatefulSets are final: it adds the claims that they leave and that have no outcome yet",
		(*Judge).addClaimsLeft},
	{"rewritten", "after all deletions are final: it adds the objects that a controller changes because of them",
		(*Judge).AddRewritten},
	{"elsewhere", "last: objects outside of the requested scope may have decided about objects inside",
		(*Judge).leaveOutElsewhere},
}

// Outcomes judges every object at quiescence.
func (j *Judge) Outcomes() *Outcomes {
	all := &Outcomes{}
	j.child = nil // which kinds are served may have changed since
	for _, p := range passes {
		p.run(j, all)
	}
	return all
}
