package history

import (
	"context"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Record is what remembers the past of a cluster: its API server for some minutes, or a file.
type Record interface {
	// Past is every write since a moment, in order, of each kind that the record has. What it
	// does not have is one of the Limits. It fails where nothing is known at all.
	Past(ctx context.Context, w Window) (*Past, error)
	// Bodies hands over whole objects of the past as JSON; the bytes are the receiver's. It may
	// hand over one twice. Without an error those were all; those that were there and cannot be
	// shown are an *UnreadError, after all others.
	Bodies(ctx context.Context, c Collection, take func(raw []byte) error) error
}

// Window says how much of the past is asked for. The zero value asks for all of it.
type Window struct {
	// Since is how many seconds to look back; 0 for as far as is remembered.
	Since int64
	// SinceRevision is the revision behind which to look, in place of a time; 0 for none.
	SinceRevision uint64
	// Namespaces limit what is looked at; nil for all. Kinds without a namespace are part of it
	// always.
	Namespaces []string
	// Progress is told how many of the kinds are read; nil for nobody.
	Progress func(done, kinds int)
}

// Collection means the objects of one kind and namespace as they were at a revision.
type Collection struct {
	APIVersion, Kind, Namespace string
	// Name is that of the only one; empty for all of them.
	Name     string
	Revision uint64
}

// UnreadError says of objects that they were there and cannot be shown.
type UnreadError struct {
	Objects []object.Ref
	// Whys are why: one for each of them.
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
