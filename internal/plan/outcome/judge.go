package outcome

import (
	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
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
