package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/apply"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

func deleting(kind string) engine.Request {
	o := &object.Object{Ref: object.Ref{APIVersion: "v1", Kind: kind, Namespace: "ns", Name: "n", UID: "u"}}
	return engine.Request{Verb: engine.DeleteObject, Ref: o.Ref, Live: o}
}

// Each gate refuses with its own reason, and the most permanent one comes first.
func TestGate(t *testing.T) {
	whole := func() *circuitBreaker { return newCircuitBreaker(0, time.Now) }
	broken := newCircuitBreaker(1, time.Now)
	broken.take()
	broken.take()
	lost := newLeaseFence(time.Second)
	patch := engine.Request{Verb: engine.RemoveOwners, Ref: deleting("Pod").Ref}
	unseen := deleting("Pod")
	unseen.Live = nil
	claim := schema.GroupKind{Kind: "PersistentVolumeClaim"}
	for _, c := range []struct {
		name    string
		gate    gate
		request engine.Request
		want    string // empty: allowed
	}{
		{"a delete", gate{enforce: true, breaker: whole()}, deleting("Pod"), ""},
		{"a patch", gate{enforce: true, breaker: whole()}, patch, ""},
		{"a patch of what is protected is no delete", gate{enforce: true, breaker: whole()},
			engine.Request{Verb: engine.RemoveFinalizer, Ref: deleting(claim.Kind).Ref}, ""},
		{"observing", gate{breaker: whole()}, deleting("Pod"), errObserving.Text},
		{"observing a patch", gate{breaker: whole()}, patch, errObserving.Text},
		{"protected", gate{enforce: true, breaker: whole()}, deleting(claim.Kind), string(reason.ProtectedKind)},
		{"protected, observing", gate{breaker: whole()}, deleting(claim.Kind), string(reason.ProtectedKind)},
		{"allowed", gate{enforce: true, breaker: whole(), policy: apply.Policy{Allow: map[schema.GroupKind]bool{claim: true}}}, deleting(claim.Kind), ""},
		{"never seen", gate{enforce: true, breaker: whole()}, unseen, string(reason.ProtectedByAnnotation)},
		{"tripped", gate{enforce: true, breaker: broken}, deleting("Pod"), string(reason.SafetyLimitTripped)},
		{"tripped, a patch", gate{enforce: true, breaker: broken}, patch, string(reason.SafetyLimitTripped)},
		{"not leading", gate{enforce: true, breaker: whole(), fence: lost}, deleting("Pod"), string(reason.NotLeading)},
	} {
		err := c.gate.before(t.Context(), c.request)
		got := ""
		if refusal, ok := errors.AsType[*refusal](err); ok {
			got = cmp.Or(string(refusal.Reason), refusal.Text)
		} else if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got != c.want {
			t.Errorf("%s: refused as %q, want %q", c.name, got, c.want)
		}
		switch c.want {
		case errObserving.Text, string(reason.SafetyLimitTripped), string(reason.NotLeading):
			if !errors.Is(c.gate.mayWrite(), err) {
				t.Errorf("%s: the wire says %v", c.name, c.gate.mayWrite())
			}
		case "":
			if err := c.gate.mayWrite(); err != nil {
				t.Errorf("%s: the wire says %v", c.name, err)
			}
		}
	}
}

// A replica that is no longer the leader sends nothing, so nothing counts: it must not leave a
// tripped limit behind for the leader.
func TestWhatIsNotSentDoesNotCount(t *testing.T) {
	now := time.Unix(1000, 0)
	lost := newLeaseFence(time.Second)
	g := gate{enforce: true, breaker: newCircuitBreaker(1, time.Now), fence: lost}
	g.garbage = newGarbageRateLimit(1, func() time.Time { return now }, func(context.Context) (int, error) { return 1, nil })
	for i := range 2 * fewGarbage {
		r := deleting("Pod")
		r.Ref.UID = types.UID(fmt.Sprint(i))
		for range 2 {
			if err := g.before(t.Context(), r); !errors.Is(err, errNotLeading) {
				t.Fatalf("request %d: %v", i, err)
			}
			now = now.Add(gathering / 100)
		}
	}
	if cause, why := g.breaker.state(); cause != "" || len(g.breaker.last) > 0 {
		t.Errorf("%d counted, tripped by %q: %s", len(g.breaker.last), cause, why)
	}
}

// A breaker counts any minute, not those of the clock, and stays tripped.
func TestSafetyLimit(t *testing.T) {
	now := time.Unix(0, 0)
	f := newCircuitBreaker(3, func() time.Time { return now })
	for i, c := range []struct {
		after time.Duration
		want  bool
	}{
		{0, true}, {30 * time.Second, true}, {0, true},
		{30 * time.Second, true}, // the first one is a minute old
		{29 * time.Second, false},
		{time.Hour, false},
	} {
		now = now.Add(c.after)
		if got := f.take(); got != c.want {
			t.Errorf("delete %d: %v, want %v", i, got, c.want)
		}
	}
	f.trip(garbageShare, "too late")
	if cause, why := f.state(); cause != deletesPerMinute || why != "one delete more than the 3 that are allowed in a minute" || !closed(f.tripped) {
		t.Errorf("tripped by %s: %s", cause, why)
	}
	none := newCircuitBreaker(0, time.Now)
	for range 10_000 {
		if !none.take() {
			t.Fatal("refused without a fuse")
		}
	}
	none.trip(garbageShare, "too much garbage")
	if none.take() || !none.isTripped() {
		t.Error("without a number of deletes nothing else trips it")
	}
	if huge := newCircuitBreaker(math.MaxInt, time.Now); !huge.take() || len(huge.last) != 1 {
		t.Error("a breaker for many deletes costs as much before the first one")
	}
}

// A fence holds from the moment a renewal was sent, and never opens again.
func TestLeaseFence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeaseFence(10 * time.Second)
		defer l.end()
		if l.holds() {
			t.Error("it holds before it was taken")
		}
		sent := l.now()
		wait(t, 4*time.Second) // the response was slow
		l.renewed(sent)
		wait(t, 5*time.Second)
		if !l.holds() {
			t.Error("it does not hold 9 s after the renewal was sent")
		}
		l.renewed(l.now())
		wait(t, 9*time.Second)
		if !l.holds() || l.lost.Err() != nil {
			t.Error("a renewal does not prolong it")
		}
		wait(t, time.Second)
		synctest.Wait()
		if l.lost.Err() == nil {
			t.Error("nobody is told that it is lost")
		}
		l.renewed(l.now())
		if l.holds() {
			t.Error("it begins again")
		}
	})
}

// A fence closes when either clock says so: the process clock stops while a machine sleeps, and the
// wall clock can be set.
func TestLeaseFenceOnBothClocks(t *testing.T) {
	began := instant{time.Second, time.Unix(1000, 0)}
	for _, c := range []struct {
		name          string
		process, wall time.Duration
		holds         bool
	}{
		{"both go on", 9 * time.Second, 9 * time.Second, true},
		{"the machine slept", 2 * time.Second, time.Hour, false},
		{"the clock was set forward", 2 * time.Second, 10 * time.Second, false},
		{"the clock was set back", 9 * time.Second, -time.Hour, true},
		{"the clock was set back and time is over", 10 * time.Second, -time.Hour, false},
	} {
		l := newLeaseFence(10 * time.Second)
		now := began
		l.now = func() instant { return now }
		l.renewed(began)
		now = instant{began.process + c.process, began.wall.Add(c.wall)}
		if got := l.holds(); got != c.holds || (l.lost.Err() == nil) != c.holds {
			t.Errorf("%s: it holds %v, %v", c.name, got, l.lost.Err())
		}
		l.end()
	}
}

func wait(t *testing.T, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	<-ctx.Done()
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func request(t *testing.T, method, url, accept string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", accept)
	return r
}

func TestVerbs(t *testing.T) {
	for _, c := range []struct{ method, url, accept, want string }{
		{http.MethodGet, "http://x/api/v1/pods", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", "list"},
		{http.MethodGet, "http://x/api/v1/pods?watch=1", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", "watch"},
		{http.MethodGet, "http://x/api/v1/namespaces/n/pods/p", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", "get"},
		{http.MethodDelete, "http://x/api/v1/namespaces/n/pods/p", "", "delete"},
		{http.MethodPatch, "http://x/api/v1/namespaces/n/pods/p", "", "patch"},
	} {
		if got := verbOf(request(t, c.method, c.url, c.accept)); got != c.want {
			t.Errorf("%s %s is %s, want %s", c.method, c.url, got, c.want)
		}
	}
}

// A write that waits for a connection is cancelled when the lease is lost. A later write is not
// sent. Reads continue.
func TestWriteOutlivesNoLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{enforce: true, breaker: newCircuitBreaker(0, time.Now), fence: newLeaseFence(10 * time.Second)}
		defer g.fence.end()
		g.fence.renewed(g.fence.now())
		sent := 0
		stuck := &transport{gate: g, next: roundTrip(func(r *http.Request) (*http.Response, error) {
			sent++
			if r.Method == http.MethodGet {
				return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(""))}, nil
			}
			<-r.Context().Done()
			return nil, r.Context().Err()
		})}
		began := time.Now()
		if _, err := stuck.RoundTrip(request(t, http.MethodDelete, "http://x/", "")); !errors.Is(err, context.Canceled) { //nolint:bodyclose // there is none
			t.Errorf("the write ends with %v", err)
		}
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("the write is called back after %v", took)
		}
		if _, err := stuck.RoundTrip(request(t, http.MethodPatch, "http://x/", "")); !errors.Is(err, errNotLeading) || sent != 1 { //nolint:bodyclose // there is none
			t.Errorf("the next write ends with %v, %d were sent", err, sent)
		}
		response, err := stuck.RoundTrip(request(t, http.MethodGet, "http://x/", ""))
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
	})
}

// Everything that is not a read is a write: an observer sends none of any kind.
func TestOnlyReadsAreFree(t *testing.T) {
	var sent []string
	tr := &transport{gate: &gate{breaker: newCircuitBreaker(0, time.Now)}, next: roundTrip(func(r *http.Request) (*http.Response, error) {
		sent = append(sent, r.Method)
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(""))}, nil
	})}
	for _, method := range []string{http.MethodDelete, http.MethodPatch, http.MethodPut, http.MethodPost} {
		if _, err := tr.RoundTrip(request(t, method, "http://x/", "")); !errors.Is(err, errObserving) { //nolint:bodyclose // there is none
			t.Errorf("%s: %v", method, err)
		}
	}
	response, err := tr.RoundTrip(request(t, http.MethodGet, "http://x/", ""))
	if err != nil || len(sent) != 1 {
		t.Fatalf("sent %v, %v", sent, err)
	}
	_ = response.Body.Close()
}

// The body of a response is read after the write, and releases its resources.
func TestAnswerOutlivesTheWrite(t *testing.T) {
	g := &gate{enforce: true, breaker: newCircuitBreaker(0, time.Now), fence: newLeaseFence(time.Minute)}
	defer g.fence.end()
	g.fence.renewed(g.fence.now())
	var of context.Context
	tr := &transport{gate: g, next: roundTrip(func(r *http.Request) (*http.Response, error) {
		of = r.Context()
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("body"))}, nil
	})}
	response, err := tr.RoundTrip(request(t, http.MethodDelete, "http://x/", ""))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(response.Body); string(text) != "body" || err != nil || of.Err() != nil {
		t.Errorf("%q, %v, %v", text, err, of.Err())
	}
	if err := response.Body.Close(); err != nil || of.Err() == nil {
		t.Errorf("closed: %v, %v", err, of.Err())
	}
}

func TestLocal(t *testing.T) {
	for at, want := range map[string]bool{
		"127.0.0.1:4": true, "[::1]:4": true, "[::ffff:127.0.0.1]:4": true, "10.0.0.1:4": false, "[fe80::1]:4": false, "": false, "pipe": false,
	} {
		if got := local(at); got != want {
			t.Errorf("local(%q) = %v", at, got)
		}
	}
}
