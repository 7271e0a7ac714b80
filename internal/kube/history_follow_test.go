package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// goingOn is a scripted server whose revisions go on.
type goingOn struct {
	now atomic.Uint64
	// frames are sent in the watch that is kept; past is what a watch of the past shows from a
	// revision on.
	frames chan []byte
	past   map[string][]byte
}

const leaseEpoch = 1_000_000_000

// leases answers with a lease that was renewed at the revision that is asked for.
func (g *goingOn) leases(w http.ResponseWriter, r *http.Request) {
	revision, _ := strconv.ParseUint(r.URL.Query().Get("resourceVersion"), 10, 64)
	if revision == 0 {
		revision = g.now.Load()
	}
	at := time.Unix(leaseEpoch+int64(revision), 0).UTC().Format(metav1.RFC3339Micro)
	answer200(jsonType, fmt.Appendf(nil, `{"kind":"LeaseList","apiVersion":"coordination.k8s.io/v1","metadata":{"resourceVersion":"%d"},"items":[{"metadata":{"name":"x","namespace":"kube-system","uid":"x"},"spec":{"renewTime":%q}}]}`, revision, at))(w, r)
}

func (g *goingOn) watch(w http.ResponseWriter, r *http.Request) {
	limit, _ := strconv.Atoi(r.URL.Query().Get("timeoutSeconds"))
	if limit < 60 {
		watching(false, g.past[r.URL.Query().Get("resourceVersion")])(w, r)
		return
	}
	watching(false)(w, r)
	for {
		select {
		case frame := <-g.frames:
			_, _ = w.Write(frame)
			w.(http.Flusher).Flush()
			if strings.Contains(string(frame), "ERROR") {
				return
			}
		case <-r.Context().Done():
			return
		}
	}
}

func changesOf(p *history.Past) []string {
	var list []string
	for _, c := range p.Changes {
		text := fmt.Sprintf("%s %s %d", c.Type, c.Object.Name, c.Revision)
		if c.Old != nil {
			text += " was " + c.Old.ResourceVersion
		}
		list = append(list, text)
	}
	return list
}

// TestFollowPast: what the server remembers comes first, then what is lost, with what was there
// before; and where a watch has missed something the past is read again from there on.
func TestFollowPast(t *testing.T) {
	s, c := serve(t)
	s.serves(nil, configMaps)
	c.now = quietClock()
	c.wait = func(done <-chan struct{}, d time.Duration) { wallClock(done, min(d, 5*time.Millisecond)) }
	g := &goingOn{frames: make(chan []byte), past: map[string][]byte{
		"950":  event("DELETED", named("early"), "960"),
		"1010": event("DELETED", named("b"), "1015"),
	}}
	g.now.Store(1000)
	s.on("/"+strings.Join(leasePlace.path(), "/"), g.leases)
	s.on(shopConfigMaps, listOf("900", "", "a", "b"), listOf("1018", ""))
	s.on(shopConfigMaps+"/b", missing(configMaps, "b"))
	s.on(shopConfigMaps+" watch", g.watch)

	ctx, interrupt := context.WithCancel(context.Background())
	defer interrupt()
	pasts := make(chan *history.Past)
	ended := make(chan error, 1)
	go func() {
		ended <- c.FollowPast(ctx, Following{
			Window: history.Window{SinceRevision: 950, Namespaces: []string{"shop"}}, tick: 5 * time.Millisecond,
			Take:    func(p *history.Past) error { pasts <- p; return nil },
			Trouble: func(err error) { t.Error(err) },
		})
	}()
	var all *history.Past
	for _, step := range []struct {
		send     [][]byte
		now      uint64
		from, to uint64
		changes  []string
	}{
		{from: 950, to: 1000, changes: []string{"DELETED early 960"}},
		{[][]byte{event("MODIFIED", named("a"), "1003"), event("DELETED", named("a"), "1005")}, 1010, 1000, 1010, []string{"DELETED a 1005 was 1003"}},
		{[][]byte{watchError(410, metav1.StatusReasonExpired)}, 1020, 1010, 1020, []string{"DELETED b 1015"}},
	} {
		for _, frame := range step.send {
			g.frames <- frame
		}
		if step.now > 0 {
			g.now.Store(step.now)
		}
		var p *history.Past
		select {
		case p = <-pasts:
		case err := <-ended:
			t.Fatal(err)
		case <-time.After(ample):
			t.Fatal("nothing comes")
		}
		if diff := cmp.Diff(step.changes, changesOf(p)); diff != "" || p.From.Revision != step.from || p.To.Revision != step.to {
			t.Errorf("from %v to %v (-want +got):\n%s", p.From, p.To, diff)
		}
		if all == nil {
			all = p
		} else if joined, err := history.Join(all, p); err != nil {
			t.Error(err)
		} else {
			all = joined
		}
	}
	if len(all.Changes) != 3 || len(all.Limits) != 0 || all.Clock.At(1005).Time < leaseEpoch+1000 {
		t.Errorf("%v, limits %v, %v", changesOf(all), all.Limits, all.Clock.Ticks())
	}
	interrupt()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestFollowPastThatCannotBegin: where nothing can be read that is said.
func TestFollowPastThatCannotBegin(t *testing.T) {
	s, c := serve(t)
	s.serves(nil, configMaps)
	s.on("/"+strings.Join(leasePlace.path(), "/"), refuse(403, metav1.StatusReasonForbidden))
	s.on(configMapsPath, listOf("900", ""))
	s.on(configMapsPath+" watch", watching(true))
	if err := c.FollowPast(context.Background(), Following{Take: func(*history.Past) error { return nil }}); err == nil || !strings.Contains(err.Error(), "Forbidden it is") {
		t.Errorf("got %v", err)
	}
}

// followerOf is one whose first past ended at 100, and which has shown these objects.
func followerOf(t *testing.T, objects ...*object.Object) (*pastFollower, *[]*history.Past) {
	t.Helper()
	_, c := serve(t)
	if _, err := c.Discover(context.Background()); err != nil {
		t.Fatal(err)
	}
	var taken []*history.Past
	p := &pastFollower{
		client: c, first: 100, to: history.Moment{Revision: 100}, keeps: true, states: map[pastPlace]*object.Object{}, ended: map[schema.GroupResource]bool{},
		feed: &Feed{kinds: map[schema.GroupResource]KindState{}},
		o:    Following{Take: func(past *history.Past) error { taken = append(taken, past); return nil }},
	}
	for _, r := range []object.Resource{namespaces, configMaps} {
		p.feed.kinds[r.GroupResource()] = KindState{Resource: r, State: Synced}
	}
	for _, o := range objects {
		p.states[pastPlaceOf(o.Ref)] = o
	}
	return p, &taken
}

func at(o *object.Object, version string) *object.Object {
	o = o.Clone()
	o.ResourceVersion = version
	return o
}

// TestHandOverUpToAMoment: what was there is told as of that moment, though more is known.
func TestHandOverUpToAMoment(t *testing.T) {
	ns := &object.Object{Ref: object.Namespace.Ref("", "shop"), ResourceVersion: "1"}
	ns.UID = "ns"
	owner := &object.Object{Ref: object.ConfigMap.Ref("shop", "owner"), ResourceVersion: "2"}
	owner.UID = "owner"
	child := &object.Object{Ref: object.ConfigMap.Ref("shop", "child"), ResourceVersion: "3", Owners: []object.OwnerReference{
		{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: "owner"}, {APIVersion: "v1", Kind: "ConfigMap", Name: "late", UID: "late"},
		{APIVersion: "example.com/v1", Kind: "Widget", Name: "w", UID: "w"},
	}}
	child.UID = "child"
	late := &object.Object{Ref: object.ConfigMap.Ref("shop", "late")}
	late.UID = "late"
	p, taken := followerOf(t, ns, owner, child)
	for _, e := range []object.Event{
		{Type: object.Deleted, Object: at(child, "101")},
		{Type: object.Deleted, Object: at(owner, "103")},
		{Type: object.Added, Object: at(late, "104")},
		{Type: object.Modified, Object: at(ns, "105")}, // a label
		{Type: object.Deleted, Object: at(child, "90")},
	} {
		p.see(e)
	}
	if err := p.handOver(history.Moment{Revision: 102}); err != nil {
		t.Fatal(err)
	}
	past := (*taken)[0]
	if diff := cmp.Diff([]string{"DELETED child 101 was 3"}, changesOf(past)); diff != "" {
		t.Error(diff)
	}
	var stood, absent []string
	for _, o := range past.Standing {
		stood = append(stood, o.Name)
	}
	for _, r := range past.Absent {
		absent = append(absent, r.Name)
	}
	slices.Sort(stood)
	if diff := cmp.Diff([]string{"owner", "shop"}, stood); diff != "" {
		t.Errorf("stood: %s", diff)
	}
	if diff := cmp.Diff([]string{"late"}, absent); diff != "" { // widgets are not watched
		t.Errorf("absent: %s", diff)
	}
	if err := p.handOver(history.Moment{Revision: 110}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"DELETED owner 103 was 2", "ADDED late 104"}, changesOf((*taken)[1])); diff != "" || (*taken)[1].From.Revision != 102 {
		t.Error(diff)
	}
}

// TestMissed: a watch that has broken off has missed something, unless its kind cannot be read
// anyway or its definition is gone.
func TestMissed(t *testing.T) {
	p, _ := followerOf(t)
	crd := &object.Object{Ref: object.CRD.Ref("", "widgets.example.com"), ResourceVersion: "120"}
	crd.Edit().Facts = &object.CRDFacts{Group: "example.com", Plural: "widgets", Kind: "Widget"}
	p.lacking = []history.Limit{{Resource: pods, Why: "forbidden"}}
	p.see(object.Event{Type: object.Deleted, Object: crd})
	for _, k := range []KindState{
		{Resource: configMaps, State: Syncing}, {Resource: pods, State: Broken, Why: "forbidden"}, {Resource: widgets, State: Broken, Why: "not found"},
	} {
		p.note(k)
	}
	if p.missed() {
		t.Error("nothing was missed")
	}
	for _, k := range []KindState{{Resource: configMaps, State: Broken, Why: "no"}, {Resource: configMaps, State: Syncing, Why: "again"}} {
		p.note(k)
		if !p.missed() || p.missed() {
			t.Errorf("%v: it was missed, once", k.State)
		}
	}
}

// TestUsefulTicks: of the times only those are kept between which something has changed.
func TestUsefulTicks(t *testing.T) {
	past := &history.Past{From: history.Moment{Revision: 100, Time: 10}, To: history.Moment{Revision: 200, Time: 20}}
	for _, revision := range []uint64{125, 126, 175} {
		past.Changes = append(past.Changes, history.Change{Revision: revision})
	}
	var ticks []history.Moment
	for i := range uint64(12) {
		ticks = append(ticks, history.Moment{Revision: 100 + 10*i, Time: int64(10 + i)})
	}
	clock := history.NewClock(useful(ticks, past))
	for revision, want := range map[uint64]int64{125: 12, 126: 12, 175: 17, 200: 20} {
		if got := clock.At(revision).Time; got != want {
			t.Errorf("%d was at %d, want %d", revision, got, want)
		}
	}
	if n := len(clock.Ticks()); n > 6 {
		t.Errorf("%d ticks are kept", n)
	}
}

// TestTakerEndsIt: what the taker returns ends the following.
func TestTakerEndsIt(t *testing.T) {
	p, _ := followerOf(t)
	enough := errors.New("enough")
	p.o.Take = func(*history.Past) error { return enough }
	if err := p.took(context.Background(), reading{past: &history.Past{}}); !errors.Is(err, enough) {
		t.Errorf("got %v", err)
	}
}
