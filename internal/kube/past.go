package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/past"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// Past reads the history that the server remembers: every write since a moment, in order, of each
// kind that may be watched. It only reads: one small list for each step of the search for the
// beginning, one watch for each kind, whole lists of the past for a kind if its watch does not
// reach back far enough, and the owners, namespaces and CRDs of deleted objects.
//
// Kinds that cannot be read completely are in Limits. It fails if nothing is known.
func (c *Client) Past(ctx context.Context, w past.Window) (*past.Record, error) {
	scope := Scope{Namespaces: w.Namespaces}
	if err := scope.Check(); err != nil {
		return nil, err
	}
	d, err := c.Discover(ctx)
	if err != nil {
		return nil, err
	}
	clock := &clockReader{client: c}
	record, err := clock.window(ctx, w)
	if err != nil {
		return nil, err
	}
	record.Resources = d.Resources
	info, err := c.serverInfo(ctx)
	if err != nil {
		return nil, err
	}
	record.Minor = int(release.MinorOf(info.GitVersion))
	if clock.refused != nil {
		record.Limits = append(record.Limits, past.Limit{Resource: object.Lease.Resource(), Why: clock.refused.Error()})
	}
	places, _ := scope.places(d.Resources)
	places = slices.DeleteFunc(places, func(p Place) bool { return past.IsRoutine(p.Resource) })
	slices.SortFunc(places, comparePlaces)
	rd := newPastReader(c, record.From.Revision, record.To.Revision)
	if err := rd.readChanges(ctx, record, places, w.Progress); err != nil {
		return nil, err
	}
	if record.Clock, err = clock.buildClock(ctx, record); err != nil {
		return nil, err
	}
	record.From = record.Clock.At(record.From.Revision)
	for i := range record.Limits {
		record.Limits[i].From = record.Clock.At(record.Limits[i].From.Revision)
	}
	return record, rd.readUnchanged(ctx, record)
}

// readChanges reads the changes of all places since the beginning of the past.
func (rd *pastReader) readChanges(ctx context.Context, record *past.Record, places []Place, progress func(done, kinds int)) error {
	reads := rd.readPlaces(ctx, places, progress)
	if err := ctx.Err(); err != nil {
		return err
	}
	for i := range reads {
		r := &reads[i]
		record.Changes = append(record.Changes, r.changes...)
		if r.why != nil {
			record.Limits = append(record.Limits, past.Limit{
				Resource: places[i].Resource, From: past.Moment{Revision: r.from}, Listed: r.listed, Why: r.why.Error(),
			})
		}
		r.changes = nil
	}
	slices.SortStableFunc(record.Changes, func(a, b past.Change) int { return cmp.Compare(a.Revision, b.Revision) })
	return nil
}

// readPlaces watches all places concurrently, and then reads from the storage what the watches
// lack, one place at a time.
func (rd *pastReader) readPlaces(ctx context.Context, places []Place, progress func(done, kinds int)) []placePast {
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
			if reads[i] = rd.readWatched(ctx, at); reads[i].from == rd.from {
				tell()
			}
		}
	}
	runLimited(watchesInFlight, tasks)
	var late []int
	finish := func(i int) {
		rd.readEarlier(ctx, places[i], &reads[i])
		rd.recordDeletions(reads[i].changes)
		if at := places[i].Resource; at.Is(object.CRD) {
			rd.crdDeletions = crdDeletionsIn(reads[i].changes)
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
	for _, containers := range []bool{true, false} {
		for _, i := range late {
			if places[i].Resource.HoldsContainers() == containers {
				finish(i)
				tell()
			}
		}
	}
	return reads
}

// watchesInFlight is how many kinds are watched at a time. A watch takes some seconds and costs the
// server little.
const watchesInFlight = 64

// placePast is the history of a place.
type placePast struct {
	changes []past.Change
	// watched is the first revision that the watch covers.
	watched uint64
	// from is where the history begins. If listed is true, lists of earlier revisions are known
	// too.
	from   uint64
	listed bool
	// why is why nothing, or not everything, was read.
	why error
}

// readWatched reads the changes of a place that a watch sends.
func (rd *pastReader) readWatched(ctx context.Context, at Place) placePast {
	// A list of now makes the server check the progress of its watch cache. Otherwise the watch may
	// not report for a minute that there is nothing more. An error of the list recurs in the watch.
	//
	// Upstream: apiserver/pkg/storage/cacher/cacher.go Cacher.GetList.
	_, _ = rd.shownAt(ctx, at, 0)
	got := rd.watchFrom(ctx, at, rd.from)
	for range maxBeginnings {
		next, said := oldestRemembered(got.why)
		if !said || next <= got.watched {
			break
		}
		got = rd.watchFrom(ctx, at, next)
	}
	return got
}

// readEarlier reads from the storage what a watch does not send: earlier changes, and the states of
// objects before their first change.
func (rd *pastReader) readEarlier(ctx context.Context, at Place, got *placePast) {
	if err := rd.readInitialStates(ctx, at, got.watched, got.changes); got.why == nil {
		got.why = err
	}
	switch {
	case got.from == 0 && (isExpired(got.why) || got.watched > rd.from):
		*got = rd.readFromLists(ctx, at, rd.to)
	case got.watched > rd.from:
		early := rd.readFromLists(ctx, at, min(got.watched, rd.to))
		got.changes = append(early.changes, got.changes...)
		if got.why != nil { // there are gaps after it too
			got.from = rd.from
			return
		}
		got.why, got.listed = early.why, early.from == rd.from
	}
}

// maxBeginnings is how often a server may name another beginning: there may be several servers
// with different memories.
const maxBeginnings = 3

var tooOld = regexp.MustCompile(`^too old resource version: \d+ \((\d+)\)$`)

// oldestRemembered returns the oldest revision that a server remembers of a kind, from its error to
// a watch of an older one.
//
// Upstream: apiserver/pkg/storage/cacher/watch_cache.go watchCache.getAllEventsSinceLocked.
func oldestRemembered(err error) (revision uint64, said bool) {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || !isExpired(err) {
		return 0, false
	}
	m := tooOld.FindStringSubmatch(status.ErrStatus.Message)
	if m == nil {
		return 0, false
	}
	revision, err = strconv.ParseUint(m[1], 10, 64)
	return revision, err == nil
}

// replayTimeouts are the successive time limits of a watch of the past. The server sends what it
// remembers at once, and a bookmark two seconds before the end. If nothing arrived in the last
// second before the end, that was everything.
var replayTimeouts = []time.Duration{3 * time.Second, 12 * time.Second, 48 * time.Second}

const replayQuiet = time.Second

// watchFrom reads the changes of a place with a watch.
func (rd *pastReader) watchFrom(ctx context.Context, at Place, from uint64) (got placePast) {
	for _, limit := range replayTimeouts {
		r := &replay{place: at, from: from, to: rd.to}
		whole, err := rd.replay(ctx, r, limit)
		if err != nil && len(r.changes) == 0 {
			return placePast{watched: from, why: err}
		}
		got = placePast{changes: r.changes, watched: from, from: from, why: err}
		if err != nil || whole {
			return got
		}
		got.why = fmt.Errorf("%s: the server still sent changes after %s", at.subject(), limit)
	}
	return got
}

// replay is a watch of the past.
type replay struct {
	place    Place
	from, to uint64
	changes  []past.Change
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
				return rd.now().Sub(latest) >= replayQuiet, ctx.Err()
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
		r.record(f.Event, revision)
	}
}

// record keeps a change that matters for attribution. Most changes do not, and only show how an
// object looked before.
func (r *replay) record(e object.Event, revision uint64) {
	old := r.last[e.Object.Ref]
	if e.Type == object.Deleted {
		delete(r.last, e.Object.Ref)
	} else {
		r.last[e.Object.Ref] = e.Object
	}
	if e.Type == object.Modified && old != nil && !past.IsRelevant(old, e.Object) {
		return
	}
	r.changes = append(r.changes, past.Change{Revision: revision, Type: e.Type, Object: e.Object, Old: old})
}

// readInitialStates fills in the states of objects at the beginning of the past if their first
// change does not show them: a watch sends the result of a write, not the previous state. If it
// fails, some states stay unknown.
func (rd *pastReader) readInitialStates(ctx context.Context, at Place, from uint64, changes []past.Change) error {
	var first []*past.Change
	var refs []object.Ref
	seen := map[object.Ref]bool{}
	for i := range changes {
		ch := &changes[i]
		if !seen[ch.Object.Ref] && ch.Type == object.Modified && ch.Old == nil {
			first, refs = append(first, ch), append(refs, ch.Object.Ref)
		}
		seen[ch.Object.Ref] = true
	}
	if len(refs) == 0 {
		return nil
	}
	then, err := rd.states(ctx, at, refs, from)
	for _, ch := range first {
		if o := then.find(ch.Object.Ref); o != nil && o.UID == ch.Object.UID {
			ch.Old = o
		}
	}
	return err
}

// Bodies passes objects as they were at a revision to take. Forgotten holds for the error if the
// server no longer remembers the revision.
func (c *Client) Bodies(ctx context.Context, of past.Collection, take func(raw []byte) error) error {
	r, err := c.Resource(of.APIVersion, of.Kind)
	if err != nil {
		return err
	}
	by := Selection{Revision: of.Revision}
	if of.Name != "" {
		by.Fields = "metadata.name=" + of.Name
	}
	return c.bodies(ctx, Place{r, of.Namespace}, by, take)
}
