// Package manifest reads Kubernetes objects from text: JSON and YAML in every
// shape that kubectl and its relatives write. It streams: memory grows with the
// number of objects, never with the bytes of the input, and nothing but what
// deletion needs (see object.Object) is kept. What has to be held for a while has
// Limits.
//
// It knows nothing of files, archives or clusters; package snapshot does.
package manifest

import (
	"errors"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Position is a place in an input.
type Position struct {
	// File is the name of the input as the user knows it.
	File string
	// Document counts the documents of the input from 1.
	Document int
	// Line counts from 1; 0 when not known.
	Line int
}

// String is "file: document 2: line 17", leaving out what is not known.
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

// ErrTruncated is in the chain of the error when an input ends in the middle of
// a document.
var ErrTruncated = errors.New("the input ends in the middle of a document")

// Problem is bad input: where it is, and what was understood of it.
type Problem struct {
	Position
	Message string
	// Err is the cause, when there is one (ErrTruncated among others).
	Err error
}

// Error is "file: document 2: line 17: message".
func (p *Problem) Error() string { return p.Position.String() + ": " + p.Message }

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Err }

// List says that the input held a list. An empty list of a named kind is proof
// that there is none of it.
type List struct {
	Position
	// APIVersion and Kind of the list as written, such as "v1" and "PodList";
	// both are empty for a bare JSON array and for a JSON list that does not say its
	// kind, as the flattened lists of kubectl 1.13 and older, unless Options.Linked
	// knows their selfLink.
	APIVersion, Kind string
	// Items is the number of items read.
	Items int
	// Partial is true when the list says that it is one page of several
	// (metadata.continue is not empty).
	Partial bool
	// Open is true when the input ends with the entries of a bare YAML list, or in the middle
	// of a line of a list: had it been cut off there, nothing would show it.
	Open bool
	// Continue and ResourceVersion are those of metadata; a server names the rest
	// of the list with the one, and the moment of the list with the other.
	Continue, ResourceVersion string
}

// Handler is told what a Read finds, in the order of the input. An error that it
// returns ends the Read and is returned as it is. Nil functions are skipped.
type Handler struct {
	// Object is called for each object. InList tells that it was an item of a
	// list. The object is the handler's to keep.
	Object func(o *object.Object, inList bool, at Position) error
	// List is called at the end of each list, after its items.
	List func(List) error
	// Raw is called with what Wants asks for of the JSON text of an object, or with all of it
	// without Wants, some time after Object; not for objects of which nothing is wanted. The
	// text is the handler's only until it returns; it is empty where it cannot be had. With
	// Raw, memory grows with the largest of these objects, and with a list that says its kind
	// last.
	Wants func(o *object.Object) *Fields
	Raw   func(o *object.Object, text []byte) error
	// Moment is called with a time, in seconds since 1970, at which an Event, a Lease or a
	// Node was written.
	Moment func(seconds int64)
	// Kubelet is called with the version that a Node says its kubelet has.
	Kubelet func(version string)
	// Foreign is called for a document that is no Kubernetes object, such as a JSON
	// value without apiVersion, kind or name; what says why. Without Foreign a document
	// that has some of them is a Problem.
	Foreign func(at Position, what string) error
}

// Options say how to read.
type Options struct {
	// File is the name of the input for positions.
	File string
	// APIVersion, Kind and Namespace are taken for items that do not say theirs:
	// what a file name or a path says. Empty: an item without them is a Problem
	// unless its list says it.
	APIVersion, Kind, Namespace string
	// Linked returns the apiVersion and kind of the objects behind a path of the API, such as
	// /api/v1/namespaces/shop/pods; both are empty for an unknown one. It is asked for the
	// selfLink of flattened lists if Kind is empty. It may be nil.
	Linked func(path string) (apiVersion, kind string)
	// SkipText reads on after text that is not JSON, as `kubectl cluster-info
	// dump` writes log lines between its documents.
	SkipText bool
	// Interner shares repeated strings between several reads; nil for one of
	// its own.
	Interner *Interner
	// Limits bound the memory that reading takes.
	Limits Limits
}
