package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// lateOf reads a place up to a revision, of which a watch does not reach back so far: of a kind
// that changes all the time the server remembers the changes of a minute or two, and of a kind
// whose definition has changed none from before. Its storage still has the states, so that the
// list of then and that of the end show what went, and the object itself, at ever closer
// revisions, when. What came and went in between is not found, and that is said.
func (rd *pastReader) lateOf(ctx context.Context, at Place, to uint64) placePast {
	went, some, err := rd.went(ctx, at, to)
	if !some {
		return placePast{why: err}
	}
	got := placePast{from: rd.from, why: err}
	if err == nil {
		got.why = fmt.Errorf("%s: the server does not remember what came and went before revision %d", at.subject(), to)
	}
	unknown := 0
	if len(went)*(bits.Len64(to-rd.from)+2) > rd.probes { // not begun where the end is far
		went, unknown = nil, len(went)
	}
	all := len(went) + unknown
	// Those that follow each other in storage often went one after the other.
	parts := make([]part, min(searches, (len(went)+fewInPart-1)/fewInPart))
	tasks := make([]func(), len(parts))
	for i := range parts {
		p := &parts[i]
		*p = part{
			reader: rd, place: at, to: to, left: rd.probes / len(parts),
			went: went[i*len(went)/len(parts) : (i+1)*len(went)/len(parts)],
		}
		tasks[i] = func() { p.search(ctx) }
	}
	besides(tasks)
	for i := range parts {
		p := &parts[i]
		rd.probes -= p.asked
		got.changes = append(got.changes, p.changes...)
		unknown += p.unknown
		if p.failed != nil {
			got.why = p.failed
		}
	}
	if unknown > 0 && err == nil {
		got.why = fmt.Errorf("%s: %d objects went before revision %d; it would take too many requests to find out when %d of them did", at.subject(), all, to, unknown)
	}
	slices.SortStableFunc(got.changes, func(a, b history.Change) int { return cmp.Compare(a.Revision, b.Revision) })
	return got
}

// searches is how many objects are searched at a time, of at least fewInPart in a row.
const (
	searches  = 8
	fewInPart = 4
)

// leaving is an object that was there when the past begins, and is gone later, or being deleted.
type leaving struct {
	*object.Object
	still bool // it is there
}

// storedAt is where an object is in the order of a list.
func storedAt(o *object.Object) string { return o.Namespace + "/" + o.Name }

// went are the objects that went between the beginning and a revision, or began to, in the order
// of a list. Where a list breaks off they are those of which is known that they did; some says
// whether that is so of any part of the lists.
func (rd *pastReader) went(ctx context.Context, at Place, to uint64) (went []leaving, some bool, err error) {
	then := map[object.Ref]*leaving{}
	failed := rd.listed(ctx, at, Selection{Revision: rd.from, Metadata: true}, rd.bytes/2, func(o *object.Object) error {
		then[o.Ref] = &leaving{Object: o}
		return nil
	})
	if failed != nil && len(then) == 0 {
		return nil, false, failed
	}
	last, sorted := "", true
	broke := rd.listed(ctx, at, Selection{Revision: to, Metadata: true}, rd.bytes, func(o *object.Object) error {
		sorted = sorted && last <= storedAt(o)
		last = storedAt(o)
		switch x := then[o.Ref]; {
		case x == nil:
		case o.BeingDeleted() && !x.BeingDeleted():
			x.still = true
		default:
			delete(then, o.Ref)
		}
		return nil
	})
	if broke != nil && (last == "" || !sorted) {
		return nil, false, broke
	}
	for _, x := range then {
		if broke == nil || storedAt(x.Object) < last {
			went = append(went, *x)
		}
	}
	slices.SortFunc(went, func(a, b leaving) int { return strings.Compare(storedAt(a.Object), storedAt(b.Object)) })
	return went, true, errors.Join(failed, broke)
}

// part searches when some objects went, one after the other.
type part struct {
	reader *pastReader
	place  Place
	to     uint64
	went   []leaving
	// asked is for how many states it has asked, left for how many it may.
	asked, left int
	changes     []history.Change
	unknown     int
	failed      error
}

// errEnough ends a search that takes too long.
var errEnough = errors.New("it would take too many requests")

func (p *part) search(ctx context.Context) {
	var near struct{ asked, gone uint64 }
	for _, x := range p.went {
		e := &departure{part: p, leaving: x, states: map[uint64]*object.Object{}}
		err := e.search(ctx, near.asked, near.gone)
		p.changes = append(p.changes, e.changes...)
		near.asked, near.gone = e.asked, e.gone
		switch {
		case errors.Is(err, errEnough):
			p.unknown++
		case err != nil:
			p.failed = err
		}
	}
}
