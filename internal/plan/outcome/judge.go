package outcome

import (
	"k8s.io/apimachinery/pkg/types"

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
	// Collects: the run sends no requests of its own. Takes: it removes finalizers. A run that does
	// neither deletes its targets.
	Collects, Takes bool
	Rules           engine.Rules
	// Partial: the rules look for owners in all namespaces, and the snapshot is incomplete.
	Partial bool
	// NotAskedFor reports whether an object is outside of the collected scope.
	NotAskedFor func(*object.Object) bool
	// UndecidedBefore has the objects that are left alone, with their outcomes in an earlier run.
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
	// Attempted returns the finalizers of an object that their controllers tried to remove.
	Attempted func(types.UID) []string
	// Controllers are the simulated controllers other than the collector. Neighbours is their known
	// health.
	Controllers []controllers.Controller
	// WaitsOf returns what they wait for with an object since their last pass.
	WaitsOf    func(object.Ref) []controllers.Wait
	Neighbours *Neighbours
	Causes     Causes

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
	{"tracked", "first, for it needs no outcome: each object is judged by what was recorded of it alone",
		(*Judge).addTracked},
	{"ambiguous", "before anything is concluded from one object about another, for it may have been taken for another one",
		(*Judge).markAmbiguous},
	{"terminating", "after the tracked, for it adds what has no outcome yet",
		(*Judge).addTerminating},
	{"unresolved", "after the tracked, for it adds what has no outcome yet",
		(*Judge).addUnresolved},
	{"left alone", "after all that judges an object by itself, for it replaces what this run says by what the run said that wanted to write to it",
		(*Judge).addLeftAlone},
	{"other release", "after all that judges an object by itself, and before what follows from what is unknown",
		(*Judge).markOtherRelease},
	{"late", "after all that says what an object waits for, for it adds what is waited for",
		(*Judge).addLate},
	{"dependents", "after all that is unknown by itself, for it follows that down the owner references",
		(*Judge).markDependents},
	{"waiting", "after the dependents, for what is waited for may be one that is unknown because of its owner",
		(*Judge).spreadWaiting},
	{"followers", "after the waiting, for a claim or an account that waits may be unknown, and what goes with it then is",
		(*Judge).markFollowers},
	{"kept by blocked", "after all that may turn what is blocked into unknown, for it names what lives as long as that is blocked",
		(*Judge).addKeptByBlocked},
	{"left behind", "after it is settled which StatefulSets go, for it names the claims that they leave; only those that nothing else is known of",
		(*Judge).addLeft},
	{"rewritten", "after it is settled what goes, for it names what a controller changes because of that",
		(*Judge).AddRewritten},
	{"elsewhere", "last, for what is not asked for may have decided about what is",
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
