package stored

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Past returns every write after a moment, all unchanged objects, and the state of each object at
// the beginning.
func (r *Record) Past(ctx context.Context, w history.Window) (*history.Past, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	from, err := r.begin(w)
	if err != nil {
		return nil, err
	}
	p := &history.Past{
		From: r.clock.Earliest(from), To: r.clock.Earliest(uint64(r.stored.Newest)), Resources: r.resources, Namespaces: w.Namespaces,
		Clock: r.clock, Timeless: len(r.clock.Ticks()) == 0,
	}
	l := &look{
		record: r, past: p, from: int64(from), within: w.Namespaces, written: map[object.Ref]bool{}, limited: map[schema.GroupResource]bool{},
	}
	for i, s := range r.shelves {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if w.Progress != nil {
			w.Progress(i+1, len(r.shelves))
		}
		if err := l.read(s); err != nil {
			return nil, fmt.Errorf("%s: %w", r.stored.Source.Files[0], err)
		}
	}
	slices.SortStableFunc(p.Changes, func(a, b history.Change) int { return cmp.Compare(a.Revision, b.Revision) })
	l.open()
	l.stand()
	return p, nil
}

// begin returns the revision after which the past is requested.
func (r *Record) begin(w history.Window) (uint64, error) {
	oldest, newest := uint64(r.stored.Oldest), uint64(r.stored.Newest)
	switch {
	case w.SinceRevision > newest:
		return 0, fmt.Errorf("%s: revision %d is not in the file, which holds %d to %d", r.stored.Source.Files[0], w.SinceRevision, oldest, newest)
	case w.SinceRevision > 0:
		return max(w.SinceRevision, oldest), nil
	case w.Since > 0:
		since := r.clock.At(newest).Time - w.Since
		for _, tick := range r.clock.Ticks() {
			if tick.Time > since { // until then it was not later
				return max(tick.Revision-1, oldest), nil
			}
		}
	}
	return oldest, nil
}
