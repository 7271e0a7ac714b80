package kube

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// follow follows config maps and widgets of a scripted server until the test ends. It returns the
// feed and a function that waits for the next n events.
func follow(t *testing.T, c *Client, o FollowOptions) (*Feed, func(n int) []string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	// Waits are short but real here, because following never ends.
	c.wait = func(done <-chan struct{}, d time.Duration) { wallClock(done, min(d, 5*time.Millisecond)) }
	if o.Wants == nil {
		o.Wants = func(r object.Resource) bool { return r.Name == "configmaps" || r.Name == "widgets" }
	}
	feed := c.Follow(ctx, o)
	t.Cleanup(func() {
		cancel()
		for range feed.Events() {
		}
		<-feed.Done()
	})
	return feed, func(n int) []string {
		t.Helper()
		var got []string
		late := time.After(ample)
		for range n {
			select {
			case e := <-feed.Events():
				got = append(got, fmt.Sprintf("%s %s %s %s", e.Type, e.Object.Name, e.Object.UID, e.Object.ResourceVersion))
			case <-late:
				t.Fatalf("only %q", got)
			}
		}
		return got
	}
}

// states collects states.
type states struct {
	mu  sync.Mutex
	all []KindState
	new chan struct{}
}

func newStates() *states { return &states{new: make(chan struct{}, 1)} }

func (s *states) note(k KindState) {
	s.mu.Lock()
	s.all = append(s.all, k)
	s.mu.Unlock()
	select {
	case s.new <- struct{}{}:
	default:
	}
}

// await waits for a state of a resource and returns why.
func (s *states) await(t *testing.T, name string, want State) string {
	t.Helper()
	late := time.After(ample)
	for {
		s.mu.Lock()
		for i, k := range s.all {
			if k.Resource.Name == name && k.State == want {
				s.all = slices.Delete(s.all, 0, i+1)
				s.mu.Unlock()
				return k.Why
			}
		}
		s.mu.Unlock()
		select {
		case <-s.new:
		case <-late:
			t.Fatalf("%s never was %s: %v", name, want, s.all)
		}
	}
}

func same(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

const widgetsPath = "/apis/example.com/v1/widgets"

// noWidgets scripts an empty list of widgets.
func noWidgets(s *scripted) {
	s.on(widgetsPath, listOf("5", ""))
	s.on(widgetsPath+" watch", watching(true))
}

func TestFollow(t *testing.T) {
	s, c := serve(t)
	noWidgets(s)
	s.on(configMapsPath, listOf("5", "", "a", "b"))
	s.on(configMapsPath+" watch", watching(true,
		event("MODIFIED", named("a"), "6"), event("ADDED", named("c"), "7"), event("DELETED", named("b"), "8")))
	feed, next := follow(t, c, FollowOptions{})
	same(t, next(5), "ADDED a uid-a 5", "ADDED b uid-b 5", "MODIFIED a uid-a 6", "ADDED c uid-c 7", "DELETED b uid-b 8")
	<-feed.Synced()
	if why, uncovered := feed.Uncovered(settings); uncovered {
		t.Errorf("uncovered: %s", why)
	}
	for _, k := range feed.Kinds() {
		if k.State != Synced {
			t.Errorf("%+v", k)
		}
	}
	if asked := s.requests("configmaps?allow"); len(asked) != 1 || !strings.Contains(asked[0], "allowWatchBookmarks=true&resourceVersion=5&timeoutSeconds=") {
		t.Errorf("asked %q", asked)
	}
}

// TestBookmarks: a watch that ends resumes at the last event or bookmark.
func TestBookmarks(t *testing.T) {
	s, c := serve(t)
	noWidgets(s)
	s.on(configMapsPath, listOf("5", "", "a"))
	s.on(configMapsPath+" watch",
		watching(false, event("BOOKMARK", object.Ref{}, "40")),
		watching(false, event("MODIFIED", named("a"), "41")),
		watching(true, event("MODIFIED", named("a"), "42")))
	_, next := follow(t, c, FollowOptions{})
	same(t, next(3), "ADDED a uid-a 5", "MODIFIED a uid-a 41", "MODIFIED a uid-a 42")
	for i, rv := range []string{"5", "40", "41"} {
		if asked := s.requests("configmaps?allow"); !strings.Contains(asked[i], "resourceVersion="+rv+"&") {
			t.Errorf("asked %q", asked)
		}
	}
	if lists := s.requests("GET " + configMapsPath); len(lists) != 4 {
		t.Errorf("asked %q", lists)
	}
}

// TestRelist: after an expired watch the kind is listed again. Vanished objects are Deleted,
// changed ones Modified, and unchanged ones are not repeated.
func TestRelist(t *testing.T) {
	for name, expired := range map[string]http.HandlerFunc{
		"in the watch":         watching(false, watchError(410, metav1.StatusReasonExpired)),
		"instead of a watch":   refuse(410, metav1.StatusReasonExpired),
		"behind another event": watching(false, event("MODIFIED", named("a"), "5"), watchError(410, metav1.StatusReasonGone)),
	} {
		t.Run(name, func(t *testing.T) {
			s, c := serve(t)
			noWidgets(s)
			s.on(configMapsPath, listOf("5", "", "a", "b"), listOf("9", "", "b", "c"))
			s.on("/api/v1/namespaces/shop/configmaps/a", missing(configMaps, "a"))
			s.on(configMapsPath+" watch", expired, watching(true))
			_, next := follow(t, c, FollowOptions{})
			n := 5
			if strings.HasPrefix(name, "behind") {
				n++
			}
			got := slices.DeleteFunc(next(n), func(e string) bool { return e == "MODIFIED a uid-a 5" })
			same(t, got, "ADDED a uid-a 5", "ADDED b uid-b 5", "MODIFIED b uid-b 9", "ADDED c uid-c 9", "DELETED a uid-a ")
		})
	}
}

// TestWatchFaults: a watch that breaks resumes at its position. If it keeps breaking, the kind is
// Broken until a list succeeds.
func TestWatchFaults(t *testing.T) {
	half := event("MODIFIED", named("a"), "6")
	for name, bad := range map[string]http.HandlerFunc{
		"half a frame":        watching(false, half[:len(half)-3]),
		"another kind":        watching(false, framed("ADDED", wrapped("v1", "Secret", &metav1.PartialObjectMetadata{}))),
		"no such event":       watching(false, event("CHANGED", named("a"), "6")),
		"a giant":             watching(false, []byte{0xff, 0xff, 0xff, 0xff}),
		"a page":              answer200("text/html", []byte("<html>")),
		"an error":            watching(false, watchError(500, metav1.StatusReasonInternalError)),
		"forbidden":           refuse(403, metav1.StatusReasonForbidden),
		"a broken connection": cutOff(protobufType, nil),
	} {
		t.Run(name, func(t *testing.T) {
			s, c := serve(t)
			noWidgets(s)
			s.on(configMapsPath, listOf("5", "", "a"), listOf("7", ""))
			s.on("/api/v1/namespaces/shop/configmaps/a", missing(configMaps, "a"))
			s.on(configMapsPath+" watch", slices.Concat(slices.Repeat([]http.HandlerFunc{bad}, 3), []http.HandlerFunc{watching(true, event("ADDED", named("d"), "8"))})...)
			seen := newStates()
			_, next := follow(t, c, FollowOptions{State: seen.note})
			same(t, next(3), "ADDED a uid-a 5", "DELETED a uid-a ", "ADDED d uid-d 8")
			if why := seen.await(t, "configmaps", Broken); why == "" {
				t.Error("it does not say why")
			}
			seen.await(t, "configmaps", Synced)
		})
	}
}

// TestBrokenKind: a kind that cannot be listed affects no other kind. (S185, S1)
func TestBrokenKind(t *testing.T) {
	s, c := serve(t)
	s.on(widgetsPath, refuse(500, metav1.StatusReasonInternalError))
	s.on(configMapsPath, listOf("5", "", "a"))
	s.on(configMapsPath+" watch", watching(true))
	seen := newStates()
	feed, next := follow(t, c, FollowOptions{State: seen.note})
	same(t, next(1), "ADDED a uid-a 5")
	seen.await(t, "widgets", Broken)
	<-feed.Synced()
	widget := object.Ref{APIVersion: "example.com/v1", Kind: "Widget", Namespace: "shop", Name: "w"}
	if why, uncovered := feed.Uncovered(widget); !uncovered || !strings.Contains(why, "InternalError") {
		t.Errorf("the place of a widget: %q %v", why, uncovered)
	}
	if _, uncovered := feed.Uncovered(settings); uncovered {
		t.Error("the place of a config map is not covered")
	}
	noWidgets(s)
	seen.await(t, "widgets", Synced)
	if why, uncovered := feed.Uncovered(widget); uncovered {
		t.Errorf("the place of a widget: %q", why)
	}
}

// TestSlowKind: a kind that does not arrive delays Synced, but not the events of other kinds.
func TestSlowKind(t *testing.T) {
	s, c := serve(t)
	release := make(chan struct{})
	s.on(widgetsPath, func(w http.ResponseWriter, r *http.Request) { <-release; listOf("5", "", "w")(w, r) })
	s.on(widgetsPath+" watch", watching(true))
	s.on(configMapsPath, listOf("5", "", "a"))
	s.on(configMapsPath+" watch", watching(true))
	seen := newStates()
	feed, next := follow(t, c, FollowOptions{State: seen.note})
	same(t, next(1), "ADDED a uid-a 5")
	seen.await(t, "configmaps", Synced)
	select {
	case <-feed.Synced():
		t.Error("synced without widgets")
	default:
	}
	close(release)
	same(t, next(1), "ADDED w uid-w 5")
	<-feed.Synced()
}

// TestKindsComeAndGo: a kind is dropped when discovery no longer has it, and never because its
// group could not be discovered. (S180–S182)
func TestKindsComeAndGo(t *testing.T) {
	s, c := serve(t)
	noWidgets(s)
	s.on(configMapsPath, listOf("5", "", "a"))
	s.on(configMapsPath+" watch", watching(true))
	s.serves(nil, namespaces, configMaps)
	seen := newStates()
	feed, next := follow(t, c, FollowOptions{State: seen.note, SyncPeriod: time.Millisecond})
	same(t, next(1), "ADDED a uid-a 5")
	s.serves(nil, namespaces, configMaps, widgets)
	seen.await(t, "widgets", Synced)

	s.on("/apis", refuse(500, metav1.StatusReasonInternalError))
	seen.await(t, "", Undiscovered)
	s.serves([]string{"example.com/v1"}, namespaces, configMaps)
	n := len(s.requests("GET /apis"))
	for len(s.requests("GET /apis")) < n+3 {
		<-time.After(time.Millisecond)
	}
	if len(feed.Kinds()) != 2 {
		t.Errorf("followed: %v", feed.Kinds())
	}
	s.serves(nil, namespaces, configMaps)
	seen.await(t, "widgets", Dropped)
	if kinds := feed.Kinds(); len(kinds) != 1 || kinds[0].State != Synced {
		t.Errorf("followed: %v", kinds)
	}
}

// TestKindReturns: objects that vanished while their kind was not followed are Deleted when it is
// served again, in another version, in another scope, or after a gap. Existing objects are sent
// again.
func TestKindReturns(t *testing.T) {
	inVersion, inCluster := widgets, widgets
	inVersion.Version, inCluster.Namespaced = "v2", false
	for name, c := range map[string]struct {
		returns object.Resource
		away    bool
		list    http.HandlerFunc
		want    []string
	}{
		"in another version":             {inVersion, false, listOf("9", "", "b"), []string{"DELETED a uid-a ", "MODIFIED b uid-b 9"}},
		"in the same version, as it was": {widgets, true, listOf("5", "", "b"), []string{"DELETED a uid-a ", "MODIFIED b uid-b 5"}},
		"in another scope":               {inCluster, false, listOf("9", ""), []string{"DELETED a uid-a ", "DELETED b uid-b "}},
	} {
		t.Run(name, func(t *testing.T) {
			s, client := serve(t)
			path := "/apis/example.com/" + c.returns.Version + "/widgets"
			s.on(widgetsPath, listOf("5", "", "a", "b"))
			s.on(widgetsPath+" watch", watching(true))
			s.on("/apis/example.com/"+c.returns.Version+"/namespaces/shop/widgets/a", missing(c.returns, "a"))
			s.serves(nil, namespaces, widgets)
			seen := newStates()
			_, next := follow(t, client, FollowOptions{State: seen.note, SyncPeriod: time.Millisecond})
			same(t, next(2), "ADDED a uid-a 5", "ADDED b uid-b 5")
			if c.away {
				s.serves(nil, namespaces)
				seen.await(t, "widgets", Dropped)
			}
			s.on(path, c.list)
			s.on(path+" watch", watching(true))
			s.serves(nil, namespaces, c.returns)
			got := next(2)
			slices.Sort(got)
			same(t, got, c.want...)
		})
	}
}

// TestFollowEnds: a feed whose context has ended leaves no goroutine, even without a receiver.
func TestFollowEnds(t *testing.T) {
	s, c := serve(t)
	s.on(configMapsPath, listOf("5", "", "a", "b", "c"))
	s.on(widgetsPath, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithCancel(context.Background())
	feed := c.Follow(ctx, FollowOptions{Buffer: 1})
	<-feed.Events()
	cancel()
	<-feed.Done()
	noLeak(t)
}

// TestFollowWhole: pods come as JSON, with their facts.
func TestFollowWhole(t *testing.T) {
	s, c := serve(t)
	pod := func(version, phase string) string {
		return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"shop","uid":"u","resourceVersion":"` + version + `"},"spec":{"containers":[]},"status":{"phase":"` + phase + `"}}`
	}
	s.on("/api/v1/pods", answer200(jsonType, []byte(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[`+pod("4", "Running")+`]}`)))
	s.on("/api/v1/pods watch", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", jsonType)
		fmt.Fprintf(w, `{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"6"}}}`+"\n"+`{"type":"MODIFIED","object":%s}`+"\n", pod("7", "Failed"))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	feed, _ := follow(t, c, FollowOptions{Wants: func(r object.Resource) bool { return r.Name == "pods" }})
	first, second := <-feed.Events(), <-feed.Events()
	if first.Object.Pod().Phase != "Running" || second.Object.Pod().Phase != "Failed" || second.Type != object.Modified {
		t.Errorf("%+v, %+v", first.Object, second.Object)
	}
}

// TestIncomplete: of several unknown kinds always the first one is named.
func TestIncomplete(t *testing.T) {
	f := &Feed{kinds: map[schema.GroupResource]KindState{}}
	for _, name := range []string{"c", "b", "a", "d"} {
		f.kinds[schema.GroupResource{Resource: name}] = KindState{State: Broken, Why: "no"}
	}
	for range 50 {
		if _, why, complete := f.Complete(); complete || why != "a is broken: no" {
			t.Fatalf("complete %v, %q", complete, why)
		}
	}
}
