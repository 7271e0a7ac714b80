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

// Past reads what the server remembers: every write since a moment, in order, of each kind that
// it lets us watch. It reads only: one small list for each step in which the beginning is
// searched, one watch for each kind, whole lists of the past of a kind of which a watch does not reach
// back so far, and the owners, namespaces and definitions of what went.
//
// What it cannot read of a kind is one of the Limits. It fails where nothing is known at all.
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

// changes reads the changes of all places from where the past begins.
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

// read watches all places at a time, and then asks the storage for what the watches do not tell:
// of one place after the other.
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
	// What is known of the ends of namespaces and CRDs says at which revisions the rest is read.
	first, rest := split(late, func(i int) bool { return holdsOthers(places[i].Resource) })
	for _, i := range slices.Concat(first, rest) {
		finish(i)
		tell()
	}
	return reads
}

// split returns the items for which something holds, and the others.
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

// holdsOthers reports whether with an object of a kind go all objects in it, or of it.
func holdsOthers(r object.Resource) bool { return r.Is(object.CRD) || r.Is(object.Namespace) }

// watchesInFlight is how many kinds are watched at a time. A watch takes some seconds and costs
// the server little meanwhile.
const watchesInFlight = 64

// placePast is what was read of a place.
type placePast struct {
	changes []history.Change
	// watched is from where a watch told of it.
	watched uint64
	// from is where it begins. If it is listed, lists of before that are known, too.
	from   uint64
	listed bool
	// why nothing, or not everything, was read.
	why error
}

// latest reads as much of the changes of a place as a watch tells.
func (rd *pastReader) latest(ctx context.Context, at Place) placePast {
	// A list of now has the server look up to where its watches have come. They may not say for
	// a minute otherwise that they know of no more. What fails here fails there.
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

// complete reads from storage what a watch has not told of a place: what was before that, and
// what objects were before they changed.
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
		if got.why != nil { // it has holes behind that, too
			got.from = rd.from
			return
		}
		got.why, got.listed = early.why, early.from == rd.from
	}
}

// mostBeginnings is how often a server may name another beginning: there may be several
// servers, each of which remembers less than the other.
const mostBeginnings = 3

var tooOld = regexp.MustCompile(`^too old resource version: \d+ \((\d+)\)$`)

// beginning is the revision from which on a server remembers the changes of a kind, as it says
// where it refuses to tell of an older one.
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
