package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/past"
)

// clockServer has one revision in each second from the first one that it remembers up to now. It
// has one lease that is renewed now and then, one of a clock that is ahead, and one that is
// abandoned.
type clockServer struct {
	first, now uint64
	every      uint64
	// down and up are when the server ended and when it was started again. No lease is renewed between them.
	down, up uint64
	asked    []uint64
}

// renewed returns the last renewal of the lease at a revision.
func (s *clockServer) renewed(revision uint64) time.Time {
	if revision >= s.down && revision < s.up {
		revision = s.down
	}
	return s.at(revision / s.every * s.every)
}

func (s *clockServer) at(revision uint64) time.Time {
	return time.Unix(int64(1_000_000+revision), 0).UTC()
}

func (s *clockServer) leases(w http.ResponseWriter, r *http.Request) {
	revision, _ := strconv.ParseUint(r.URL.Query().Get("resourceVersion"), 10, 64)
	if revision == 0 {
		revision = s.now
	}
	s.asked = append(s.asked, revision)
	if revision < s.first {
		refuse(http.StatusGone, "Expired")(w, r)
		return
	}
	w.Header().Set("Date", s.at(s.now).Format(http.TimeFormat))
	w.Header().Set("Content-Type", jsonType)
	lease := func(name string, at time.Time) string {
		return fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"kube-system"},"spec":{"renewTime":%q}}`, name, at.Format("2006-01-02T15:04:05.000000Z"))
	}
	fmt.Fprintf(w, `{"kind":"LeaseList","apiVersion":"coordination.k8s.io/v1","metadata":{"resourceVersion":"%d"},"items":[%s,%s,%s]}`, revision,
		lease("apiserver", s.renewed(revision)), lease("ahead", s.at(revision).Add(5*time.Minute)), lease("abandoned", s.at(0)))
}

// TestClockOfLeases: the time of every deletion and of the beginning is known as exactly as the
// leases are renewed, or better if a write contains its time. A clock that is ahead is ignored.
func TestClockOfLeases(t *testing.T) {
	const every = 10
	s, c := ready(t)
	server := &clockServer{first: 1234, now: 2000, every: every}
	s.on("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases", server.leases)
	reader := &clockReader{client: c}
	record, err := reader.window(context.Background(), past.Window{})
	if err != nil {
		t.Fatal(err)
	}
	if record.From.Revision != server.first || record.To != (past.Moment{Revision: server.now, Time: server.at(server.now).Unix()}) {
		t.Errorf("from %+v to %+v", record.From, record.To)
	}
	made := &object.Object{Ref: object.ConfigMap.Ref("shop", "made"), Created: server.at(1509).Unix()}
	record.Changes = []past.Change{{Revision: 1509, Type: object.Added, Object: made}}
	for revision := uint64(1300); revision < 1900; revision += 37 {
		record.Changes = append(record.Changes, past.Change{Revision: revision, Type: object.Deleted, Object: made})
	}
	record.Limits = []past.Limit{{From: past.Moment{Revision: 1777}}}
	clock, err := reader.buildClock(context.Background(), record)
	if err != nil {
		t.Fatal(err)
	}
	for _, revision := range []uint64{record.From.Revision, 1300, 1337, 1892, 1509, 1777} {
		off := server.at(revision).Unix() - clock.At(revision).Time
		if off < 0 || off >= every || revision == 1509 && off != 0 {
			t.Errorf("%d is %d seconds off", revision, off)
		}
	}
	if len(server.asked) > 100 {
		t.Errorf("%d lists", len(server.asked))
	}
}

// TestClockAfterRestart: the histories of many kinds begin at the start of the server, between two renewals
// that are far apart. They do not use up the lists that date a deletion.
func TestClockAfterRestart(t *testing.T) {
	s, c := ready(t)
	server := &clockServer{first: 1000, now: 2000, every: 10, down: 1300, up: 1420}
	s.on("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases", server.leases)
	reader := &clockReader{client: c}
	record, err := reader.window(context.Background(), past.Window{})
	if err != nil {
		t.Fatal(err)
	}
	gone := &object.Object{Ref: object.ConfigMap.Ref("shop", "gone")}
	record.Changes = []past.Change{{Revision: 1777, Type: object.Deleted, Object: gone}}
	for range 60 {
		record.Limits = append(record.Limits, past.Limit{From: past.Moment{Revision: 1400}})
	}
	clock, err := reader.buildClock(context.Background(), record)
	if err != nil {
		t.Fatal(err)
	}
	if off := server.at(1777).Unix() - clock.At(1777).Time; off < 0 || off >= 10 {
		t.Errorf("%d seconds off", off)
	}
	if len(server.asked) > 40 {
		t.Errorf("%d lists", len(server.asked))
	}
}

// TestClockThatStands: abandoned leases show no time, and do not limit how far the past reaches
// back.
func TestClockThatStands(t *testing.T) {
	s, c := ready(t)
	server := &clockServer{first: 1234, now: 2000, every: 1000}
	s.on("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases", func(w http.ResponseWriter, r *http.Request) {
		server.now = 2100
		server.leases(w, r)
	})
	reader := &clockReader{client: c}
	record, err := reader.window(context.Background(), past.Window{Since: 60})
	if err != nil {
		t.Fatal(err)
	}
	clock, err := reader.buildClock(context.Background(), record)
	if err != nil || record.From.Revision != server.first || clock.At(1500).Time != 0 {
		t.Errorf("from %+v; 1500 is at %+v; %v", record.From, clock.At(1500), err)
	}
}

// TestSinceLooksBackFarEnough: a write after the last renewal before the time may be later than the
// time. No such write is left out, and little more is read.
func TestSinceLooksBackFarEnough(t *testing.T) {
	s, c := ready(t)
	server := &clockServer{first: 1, now: 2005, every: 10}
	s.on("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases", server.leases)
	for since, want := range map[int64]uint64{5: 2000, 6: 1990, 15: 1990, 300: 1700, 1: 2000} {
		record, err := (&clockReader{client: c}).window(context.Background(), past.Window{Since: since})
		if err != nil || record.From.Revision != want || record.From.Time != server.at(want).Unix() {
			t.Errorf("since %ds: from %+v, want revision %d; %v", since, record.From, want, err)
		}
	}
}

// TestLeaseWasAhead: a lease whose renewTime was hours ahead for a while moves neither the clock
// nor the requested beginning, because the server has stamped it with its own time.
func TestLeaseWasAhead(t *testing.T) {
	s, c := ready(t)
	server := &clockServer{first: 1, now: 2000, every: 10}
	s.on("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases", func(w http.ResponseWriter, r *http.Request) {
		revision, _ := strconv.ParseUint(cmp.Or(r.URL.Query().Get("resourceVersion"), "2000"), 10, 64)
		ahead := time.Duration(0)
		if revision >= 1950 && revision < 1980 {
			ahead = 3 * time.Hour
		}
		w.Header().Set("Date", server.at(server.now).Format(http.TimeFormat))
		w.Header().Set("Content-Type", jsonType)
		renewed := server.at(revision / 10 * 10)
		fmt.Fprintf(w, `{"kind":"LeaseList","apiVersion":"coordination.k8s.io/v1","metadata":{"resourceVersion":"%d"},"items":[
			{"metadata":{"name":"node","namespace":"kube-system","managedFields":[{"manager":"kubelet","time":%q}]},"spec":{"renewTime":%q}}]}`,
			revision, renewed.Format(time.RFC3339), renewed.Add(ahead).Format("2006-01-02T15:04:05.000000Z"))
	})
	reader := &clockReader{client: c}
	record, err := reader.window(context.Background(), past.Window{Since: 20})
	if err != nil || record.From.Revision != 1980 || record.From.Time != server.at(1980).Unix() {
		t.Fatalf("from %+v, want 1980; %v", record.From, err)
	}
	record.From.Revision = 1900
	clock, err := reader.buildClock(context.Background(), record)
	for revision := uint64(1900); revision < 2000 && err == nil; revision += 7 {
		if m := clock.Earliest(revision); m.Time > server.at(revision).Unix() || m.Time < server.at(revision-30).Unix() {
			t.Errorf("%d was at %d, want about %d", revision, m.Time, server.at(revision).Unix())
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// TestWindowThatIsForgotten: the search starts again if the server forgets a revision meanwhile.
func TestWindowThatIsForgotten(t *testing.T) {
	s, c := ready(t)
	server := &clockServer{first: 1, now: 2000, every: 10}
	s.on("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases", func(w http.ResponseWriter, r *http.Request) {
		server.leases(w, r)
		if len(server.asked) == 3 {
			server.first = 1500
		}
	})
	record, err := (&clockReader{client: c}).window(context.Background(), past.Window{})
	if err != nil || record.From.Revision != 1500 {
		t.Errorf("%+v, %v", record, err)
	}
}

// TestSinceWithoutClock: without permission to read the leases everything that is remembered is
// returned, and the past is marked as timeless. In all namespaces it fails.
func TestSinceWithoutClock(t *testing.T) {
	s, c := ready(t)
	server := &clockServer{first: 1234, now: 2000, every: 10}
	s.on("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases", refuse(http.StatusForbidden, "Forbidden"))
	s.on(shopConfigMaps, func(w http.ResponseWriter, r *http.Request) {
		revision := cmp.Or(r.URL.Query().Get("resourceVersion"), fmt.Sprint(server.now))
		if n, _ := strconv.ParseUint(revision, 10, 64); n < server.first {
			refuse(http.StatusGone, "Expired")(w, r)
			return
		}
		listOf(revision, "")(w, r)
	})
	record, err := (&clockReader{client: c}).window(context.Background(), past.Window{Since: 60, Namespaces: []string{"shop"}})
	if err != nil || record.From != (past.Moment{Revision: server.first}) || !record.Timeless {
		t.Errorf("%+v, %v", record, err)
	}
	_, err = (&clockReader{client: c}).window(context.Background(), past.Window{Since: 60})
	if forbidden, ok := errors.AsType[*ForbiddenPastError](err); !ok || forbidden.Namespaces != nil {
		t.Errorf("%v", err)
	}
}

// TestOneTimeOfADelete: the deletionTimestamp is the time of the first delete, not of later writes.
func TestOneTimeOfADelete(t *testing.T) {
	going := func(grace int64) *object.Object {
		o := &object.Object{Ref: object.Pod.Ref("shop", "web")}
		life := o.Edit()
		life.DeletionTimestamp, life.GracePeriod = 1030, &grace
		return o
	}
	r := &clockReader{now: 2000}
	told := r.timesInChanges([]past.Change{
		{Revision: 5, Type: object.Modified, Object: going(30), Old: &object.Object{}},
		{Revision: 90, Type: object.Modified, Object: going(0), Old: going(30)},
	})
	if want := []past.Moment{{Revision: 5, Time: 1000}}; !slices.Equal(told, want) {
		t.Errorf("%v, want %v", told, want)
	}
}
