package outcome

import (
	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Judge has what the outcomes of a run are judged from: what the run started with, what
// was recorded in it, and its world as it is now.
type Judge struct {
	// Snap is the world before the run.
	Snap *snapshot.Snapshot
	// Collects: the run requests nothing. Takes: it takes finalizers off. A run that does
	// neither deletes its targets.
	Collects, Takes bool
	Rules           engine.Rules
	// Partial: the rules look for owners everywhere, and something was not seen.
	Partial bool
	// NotAskedFor reports whether an object is outside of where the run collects.
	NotAskedFor func(*object.Object) bool
	// UndecidedBefore are the objects that are left alone, with what an earlier run says
	// of them.
	UndecidedBefore map[object.Ref]*Outcome

	// Tracks are what happened to each object, and Words the texts in them.
	Tracks *Tracks
	Words  *Words
	// Kept says why writes of the collector were withheld, and Refused how the server
	// refused others.
	Kept    map[object.Ref]reason.Code
	Refused map[object.Ref]error

	// Server stores the world as it is now. Lookups is what the collector reads, which
	// proves less.
	Server    *apisim.Server
	Lookups   engine.API
	Collector *engine.Collector
	// Controllers are those who act beside the collector, and Neighbours what was seen
	// of them.
	Controllers []controllers.Controller
	// WaitsOf lists what they wait for with an object since their last pass.
	WaitsOf    func(object.Ref) []controllers.Wait
	Neighbours *Neighbours
	Causes     Causes

	adopters adopters
	// dependentsByName is what namelessOwners returns; nil until it is asked.
	dependentsByName map[*object.Object][]*object.Object
	// child is the object whose only owner was located last, parent.
	child  *object.Object
	parent []object.Ref
}

// Causes tell what follows from the requests of a run from what happens beside them.
type Causes interface {
	// Follows reports whether something happened to an object after the requests, and
	// because of them.
	Follows(*Track) bool
	// Besides reports whether an object was only looked at because of what others had
	// deleted before.
	Besides(*Track) bool
}
