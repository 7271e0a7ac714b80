package compaction

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	objects "github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/past"
)

// right is by how many seconds a time may be wrong.
const right = 15

// TestForgetting: while the server forgets, every delete behind the beginning of the history is
// told with its true request, none that was not, and none of before; and the times are right,
// that of the beginning, too.
func TestForgetting(t *testing.T) {
	if err := plane.Controllers("garbage-collector-controller"); err != nil {
		t.Fatal(err)
	}
	h := &truth{ends: map[string]*end{}}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	first, err := h.make(ctx, "first", nil)
	if err != nil {
		t.Fatal(err)
	}
	watched := make(chan error, 1)
	go func() { watched <- h.watch(ctx, first.Metadata.ResourceVersion) }()
	client, err := plane.Connect(kube.Options{Version: "test", Command: "forgetting"})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()

	acted := make(chan error, 1)
	over := time.Now().Add(5*interval - 5*time.Second)
	go func() { acted <- h.act(ctx, over) }()
	worst, last := &errors{}, &past.Record{}
	for looks := 0; time.Now().Before(over); looks++ {
		await(ctx, interval/3)
		record, err := client.Past(ctx, past.Window{})
		if err != nil {
			t.Fatal(err)
		}
		await(ctx, time.Second) // until what went has been seen here, too
		h.judge(t, past.Trace(record), worst)
		last = record
	}
	if err := <-acted; err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-watched:
		t.Fatalf("the watch: %v", err)
	default:
	}
	if last.From.Revision <= first.revision() {
		t.Errorf("nothing was forgotten: the history begins at %d, and the first object was made at %d", last.From.Revision, first.revision())
	}
	t.Logf("of %d deletes, seconds that times were wrong at most: %+v", len(h.ends), *worst)
}

// errors are by how many seconds times were wrong at most: of the beginning, of requests, and of
// ends. Losses counts those that were judged.
type errors struct {
	beginning, request, end float64
	losses                  int
}

// act makes and deletes objects every few seconds: some alone, some with dependents.
func (h *truth) act(ctx context.Context, until time.Time) error {
	for i := 0; time.Now().Before(until); i++ {
		o, err := h.make(ctx, fmt.Sprintf("o%d", i), nil)
		if err != nil {
			return err
		}
		if i%3 == 0 {
			for _, name := range []string{"a", "b"} {
				if _, err := h.make(ctx, fmt.Sprintf("o%d-%s", i, name), o); err != nil {
					return err
				}
			}
		}
		await(ctx, 3*time.Second)
		if err := h.remove(ctx, o); err != nil {
			return err
		}
		await(ctx, 3*time.Second)
	}
	return nil
}

// judge compares what is told with what was.
func (h *truth) judge(t *testing.T, a *past.Account, worst *errors) {
	t.Helper()
	begins := a.Past.From
	for _, l := range a.Past.Limits {
		t.Logf("limit: %s from %d: %s", l.Resource.Name, l.From.Revision, l.Why)
		if l.Resource.Is(objects.ConfigMap) {
			begins = l.From
		}
	}
	if when, known := h.when(begins.Revision); known {
		off := when.off(begins.Time)
		worst.beginning = max(worst.beginning, off)
		if off > right {
			t.Errorf("the history begins at %d, which is said to be %s and was from %s to %s", begins.Revision, clock(begins.Time), when.from.UTC(), when.to.UTC())
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	told := map[string]bool{}
	for i := range a.Losses {
		l := &a.Losses[i]
		if !l.Object.Is(objects.ConfigMap) || l.Object.Namespace != "default" {
			continue
		}
		e := h.ends[string(l.Object.UID)]
		switch {
		case e == nil || e.revision != l.Gone:
			t.Errorf("%s is said to have gone at %d: %+v", l.Object.Name, l.Gone, e)
			continue
		case l.Gone <= begins.Revision:
			t.Errorf("%s is said to have gone at %d, and the history begins at %d", l.Object.Name, l.Gone, begins.Revision)
		}
		told[e.uid] = true
		worst.losses++
		at := a.Past.Clock.At(l.Gone).Time
		worst.end = max(worst.end, e.at.off(at))
		if e.at.off(at) > right {
			t.Errorf("%s is said to have gone at %s, and went from %s to %s", e.name, clock(at), e.at.from.UTC(), e.at.to.UTC())
		}
		h.judgeRequest(t, a, l, e, worst)
	}
	for _, e := range h.ends {
		if e.revision > begins.Revision && e.revision <= a.Past.To.Revision && !told[e.uid] {
			t.Errorf("%s went at %d, and is not told of; the history begins at %d", e.name, e.revision, begins.Revision)
		}
	}
}

// judgeRequest compares the request that is said to have begun a loss with the true one.
func (h *truth) judgeRequest(t *testing.T, a *past.Account, l *past.Loss, e *end, worst *errors) {
	t.Helper()
	asked := e
	if e.owner != "" {
		asked = h.ends[e.owner]
	}
	if l.Cause.Request < 0 {
		if asked.revision > a.Past.From.Revision && len(l.Or) == 0 {
			t.Errorf("%s went by the delete of %s: %+v", e.name, asked.name, l.Cause)
		}
		return
	}
	r := a.Requests[l.Cause.Request]
	found := false
	for _, i := range r.Losses {
		found = found || string(a.Losses[i].Object.UID) == asked.uid
	}
	if !found {
		t.Errorf("%s went by the delete of %s, and is said to have gone by one of %s", e.name, asked.name, a.Losses[r.Losses[0]].Object.Name)
		return
	}
	if first := h.ends[string(a.Losses[r.Losses[0]].Object.UID)]; first != nil {
		off := first.at.off(r.At.Time)
		worst.request = max(worst.request, off)
		if off > right {
			t.Errorf("%s is said to have been asked for at %s, and was from %s to %s", first.name, clock(r.At.Time), first.at.from.UTC(), first.at.to.UTC())
		}
	}
}

func clock(seconds int64) string { return time.Unix(seconds, 0).UTC().Format(time.TimeOnly) }

func await(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
