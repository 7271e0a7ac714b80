package kube

import (
	"cmp"
	"context"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// Past reads the history that the server remembers: every write since a moment, in order, of each
// kind that may be watched. It only reads: one small list for each step of the search for the
// beginning, one watch for each kind, whole lists of the past for kinds whose watch does not reach
// back far enough, and the owners, namespaces and CRDs of deleted objects.
//
// Kinds that cannot be read completely are in Limits. It fails if nothing is known.
func (c *Client) Past(ctx context.Context, w history.Window) (*history.Past, error) {
	scope := Scope{Namespaces: w.Namespaces}
	if err := scope.Check(); err != nil {
		return nil, err
	}
	d, err := c.Discover(ctx)
	if err != nil {
		return nil, err
	}
	clock := &clockReader{client: c}
	past, err := clock.window(ctx, w)
	if err != nil {
		return nil, err
	}
	past.Resources, past.Namespaces = d.Resources, w.Namespaces
	if version, err := c.version(ctx); err == nil {
		past.Minor = int(release.MinorOf(version))
	}
	if clock.refused != nil {
		past.Limits = append(past.Limits, history.Limit{Resource: object.Lease.Resource(), Why: clock.refused.Error()})
	}
	places, _ := scope.places(d.Resources)
	places = slices.DeleteFunc(places, func(p Place) bool { return history.Ordinary(p.Resource) })
	slices.SortFunc(places, comparePlaces)
	rd := newPastReader(c, past.From.Revision, past.To.Revision)
	if err := rd.changes(ctx, past, places, w.Progress); err != nil {
		return nil, err
	}
	if past.Clock, err = clock.between(ctx, past); err != nil {
		return nil, err
	}
	past.From = past.Clock.At(past.From.Revision)
	for i := range past.Limits {
		past.Limits[i].From = past.Clock.At(past.Limits[i].From.Revision)
	}
	return past, rd.stand(ctx, past)
}

// changes reads the changes of all places since the beginning of the past.
func (rd *pastReader) changes(ctx context.Context, past *history.Past, places []Place, progress func(done, kinds int)) error {
	reads := rd.read(ctx, places, progress)
	if err := ctx.Err(); err != nil {
		return err
	}
	for i := range reads {
		r := &reads[i]
		past.Changes = append(past.Changes, r.changes...)
		if r.why != nil {
			past.Limits = append(past.Limits, history.Limit{
				Resource: places[i].Resource, From: history.Moment{Revision: r.from}, Listed: r.listed, Why: r.why.Error(),
			})
		}
		r.changes = nil
	}
	slices.SortStableFunc(past.Changes, func(a, b history.Change) int { return cmp.Compare(a.Revision, b.Revision) })
	return nil
}

// read watches all places concurrently, and then reads from the storage what the watches lack, one
// place at a time.
func (rd *pastReader) read(ctx context.Context, places []Place, progress func(done, kinds int)) []placePast {
	var mu sync.Mutex
	done := 0
	tell := func() {
		mu.Lock()
		defer mu.Unlock()
		if done++; progress != nil {
			progress(done, len(places))
		}
	}
	reads := make([]placePast, len(places))
	tasks := make([]func(), len(places))
	for i, at := range places {
		tasks[i] = func() {
			if reads[i] = rd.latest(ctx, at); reads[i].from == rd.from {
				tell()
			}
		}
	}
	atMost(watchesInFlight, tasks)
	var late []int
	finish := func(i int) {
		rd.complete(ctx, places[i], &reads[i])
		rd.note(reads[i].changes)
		if at := places[i].Resource; at.Is(object.CRD) {
			rd.ends = endsOf(reads[i].changes)
		}
	}
	for i := range places {
		if reads[i].from == rd.from {
			finish(i)
		} else {
			late = append(late, i)
		}
	}
	// The known ends of namespaces and CRDs determine the revisions of further lists.
	first, rest := split(late, func(i int) bool { return holdsOthers(places[i].Resource) })
	for _, i := range slices.Concat(first, rest) {
		finish(i)
		tell()
	}
	return reads
}

// split returns the items that satisfy holds, and the others.
func split(items []int, holds func(int) bool) (yes, no []int) {
	for _, i := range items {
		if holds(i) {
			yes = append(yes, i)
		} else {
			no = append(no, i)
		}
	}
	return yes, no
}

// holdsOthers reports whether deleting an object of a kind deletes all objects in it, or of it.
func holdsOthers(r object.Resource) bool { return r.Is(object.CRD) || r.Is(object.Namespace) }

// watchesInFlight is how many kinds are watched at a time. A watch takes some seconds and costs the
// server little.
const watchesInFlight = 64

// placePast is the history of a place.
type placePast struct {
	changes []history.Change
	// watched is the first revision that the watch covers.
	watched uint64
	// from is the beginning. If listed is true, lists of earlier revisions are known too.
	from   uint64
	listed bool
	// why is why nothing, or not everything, was read.
	why error
}

// latest reads the changes of a place that a watch sends.
func (rd *pastReader) latest(ctx context.Context, at Place) placePast {
	// A list of now makes the server check the progress of its watch cache. Otherwise the watch may
	// not report for a minute that there is nothing more. An error of the list recurs in the watch.
	//
	// Upstream: apiserver/pkg/storage/cacher/cacher.go Cacher.GetList.
	_, _ = rd.shownAt(ctx, at, 0)
	got := rd.watchedFrom(ctx, at, rd.from)
	for range mostBeginnings {
		next, said := beginning(got.why)
		if !said || next <= got.watched {
			break
		}
		got = rd.watchedFrom(ctx, at, next)
	}
	return got
}

// complete reads from the storage what a watch does not send: earlier changes, and the states of
// objects before their first change.
func (rd *pastReader) complete(ctx context.Context, at Place, got *placePast) {
	if err := rd.before(ctx, at, got.watched, got.changes); got.why == nil {
		got.why = err
	}
	switch {
	case got.from == 0 && (expired(got.why) || got.watched > rd.from):
		*got = rd.lateOf(ctx, at, rd.to)
	case got.watched > rd.from:
		early := rd.lateOf(ctx, at, min(got.watched, rd.to))
		got.changes = append(early.changes, got.changes...)
		if got.why != nil { // there are gaps after it too
			got.from = rd.from
			return
		}
		got.why, got.listed = early.why, early.from == rd.from
	}
}

// mostBeginnings is how often a server may name another beginning: there may be several servers
// with different memories.
const mostBeginnings = 3

var tooOld = regexp.MustCompile(`^too old resource version: \d+ \((\d+)\)$`)

// beginning returns the oldest revision that a server remembers of a kind, from its error to a
// watch of an older one.
//
// Upstream: apiserver/pkg/storage/cacher/watch_cache.go watchCache.getAllEventsSinceLocked.
func beginning(err error) (revision uint64, said bool) {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || !expired(err) {
		return 0, false
	}
	m := tooOld.FindStringSubmatch(status.ErrStatus.Message)
	if m == nil {
		return 0, false
	}
	revision, err = strconv.ParseUint(m[1], 10, 64)
	return revision, err == nil
}
