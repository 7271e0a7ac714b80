package kube

import (
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Listener is told how the watches of a feed go. Its methods are called from many goroutines, and
// for each kind in the order in which things happen. They must not block.
type Listener interface {
	// Served is called each time that the server has said which kinds it serves.
	Served(rs *object.Resources)
	// Watching is called when a watch of a kind has begun.
	Watching(r object.Resource)
	// Broken is called when a kind cannot be listed or watched, and until it is listed no change
	// arrives.
	Broken(r object.Resource)
}

// deaf is the Listener of a feed that has none.
type deaf struct{}

func (deaf) Served(*object.Resources) {}
func (deaf) Watching(object.Resource) {}
func (deaf) Broken(object.Resource)   {}
