// Package manifest reads Kubernetes objects from text: JSON and YAML in every form that kubectl and
// similar tools write. It streams: memory grows with the number of objects, not with the size of
// the input, and it keeps only what deletion needs (see object.Object). Transient memory has
// Limits.
//
// It knows nothing about files, archives or clusters; package snapshot does.
package manifest

import (
	"errors"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Position is a position in an input.
type Position struct {
	// File is the name of the input as the user knows it.
	File string
	// Document is the number of the document in the input, from 1.
	Document int
	// Line is the line number, from 1; 0 if unknown.
	Line int
}

// String returns "file: document 2: line 17" without unknown parts.
func (p Position) String() string {
	s := p.File
	if p.Document > 0 {
		s += fmt.Sprintf(": document %d", p.Document)
	}
	if p.Line > 0 {
		s += fmt.Sprintf(": line %d", p.Line)
	}
	return s
}

// ErrTruncated is in the error chain if an input ends in the middle of a document.
var ErrTruncated = errors.New("the input ends in the middle of a document")

// Problem is an error of the input with its position.
type Problem struct {
	Position
	Message string
	// Err is the cause, if any (ErrTruncated among others).
	Err error
}

// Error returns "file: document 2: line 17: message".
func (p *Problem) Error() string { return p.Position.String() + ": " + p.Message }

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Err }

// List is a list in the input. An empty list of a named kind proves that there are no objects of
// the kind.
type List struct {
	Position
	// APIVersion and Kind of the list as written, such as "v1" and "PodList". Both are empty for a
	// bare JSON array and for a JSON list without a kind, like the flattened lists of kubectl 1.13
	// and older, unless Options.Linked knows their selfLink.
	APIVersion, Kind string
	// Items is the number of items read.
	Items int
	// Partial is true if the list is one page of several (metadata.continue is not empty).
	Partial bool
	// Open is true if the input ends with the entries of a bare YAML list, or in the middle of a
	// line of a list: a truncation there would be undetectable.
	Open bool
	// Continue and ResourceVersion are those of metadata: the token for the next page, and the
	// version of the list.
	Continue, ResourceVersion string
}

// Handler receives the results of a Read, in the order of the input. An error of a callback ends
// the Read and is returned unchanged. Nil callbacks are skipped.
type Handler struct {
	// Object is called for each object. inList is true for an item of a list. The handler may keep
	// the object.
	Object func(o *object.Object, inList bool, at Position) error
	// List is called at the end of each list, after its items.
	List func(List) error
	// Raw is called some time after Object with the parts that Wants requests of an object's JSON
	// text, or with all of it without Wants; not for objects for which Wants returns nil. The text
	// is valid until it returns, and empty if it isn't available. With Raw, memory grows with the
	// largest of these objects, and with a list that has its kind last.
	Wants func(o *object.Object) *Fields
	Raw   func(o *object.Object, text []byte) error
	// Moment is called with a time, in seconds since 1970, at which an Event, a Lease or a Node was
	// written.
	Moment func(seconds int64)
	// Kubelet is called with the kubelet's version in a Node.
	Kubelet func(version string)
	// Foreign is called for a document that is no Kubernetes object, such as a JSON value without
	// apiVersion, kind or name; what is the reason. Without Foreign, a document with some of these
	// fields is a Problem.
	Foreign func(at Position, what string) error
}

// Options configure a Read.
type Options struct {
	// File is the name of the input in positions.
	File string
	// APIVersion, Kind and Namespace apply to items without their own, for example by a file name
	// or a path. Empty: such an item is a Problem unless its list has the kind.
	APIVersion, Kind, Namespace string
	// Linked returns the apiVersion and kind of the objects at a path of the API, such as
	// /api/v1/namespaces/shop/pods; both are empty for an unknown one. It is called with the
	// selfLink of flattened lists if Kind is empty. It may be nil.
	Linked func(path string) (apiVersion, kind string)
	// SkipText skips text between documents that is not JSON: `kubectl cluster-info dump` writes
	// log lines there.
	SkipText bool
	// Interner shares repeated strings between several reads; nil for a new one.
	Interner *Interner
	// Limits bound the memory of the Read.
	Limits Limits
}
