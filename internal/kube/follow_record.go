package kube

import (
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Recorder is shown what a feed reads, for a history that is kept. It is called from many
// goroutines, of each kind in the order in which things were read, and does not keep them waiting.
type Recorder interface {
	// Served says which kinds there are, as often as somebody has asked.
	Served(rs *object.Resources)
	// Whole reports whether a watch of a kind should show whole objects. Lists never do.
	Whole(r object.Resource) bool
	// Begin, Object and Listed are a list of a kind; it may begin again before it is over.
	Begin(r object.Resource)
	Object(r object.Resource, o *object.Object)
	Listed(r object.Resource, version string)
	// Watching says whether changes of a kind arrive, Broken that none do until it is listed.
	Watching(r object.Resource, on bool)
	Broken(r object.Resource, why string)
	// Change is a change, and the object as JSON if it was read whole.
	Change(r object.Resource, e object.Event, raw []byte)
}

// Nobody is a Recorder that keeps nothing.
type Nobody struct{}

// Served does nothing.
func (Nobody) Served(*object.Resources) {}

// Whole is false.
func (Nobody) Whole(object.Resource) bool { return false }

// Begin does nothing.
func (Nobody) Begin(object.Resource) {}

// Object does nothing.
func (Nobody) Object(object.Resource, *object.Object) {}

// Listed does nothing.
func (Nobody) Listed(object.Resource, string) {}

// Watching does nothing.
func (Nobody) Watching(object.Resource, bool) {}

// Broken does nothing.
func (Nobody) Broken(object.Resource, string) {}

// Change does nothing.
func (Nobody) Change(object.Resource, object.Event, []byte) {}
