package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// replaying are the successive time limits of a watch of the past. The server sends what it
// remembers at once, and a bookmark two seconds before the end. If nothing arrived in the last
// second before the end, that was everything.
var replaying = []time.Duration{3 * time.Second, 12 * time.Second, 48 * time.Second}

const quiet = time.Second

// watchedFrom reads the changes of a place with a watch.
func (rd *pastReader) watchedFrom(ctx context.Context, at Place, from uint64) (got placePast) {
	for _, limit := range replaying {
		r := &replay{place: at, from: from, to: rd.to}
		whole, err := rd.replay(ctx, r, limit)
		if err != nil && len(r.changes) == 0 {
			return placePast{watched: from, why: err}
		}
		got = placePast{changes: r.changes, watched: from, from: from, why: err}
		if err != nil || whole {
			return got
		}
		got.why = fmt.Errorf("%s: the server had more to tell after %s", at.subject(), limit)
	}
	return got
}

// replay is a watch of the past.
type replay struct {
	place    Place
	from, to uint64
	changes  []history.Change
	last     map[object.Ref]*object.Object
}

// replay reads the changes that a watch sends, and reports whether they are complete.
func (rd *pastReader) replay(ctx context.Context, r *replay, limit time.Duration) (whole bool, err error) {
	r.last = map[object.Ref]*object.Object{}
	bound, cancel := context.WithTimeout(ctx, limit+rd.idle)
	defer cancel()
	frames, err := rd.watch(bound, r.place, strconv.FormatUint(r.from, 10), limit, newFrameReader(r.place.Resource))
	if err != nil {
		return false, err
	}
	defer frames.close()
	latest := rd.now()
	for {
		f, err := frames.next()
		if err != nil {
			if errors.Is(err, io.EOF) || bound.Err() != nil {
				return rd.now().Sub(latest) >= quiet, ctx.Err()
			}
			return false, err
		}
		revision, err := strconv.ParseUint(f.version, 10, 64)
		switch {
		case err == nil && revision > r.to, err == nil && f.Object == nil && revision == r.to:
			return true, nil // later changes are not wanted
		case f.Object == nil:
			continue
		case err != nil || revision <= r.from:
			return false, &UnexpectedAnswerError{About: r.place.subject().String(), What: "a change with the resourceVersion " + quote(f.version)}
		case f.Object.UID == "":
			return false, &UnexpectedAnswerError{About: r.place.subject().String(), What: "a change of " + quote(f.Object.Name) + ", which has no uid"}
		}
		latest = rd.now()
		r.take(f.Event, revision)
	}
}

// take keeps a change that matters for attribution. Most changes do not, and only show how an
// object looked before.
func (r *replay) take(e object.Event, revision uint64) {
	old := r.last[e.Object.Ref]
	if e.Type == object.Deleted {
		delete(r.last, e.Object.Ref)
	} else {
		r.last[e.Object.Ref] = e.Object
	}
	if e.Type == object.Modified && old != nil && !history.Tells(old, e.Object) {
		return
	}
	r.changes = append(r.changes, history.Change{Revision: revision, Type: e.Type, Object: e.Object, Old: old})
}
