package engine

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Record is one finished attempt of a live run, as it happened.
type Record struct {
	// Sequence counts the finished attempts of a run, from 1.
	Sequence uint64
	// Decision holds the attempt, the classes of the owners, the reason and the
	// requests that followed from it.
	Decision Decision
	// Exchanges are the requests that went out, reads included, in the order in
	// which they were sent; those of an orphaning that ran side by side are in the
	// order of the dependents. A request that Before refused is not among them. A
	// read that several attempts shared is in the record of the one that sent it.
	Exchanges []Exchange
	// Disposition is what becomes of the attempt.
	Disposition Disposition
	// Err is why nothing was decided, or the first failure of a request.
	Err error
}

// Exchange is one request on the wire and its answer.
type Exchange struct {
	// Verb is object.Get, object.Delete or object.PatchVerb.
	Verb object.Verbs
	Ref  object.Ref
	// Request is the one that a write carries out; nil for a read.
	Request *Request
	// Err is the answer; nil is success.
	Err error
}

// RefusedError says that RunOptions.Before refused a request, which was not
// sent: the object is kept, and the attempt comes again.
type RefusedError struct {
	Request Request
	Err     error
}

// Error names the object and the reason.
func (e *RefusedError) Error() string {
	return e.Request.Ref.String() + ": the request is not sent: " + e.Err.Error()
}

// Unwrap is the reason.
func (e *RefusedError) Unwrap() error { return e.Err }

// wrote reports whether some write was accepted.
func wrote(sent []Exchange) bool {
	return slices.ContainsFunc(sent, func(x Exchange) bool { return x.Verb != object.Get && x.Err == nil })
}

// unshown are the objects that no watch shows and that were written, by their
// identities in the graph, which are virtual: the version that was written last.
type unshown map[graph.ID]string

// inVain reports whether an attempt repeats a write that has changed nothing at an object
// that no watch shows: it still has the version that was written before. Such a one is
// deleted already, and held by a finalizer; every repetition is a success, and a run
// would never settle.
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
