package kube

import (
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Listener is notified about the watches of a feed. Its methods are called concurrently, but for
// each kind in order. They must not block.
type Listener interface {
	// Served is called after each successful discovery.
	Served(rs *object.Resources)
	// Watching is called when a watch of a kind has begun.
	Watching(r object.Resource)
	// Broken is called when a kind cannot be listed or watched. No change arrives until it is
	// listed again.
	Broken(r object.Resource)
}

// deaf is the Listener that ignores everything.
type deaf struct{}

func (deaf) Served(*object.Resources) {}
func (deaf) Watching(object.Resource) {}
func (deaf) Broken(object.Resource)   {}
