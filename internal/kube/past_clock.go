package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	coordination "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/past"
)

// leasePlace is the place of the leases that the control plane renews every few seconds.
var leasePlace = Place{Resource: object.Lease.Resource(), Namespace: "kube-system"}

// clockReader maps revisions to times: a list of leases at a revision shows the time of the last
// renewal.
type clockReader struct {
	client *Client
	// refused is why these leases may not be read. Then substitute is a readable list, which shows
	// the remembered revisions but no times.
	refused    error
	substitute Place
	ticks      []past.Moment
	// unreliable are leases without a server timestamp and with a renewTime ahead of the server's
	// clock, and leases that are no longer renewed.
	unreliable map[string]bool
	// now is the server's time of the first list; 0 if unknown.
	now int64
}

// readNow returns the present moment. With permissions in single namespaces only, the moment has no
// time: leases of other components may have been renewed long ago.
func (r *clockReader) readNow(ctx context.Context, namespaces []string) (past.Moment, error) {
	now, err := r.readMoment(ctx, 0)
	if !apierrors.IsForbidden(err) {
		return now, err
	}
	r.refused = err
	for _, ns := range namespaces {
		r.substitute = Place{Resource: object.ConfigMap.Resource(), Namespace: ns}
		if now, err := r.readMoment(ctx, 0); err == nil {
			return now, nil
		}
	}
	return now, err
}

func (r *clockReader) timeless() bool { return r.refused != nil }

// readMoment returns the moment of a revision; 0 means now. Its time is 0 if no lease shows it.
func (r *clockReader) readMoment(ctx context.Context, revision uint64) (past.Moment, error) {
	if r.timeless() {
		shown, err := r.client.shownAt(ctx, r.substitute, revision)
		return past.Moment{Revision: shown}, err
	}
	at := past.Moment{Revision: revision}
	renewed := map[string]int64{}
	stamped := false
	listed, date, err := r.client.bodiesOnce(ctx, leasePlace, Selection{Revision: revision}, func(raw []byte) error {
		var l coordination.Lease
		if err := json.Unmarshal(raw, &l); err != nil {
			return err
		}
		switch stamp := writeTimeOf(&l); {
		case stamp > 0:
			at.Time, stamped = max(at.Time, stamp), true
		case l.Spec.RenewTime != nil:
			renewed[l.Name] = l.Spec.RenewTime.Unix()
		}
		return nil
	})
	if err != nil {
		return at, err
	}
	if revision == 0 {
		if at.Revision, err = strconv.ParseUint(listed, 10, 64); err != nil {
			return at, &UnexpectedAnswerError{About: leasePlace.subject().String(), What: "a list with the resourceVersion " + quote(listed)}
		}
		r.compareClocks(renewed, date)
	}
	for name, time := range renewed {
		if !stamped && !r.unreliable[name] {
			at.Time = max(at.Time, time)
		}
	}
	if r.now > 0 {
		at.Time = min(at.Time, r.now)
	}
	if at.Time > 0 {
		r.ticks = append(r.ticks, at)
	}
	if revision == 0 && r.now > 0 {
		at.Time = r.now
	}
	return at, nil
}

// writeTimeOf returns when a lease was last written, by the clock of the server that stored it; 0
// if unknown. A client can write any time into spec.renewTime, but not into managedFields.
//
// Upstream: apimachinery/pkg/util/managedfields/internal/managedfieldsupdater.go Update.
func writeTimeOf(l *coordination.Lease) int64 {
	stamp := int64(0)
	for i := range l.ManagedFields {
		if at := l.ManagedFields[i].Time; at != nil {
			stamp = max(stamp, at.Unix())
		}
	}
	return stamp
}

// abandonedAfter is the age, in seconds, at which a lease counts as no longer renewed.
const abandonedAfter = 60

// compareClocks sets the server's time, and finds the leases with a renewal that does not agree
// with it.
func (r *clockReader) compareClocks(renewed map[string]int64, date time.Time) {
	if date.IsZero() {
		return
	}
	r.now, r.unreliable = date.Unix(), map[string]bool{}
	for name, time := range renewed {
		if time > r.now+1 || time < r.now-abandonedAfter {
			r.unreliable[name] = true
		}
	}
}

// window finds the beginning and the end of the past. It starts again if the server forgets a
// revision meanwhile.
func (r *clockReader) window(ctx context.Context, w past.Window) (record *past.Record, err error) {
	for range listTries {
		if record, err = r.findEnds(ctx, w); !Forgotten(err) {
			break
		}
	}
	return record, err
}

func (r *clockReader) findEnds(ctx context.Context, w past.Window) (*past.Record, error) {
	now, err := r.readNow(ctx, w.Namespaces)
	switch {
	case apierrors.IsForbidden(err):
		return nil, &ForbiddenPastError{Namespaces: w.Namespaces, Err: err}
	case err != nil:
		return nil, fmt.Errorf("the history of the cluster: %w", err)
	}
	oldest, err := r.findOldest(ctx, now.Revision)
	if err != nil {
		return nil, err
	}
	from := oldest
	switch {
	case w.SinceRevision > now.Revision:
		return nil, fmt.Errorf("revision %d does not exist yet: the newest one is %d", w.SinceRevision, now.Revision)
	case w.SinceRevision > 0:
		if from, err = r.readMoment(ctx, max(w.SinceRevision, oldest.Revision)); err != nil {
			return nil, err
		}
	case w.Since > 0 && len(r.ticks) > 0:
		if from, err = r.findSince(ctx, oldest, now, now.Time-w.Since); err != nil {
			return nil, err
		}
	}
	return &past.Record{From: from, To: now, Timeless: len(r.ticks) == 0}, nil
}

// ForbiddenPastError says that nothing may be read that shows how far back a server remembers.
type ForbiddenPastError struct {
	// Namespaces limit the question; nil means all.
	Namespaces []string
	// Err is the answer of the server.
	Err error
}

// Error names the permissions. One of them is needed.
func (e *ForbiddenPastError) Error() string {
	text := "reading the history of the cluster requires permission to list leases in namespace kube-system"
	if len(e.Namespaces) > 0 {
		text += ", or to list configmaps in namespace " + strings.Join(e.Namespaces, " or ")
	}
	return text + ": " + e.Err.Error()
}

// Unwrap returns the answer of the server.
func (e *ForbiddenPastError) Unwrap() error { return e.Err }

// findOldest returns the first revision that the server can list. It steps back by 1000, 4000,
// 16000 and so on until the server has forgotten a revision, and then bisects.
func (r *clockReader) findOldest(ctx context.Context, now uint64) (past.Moment, error) {
	known, forgotten := now, uint64(0) // the boundary is between the two
	for step := uint64(1000); ; step *= 4 {
		try := uint64(1)
		if known > step {
			try = known - step
		}
		_, err := r.readMoment(ctx, try)
		if err != nil && !Forgotten(err) {
			return past.Moment{}, err
		}
		if err != nil {
			forgotten = try
			break
		}
		if known = try; try == 1 {
			break
		}
	}
	for known-forgotten > 1 && known > 1 {
		middle := forgotten + (known-forgotten)/2
		switch _, err := r.readMoment(ctx, middle); {
		case err == nil:
			known = middle
		case Forgotten(err):
			forgotten = middle
		default:
			return past.Moment{}, err
		}
	}
	return r.readMoment(ctx, known)
}

// findSince returns a moment that is not later than a time and not much earlier, or the oldest one.
// It is that of the last renewal before the time. A later write may be later than the time:
//
//	revision  10             20                30
//	time      90 (renewal)   unknown: 90-110   110 (renewal)   findSince(100) returns 10
func (r *clockReader) findSince(ctx context.Context, oldest, now past.Moment, time int64) (past.Moment, error) {
	if oldest.Time > time {
		return oldest, nil
	}
	last, _, err := r.bisect(ctx, oldest, now, func(at past.Moment) bool { return at.Time <= time })
	if err != nil || last.Time == oldest.Time {
		return oldest, err
	}
	before := oldest
	for _, tick := range r.ticks {
		if tick.Time < last.Time && tick.Revision > before.Revision {
			before = tick
		}
	}
	_, renewal, err := r.bisect(ctx, before, last, func(at past.Moment) bool { return at.Time < last.Time })
	return renewal, err
}

// bisect finds by bisection the boundary of a condition that holds at before and not at behind. It
// returns the last moment at which it holds, and the next one.
func (r *clockReader) bisect(ctx context.Context, before, behind past.Moment, so func(past.Moment) bool) (last, next past.Moment, err error) {
	for behind.Revision-before.Revision > 1 {
		middle, err := r.readMoment(ctx, before.Revision+(behind.Revision-before.Revision)/2)
		if err != nil {
			return before, behind, err
		}
		if so(middle) {
			before = middle
		} else {
			behind = middle
		}
	}
	return before, behind, nil
}

// The precision of the clock is limited to save requests. Ticks are added until no deletion lies
// between two ticks that are more than maxTickDistance seconds apart, or until maxTicks were
// requested.
const (
	maxTickDistance = 5
	firstTicks      = 8
	maxTicks        = 64
)

// buildClock makes the clock of a past. It has the most ticks around deletions. Some writes contain
// their time themselves.
func (r *clockReader) buildClock(ctx context.Context, record *past.Record) (past.Clock, error) {
	if r.timeless() {
		return past.Clock{}, nil
	}
	from, to := record.From.Revision, record.To.Revision
	for i := range uint64(firstTicks + 1) {
		if _, err := r.readMoment(ctx, max(1, from+(to-from)*i/firstTicks)); err != nil && !Forgotten(err) {
			return past.Clock{}, err
		}
	}
	r.ticks = past.NewClock(slices.Concat(r.ticks, r.timesInChanges(record.Changes))).Ticks()
	gone := deletionRevisions(record)
	clock := past.NewClock(r.ticks)
	for range maxTicks {
		revision := widestGap(clock.Ticks(), gone)
		if revision == 0 {
			break
		}
		switch _, err := r.readMoment(ctx, revision); {
		case Forgotten(err):
			gone = slices.DeleteFunc(gone, func(r uint64) bool { return r <= revision })
		case err != nil:
			return clock, err
		default:
			clock = past.NewClock(r.ticks)
		}
	}
	return clock, nil
}

// timesInChanges returns the moments that writes contain: the server records when an object is
// created, and when its deletion begins. It returns at most one for each second.
func (r *clockReader) timesInChanges(changes []past.Change) []past.Moment {
	var ticks []past.Moment
	last := int64(0)
	for i := range changes {
		c := &changes[i]
		time := int64(0)
		switch {
		case c.Unseen || c.After != 0: // the revision is not known exactly
		case c.Type == object.Added:
			time = c.Object.Created
		case c.Type == object.Modified && c.Object.BeingDeleted() && (c.Old == nil || !c.Old.BeingDeleted()):
			time = c.Object.Deleted()
		}
		if time > last && (r.now == 0 || time <= r.now) {
			last = time
			ticks = append(ticks, past.Moment{Revision: c.Revision, Time: time})
		}
	}
	return ticks
}

// deletionRevisions returns the revisions at which an object was deleted or lost an owner, and
// those at which the history of a kind begins, sorted, each once: after a restart of the server the
// histories of many kinds begin at the same one.
func deletionRevisions(record *past.Record) []uint64 {
	revisions := object.Mapped(record.Limits, func(l past.Limit) uint64 { return l.From.Revision })
	for i := range record.Changes {
		c := &record.Changes[i]
		if c.Type == object.Deleted || c.Old != nil && len(c.Object.Owners) < len(c.Old.Owners) {
			revisions = append(revisions, c.Revision)
		}
	}
	slices.Sort(revisions)
	return slices.Compact(revisions)
}

// widestGap returns the middle one of the revisions in the widest gap between ticks that has any.
// It returns 0 if no such gap is wider than maxTickDistance.
func widestGap(ticks []past.Moment, revisions []uint64) uint64 {
	revision, widest := uint64(0), int64(maxTickDistance)
	for i := 1; i < len(ticks); i++ {
		a, b := ticks[i-1], ticks[i]
		if b.Time-a.Time <= widest {
			continue
		}
		first, found := slices.BinarySearch(revisions, a.Revision)
		if found {
			first++
		}
		if behind, _ := slices.BinarySearch(revisions, b.Revision); first < behind {
			revision, widest = revisions[first+(behind-first)/2], b.Time-a.Time
		}
	}
	return revision
}
