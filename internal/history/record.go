package history

import (
	"context"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Record is a source of a cluster's past: its API server for some minutes, or a file.
type Record interface {
	// Past returns every write since a moment, in order, of each kind that the record has. Missing
	// parts are in Limits. It fails if nothing is known.
	Past(ctx context.Context, w Window) (*Past, error)
	// Bodies passes whole objects of the past as JSON to take, which owns the bytes. It may pass an
	// object twice. A nil error means that all were passed. Objects that existed and cannot be read
	// are in an *UnreadError, after all others.
	Bodies(ctx context.Context, c Collection, take func(raw []byte) error) error
}

// Window selects a part of the past. The zero value selects all of it.
type Window struct {
	// Since is how many seconds to look back; 0 means as far as is remembered.
	Since int64
	// SinceRevision is the revision to begin after, instead of a time; 0 for none.
	SinceRevision uint64
	// Namespaces limit namespaced kinds; nil means all. Cluster-scoped kinds are always included.
	Namespaces []string
	// Progress is called with the number of kinds that are read. It may be nil.
	Progress func(done, kinds int)
}

// Collection selects the objects of one kind and namespace at a revision.
type Collection struct {
	APIVersion, Kind, Namespace string
	// Name selects a single object; empty means all.
	Name     string
	Revision uint64
}

// UnreadError lists objects that existed but cannot be read.
type UnreadError struct {
	Objects []object.Ref
	// Whys has one error for each object.
	Whys []error
}

// Error names the first of them.
func (e *UnreadError) Error() string {
	text := fmt.Sprintf("%s: %v", e.Objects[0], e.Whys[0])
	if more := len(e.Objects) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more objects)", more)
	}
	return text
}
