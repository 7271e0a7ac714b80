package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	coordination "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// leasePlace is where the control plane renews its leases every few seconds.
var leasePlace = Place{Resource: object.Lease.Resource(), Namespace: "kube-system"}

// clockReader finds out when revisions were: a list of leases as it was at a revision shows
// when the last of them had been renewed.
type clockReader struct {
	client *Client
	// refused is why we may not read these leases. Then instead is a list that we may read: it
	// tells what the server still knows, and no times.
	refused error
	instead Place
	ticks   []history.Moment
}

// begin is the moment now. Whoever has rights in a namespace only can be told about that one,
// without times: leases of others than the control plane may have been renewed long ago.
func (r *clockReader) begin(ctx context.Context, namespaces []string) (history.Moment, error) {
	now, err := r.read(ctx, 0)
	if !apierrors.IsForbidden(err) {
		return now, err
	}
	r.refused = err
	for _, ns := range namespaces {
		r.instead = Place{Resource: object.ConfigMap.Resource(), Namespace: ns}
		if now, err := r.read(ctx, 0); err == nil {
			return now, nil
		}
	}
	return now, err
}

func (r *clockReader) timeless() bool { return r.refused != nil }

// read is the moment of a revision; 0 for now. The time is 0 where no lease tells it.
func (r *clockReader) read(ctx context.Context, revision uint64) (history.Moment, error) {
	if r.timeless() {
		_, shown, err := r.client.listAt(ctx, r.instead, revision)
		return history.Moment{Revision: shown}, err
	}
	at := history.Moment{Revision: revision}
	listed, err := r.client.bodiesOnce(ctx, leasePlace, Selection{Revision: revision}, func(raw []byte) error {
		var l coordination.Lease
		if err := json.Unmarshal(raw, &l); err != nil {
			return err
		}
		if l.Spec.RenewTime != nil {
			at.Time = max(at.Time, l.Spec.RenewTime.Unix())
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
	}
	if at.Time > 0 {
		r.ticks = append(r.ticks, at)
	}
	return at, nil
}

// window finds where the past begins and ends.
func (r *clockReader) window(ctx context.Context, o PastOptions) (*history.Past, error) {
	now, err := r.begin(ctx, o.Scope.Namespaces)
	if err != nil {
		return nil, fmt.Errorf("the history of the cluster: %w", err)
	}
	oldest, err := r.oldest(ctx, now.Revision)
	if err != nil {
		return nil, err
	}
	from := oldest
	switch {
	case o.SinceRevision > now.Revision:
		return nil, fmt.Errorf("revision %d is not there yet: the newest one is %d", o.SinceRevision, now.Revision)
	case o.SinceRevision > 0:
		if from, err = r.read(ctx, max(o.SinceRevision, oldest.Revision)); err != nil {
			return nil, err
		}
	case o.Since > 0 && now.Time > 0:
		if from, err = r.since(ctx, oldest, now, now.Time-int64(o.Since/time.Second)); err != nil {
			return nil, err
		}
	}
	return &history.Past{From: from, To: now}, nil
}

// oldest is the first revision of which the server can show a list.
func (r *clockReader) oldest(ctx context.Context, now uint64) (history.Moment, error) {
	known, forgotten := now, uint64(0) // between the two it changes
	for step := uint64(1000); ; step *= 4 {
		try := uint64(1)
		if known > step {
			try = known - step
		}
		_, err := r.read(ctx, try)
		if err != nil && !Forgotten(err) {
			return history.Moment{}, err
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
		switch _, err := r.read(ctx, middle); {
		case err == nil:
			known = middle
		case Forgotten(err):
			forgotten = middle
		default:
			return history.Moment{}, err
		}
	}
	return r.read(ctx, known)
}

// since is the last moment that was no later than a time, or the oldest one.
func (r *clockReader) since(ctx context.Context, oldest, now history.Moment, time int64) (history.Moment, error) {
	before, behind := oldest, now
	if oldest.Time > time {
		return oldest, nil
	}
	for behind.Revision-before.Revision > 1 {
		middle, err := r.read(ctx, before.Revision+(behind.Revision-before.Revision)/2)
		if err != nil {
			return before, err
		}
		if middle.Time <= time {
			before = middle
		} else {
			behind = middle
		}
	}
	return before, nil
}

// The clock is as exact as is worth its requests: two ticks are no more than precise seconds
// apart, unless there are mostTicks.
const (
	precise    = 5
	firstTicks = 8
	mostTicks  = 64
)

// between makes a clock of the revisions from one to another.
func (r *clockReader) between(ctx context.Context, from, to uint64) (history.Clock, error) {
	if r.timeless() {
		return history.Clock{}, nil
	}
	for i := range uint64(firstTicks + 1) {
		if _, err := r.read(ctx, max(1, from+(to-from)*i/firstTicks)); err != nil && !Forgotten(err) {
			return history.Clock{}, err
		}
	}
	clock := history.NewClock(r.ticks)
	for range mostTicks {
		gap, widest := history.Moment{}, int64(precise)
		ticks := clock.Ticks()
		for i := 1; i < len(ticks); i++ {
			a, b := ticks[i-1], ticks[i]
			if a.Revision >= from && b.Revision <= to && b.Revision-a.Revision > 1 && b.Time-a.Time > widest {
				gap, widest = history.Moment{Revision: a.Revision + (b.Revision-a.Revision)/2}, b.Time-a.Time
			}
		}
		if gap.Revision == 0 {
			break
		}
		if _, err := r.read(ctx, gap.Revision); err != nil {
			if Forgotten(err) {
				break
			}
			return clock, err
		}
		clock = history.NewClock(r.ticks)
	}
	return clock, nil
}
