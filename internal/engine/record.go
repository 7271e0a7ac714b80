package engine

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Record is the protocol of one finished attempt of a live run.
type Record struct {
	// Sequence is the number of the attempt in the run, from 1.
	Sequence uint64
	// Decision has the attempt, the classes of the owners, the reason and the requests.
	Decision Decision
	// Exchanges are the requests that were sent, reads included, in order. Those of a parallel
	// orphaning are in the order of the dependents. A request that Before refused is not included.
	// A read that several attempts shared is in the record of the one that sent it.
	Exchanges []Exchange
	// Disposition is what happens to the attempt.
	Disposition Disposition
	// Err is why no decision was possible, or the first failure of a request.
	Err error
}

// Exchange is one request on the wire and its result.
type Exchange struct {
	// Verb is object.Get, object.Delete or object.PatchVerb.
	Verb object.Verbs
	Ref  object.Ref
	// Request is the request that a write carries out; nil for a read.
	Request *Request
	// Err is the server's error; nil means success.
	Err error
}

// RefusedError says that RunOptions.Before refused a request. It was not sent: the object is kept,
// and the attempt is repeated.
type RefusedError struct {
	Request Request
	Err     error
}

// Error returns the object and the reason.
func (e *RefusedError) Error() string {
	return e.Request.Ref.String() + ": the request is not sent: " + e.Err.Error()
}

// Unwrap returns the reason.
func (e *RefusedError) Unwrap() error { return e.Err }

// wrote reports whether any write was accepted.
func wrote(sent []Exchange) bool {
	return slices.ContainsFunc(sent, func(x Exchange) bool { return x.Verb != object.Get && x.Err == nil })
}

// unshown maps written objects that no watch shows, by their virtual node, to the version that was
// written last.
type unshown map[graph.ID]string

// inVain reports whether an attempt repeats a write without effect on an object that no watch
// shows: the object still has the version of the previous write. It is being deleted already and
// held by a finalizer. Every repetition succeeds, so that a run would never settle.
func (u unshown) inVain(out Outcome) bool {
	a := out.Decision.Attempt
	if out.Disposition != Defer || !a.Virtual {
		delete(u, a.ID)
		return false
	}
	version := ""
	for _, r := range out.Decision.Requests {
		if r.Live != nil {
			version = r.Live.ResourceVersion
		}
	}
	before, written := u[a.ID]
	u[a.ID] = version
	return written && before == version
}
