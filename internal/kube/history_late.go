package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"

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
	if (len(went)+arrivals(went))*(bits.Len64(to-rd.from)+2) > rd.probes { // not begun where the end is far
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
		err := e.arrive(ctx)
		if err == nil {
			err = e.search(ctx, near.asked, near.gone)
		}
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
