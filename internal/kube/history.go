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

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// PastOptions say how much of the past to read.
type PastOptions struct {
	// Since is how far back to look; 0 for as far as the server remembers.
	Since time.Duration
	// SinceRevision is the revision behind which to look, in place of a time; 0 for none.
	SinceRevision uint64
	// Scope limits what is looked at. Kinds without a namespace are part of it always.
	Scope Scope
	// Progress is told how many of the kinds are read; nil for nobody.
	Progress func(done, kinds int)
}

// Past reads what the server remembers: every write since a moment, in order, of each kind that
// it lets us watch. It reads only: one small list for each step in which the beginning is
// searched, one watch for each kind, and the owners, namespaces and definitions of what went.
//
// What it cannot read of a kind is one of the Limits. It fails where nothing is known at all.
func (c *Client) Past(ctx context.Context, o PastOptions) (*history.Past, error) {
	if err := o.Scope.Check(); err != nil {
		return nil, err
	}
	d, err := c.Discover(ctx)
	if err != nil {
		return nil, err
	}
	clock := &clockReader{client: c}
	past, err := clock.window(ctx, o)
	if err != nil {
		return nil, err
	}
	past.Resources = d.Resources
	if clock.refused != nil {
		past.Limits = append(past.Limits, history.Limit{Resource: object.Lease.Resource(), Why: clock.refused.Error()})
	}
	places, _ := o.Scope.places(d.Resources)
	places = slices.DeleteFunc(places, func(p Place) bool { return ordinary(p.Resource) })
	slices.SortFunc(places, comparePlaces)
	if err := c.changes(ctx, past, places, o.Progress); err != nil {
		return nil, err
	}
	if past.Clock, err = clock.between(ctx, past.From.Revision, past.To.Revision); err != nil {
		return nil, err
	}
	past.From, past.To = past.Clock.At(past.From.Revision), past.Clock.At(past.To.Revision)
	for i := range past.Limits {
		past.Limits[i].From = past.Clock.At(past.Limits[i].From.Revision)
	}
	return past, c.stand(ctx, past)
}

// ordinary reports whether objects of a kind come and go all the time, and are nobody's loss.
func ordinary(r object.Resource) bool {
	return r.Is(object.Lease) || r.Name == "events" && (r.Group == "" || r.Group == "events.k8s.io")
}

// changes watches all places from where the past begins.
func (c *Client) changes(ctx context.Context, past *history.Past, places []Place, progress func(done, kinds int)) error {
	reads := make([]placePast, len(places))
	var mu sync.Mutex
	done := 0
	tasks := make([]func(), len(places))
	for i, at := range places {
		tasks[i] = func() {
			reads[i] = c.pastOf(ctx, at, past.From.Revision)
			mu.Lock()
			defer mu.Unlock()
			if done++; progress != nil {
				progress(done, len(places))
			}
		}
	}
	atMost(watchesInFlight, tasks)
	if err := ctx.Err(); err != nil {
		return err
	}
	for i := range reads {
		r := &reads[i]
		past.Changes = append(past.Changes, r.changes...)
		if r.why != nil {
			past.Limits = append(past.Limits, history.Limit{
				Resource: places[i].Resource, From: history.Moment{Revision: r.from}, Why: r.why.Error(),
			})
		}
		r.changes = nil
	}
	slices.SortStableFunc(past.Changes, func(a, b history.Change) int { return cmp.Compare(a.Revision, b.Revision) })
	return nil
}

// watchesInFlight is how many kinds are watched at a time. A watch takes some seconds and costs
// the server little meanwhile.
const watchesInFlight = 64

// placePast is what was read of a place.
type placePast struct {
	changes []history.Change
	// from is where it begins.
	from uint64
	// why nothing, or not everything, was read.
	why error
}

// replaying is for how long a server is asked to tell of the past of a place, before it is
// asked to take longer. It tells what it remembers at once: when nothing has come for quiet
// until the end, that was all.
var replaying = []time.Duration{3 * time.Second, 12 * time.Second, 48 * time.Second}

const quiet = time.Second

// pastOf reads the changes of a place: of as much as a watch tells, and of what was before that
// by what the storage still has.
func (c *Client) pastOf(ctx context.Context, at Place, from uint64) placePast {
	begins := from
	got := c.watched(ctx, at, begins)
	for range mostBeginnings {
		next, said := beginning(got.why)
		if !said || next <= begins {
			break
		}
		begins = next
		got = c.watched(ctx, at, begins)
	}
	switch {
	case expired(got.why) || begins > from && got.from == 0:
		return c.lateOf(ctx, at, from, 0)
	case begins > from:
		early := c.lateOf(ctx, at, from, begins)
		got.changes = append(early.changes, got.changes...)
		if got.why != nil { // it has holes behind that, too
			got.from = from
			return got
		}
		got.why = early.why
	}
	return got
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

// watched reads the changes of a place that a watch tells.
func (c *Client) watched(ctx context.Context, at Place, from uint64) placePast {
	got := placePast{from: from}
	for try, limit := range replaying {
		r := &replay{place: at, from: from}
		whole, err := c.replay(ctx, r, limit)
		if err != nil {
			return placePast{why: err}
		}
		if last := try == len(replaying)-1; whole || last {
			c.before(ctx, at, from, r.changes)
			got.changes = r.changes
			if !whole {
				got.why = fmt.Errorf("%s: the server had more to tell after %s", at.subject(), limit)
			}
			break
		}
	}
	return got
}

// replay is a watch from the past.
type replay struct {
	place   Place
	from    uint64
	changes []history.Change
	last    map[object.Ref]*object.Object
}

// replay reads what a server tells of the past of a place, and whether it has come to an end
// with that: it tells what it remembers at once, and then only what happens.
func (c *Client) replay(ctx context.Context, r *replay, limit time.Duration) (whole bool, err error) {
	r.last = map[object.Ref]*object.Object{}
	bound, cancel := context.WithTimeout(ctx, limit+c.idle)
	defer cancel()
	frames, err := c.watch(bound, r.place, strconv.FormatUint(r.from, 10), limit, newFrameReader(r.place.Resource))
	if err != nil {
		return false, err
	}
	defer frames.close()
	began := c.now()
	latest := began
	for {
		f, err := frames.next()
		if err != nil {
			if errors.Is(err, io.EOF) || bound.Err() != nil {
				return c.now().Sub(latest) >= quiet, ctx.Err()
			}
			return false, err
		}
		if f.Object == nil {
			continue
		}
		latest = c.now()
		if err := r.take(f); err != nil {
			return false, err
		}
	}
}

// take keeps a change that matters to who took what: others are most of them, and say
// nothing but how an object looked before.
func (r *replay) take(f frame) error {
	revision, err := strconv.ParseUint(f.version, 10, 64)
	if err != nil || revision <= r.from {
		return &UnexpectedAnswerError{About: r.place.subject().String(), What: "a change with the resourceVersion " + quote(f.version)}
	}
	if f.Object.UID == "" {
		return &UnexpectedAnswerError{About: r.place.subject().String(), What: "a change of " + quote(f.Object.Name) + ", which has no uid"}
	}
	old := r.last[f.Object.Ref]
	if f.Type == object.Deleted {
		delete(r.last, f.Object.Ref)
	} else {
		r.last[f.Object.Ref] = f.Object
	}
	if f.Type == object.Modified && old != nil && !tells(old, f.Object) {
		return nil
	}
	r.changes = append(r.changes, history.Change{Revision: revision, Type: f.Type, Object: f.Object, Old: old})
	return nil
}

// tells reports whether a change tells something about deletion, or about a new order to a
// controller.
func tells(old, o *object.Object) bool {
	return old.Generation != o.Generation || old.DeletionTimestamp() != o.DeletionTimestamp() ||
		!slices.Equal(old.Owners, o.Owners) || !slices.Equal(old.Finalizers(), o.Finalizers())
}
