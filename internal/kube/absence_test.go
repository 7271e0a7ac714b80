package kube

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

const shopConfigMaps = "/api/v1/namespaces/shop/configmaps"

// clock is a clock that a test moves.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func unproven(err error) bool {
	_, ok := errors.AsType[*object.UncoveredError](err)
	return ok && !apierrors.IsNotFound(err)
}

// TestProof: a 404 is absence only if a later list of the same place succeeds and does not show an
// older state. (spec §17, L01, L03, W14)
func TestProof(t *testing.T) {
	for name, c := range map[string]struct {
		get, list http.HandlerFunc
		good      func(error) bool
		why       string
	}{
		"proven":                   {missing(configMaps, "settings"), listOf("9", "", "other"), apierrors.IsNotFound, ""},
		"nothing else there":       {missing(configMaps, "settings"), listOf("9", ""), apierrors.IsNotFound, ""},
		"the path is gone":         {http.NotFound, listOf("9", ""), isUnserved, "does not serve"},
		"the list's path is gone":  {missing(configMaps, "settings"), http.NotFound, unproven, "does not serve"},
		"the list is forbidden":    {missing(configMaps, "settings"), refuse(403, metav1.StatusReasonForbidden), unproven, "Forbidden"},
		"the list fails":           {missing(configMaps, "settings"), refuse(500, metav1.StatusReasonInternalError), unproven, "InternalError"},
		"the list is a page":       {missing(configMaps, "settings"), answer200("text/html", nil), unproven, "not the requested list"},
		"the list is of the past":  {missing(configMaps, "settings"), listOf("6", ""), unproven, "gone back in time"},
		"the list has no version":  {missing(configMaps, "settings"), listOf("", ""), unproven, "gone back in time"},
		"the list shows it":        {missing(configMaps, "settings"), listOf("9", "", "settings"), unproven, "a moment later"},
		"the server is forbidding": {refuse(403, metav1.StatusReasonForbidden), listOf("9", ""), apierrors.IsForbidden, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, client := ready(t)
			client.highest.record(configMaps, "7")
			s.on(settingsPath, c.get)
			s.on(shopConfigMaps, c.list)
			o, err := client.Proven(ProofOptions{}).Get(context.Background(), settings)
			if o != nil || !c.good(err) || !strings.Contains(err.Error(), c.why) {
				t.Errorf("got %v, %T %v", o, err, err)
			}
		})
	}
}

// TestProofIsShared: calls within a moment share a proof, later ones do not.
func TestProofIsShared(t *testing.T) {
	s, c := ready(t)
	at := &clock{at: time.Now()}
	p := c.Proven(ProofOptions{Now: at.now})
	s.on(settingsPath, missing(configMaps, "settings"))
	s.on(shopConfigMaps, listOf("9", ""))
	for range 2 {
		if _, err := p.Get(context.Background(), settings); !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	}
	if asked := s.requests("/settings"); len(asked) != 1 {
		t.Errorf("asked %q", asked)
	}
	at.pass(200 * time.Millisecond)
	_, _ = p.Get(context.Background(), settings)
	if asked := s.requests("/settings"); len(asked) != 1 {
		t.Errorf("asked %q after 200 ms", asked)
	}
	at.pass(100 * time.Millisecond)
	s.on(settingsPath, one(named("settings"), "9"))
	if o, err := p.Get(context.Background(), settings); err != nil || o == nil {
		t.Errorf("an object that is back: %v, %v", o, err)
	}
	s.on(settingsPath, missing(configMaps, "settings"))
	if _, err := p.Get(context.Background(), settings); !apierrors.IsNotFound(err) {
		t.Error(err)
	}
}

// TestAbsentGracePeriod: an owner that was never seen alive is absent only after it was absent for
// a while. A failed proof in between starts the period again.
func TestAbsentGracePeriod(t *testing.T) {
	s, c := ready(t)
	at := &clock{at: time.Now()}
	p := c.Proven(ProofOptions{AbsentGracePeriod: 40 * time.Second, Now: at.now, SeenAlive: func(uid types.UID) bool { return uid == "known" }})
	s.on(settingsPath, missing(configMaps, "settings"))
	s.on(shopConfigMaps, listOf("9", ""))
	look := func() error {
		_, err := p.Get(context.Background(), settings)
		return err
	}
	if err := look(); !unproven(err) {
		t.Errorf("at once: %v", err)
	}
	at.pass(30 * time.Second)
	if err := look(); !unproven(err) {
		t.Errorf("after 30 s: %v", err)
	}
	at.pass(11 * time.Second)
	if err := look(); !apierrors.IsNotFound(err) {
		t.Errorf("after 41 s: %v", err)
	}
	at.pass(10 * time.Second)
	s.on(shopConfigMaps, http.NotFound)
	if err := look(); !unproven(err) {
		t.Errorf("without a list: %v", err)
	}
	s.on(shopConfigMaps, listOf("9", ""))
	at.pass(10 * time.Second)
	if err := look(); !unproven(err) {
		t.Errorf("absent anew: %v", err)
	}
	at.pass(41 * time.Second)
	if err := look(); !apierrors.IsNotFound(err) {
		t.Errorf("after 41 s more: %v", err)
	}
	s.on("/api/v1/namespaces/n1", missing(namespaces, "n1"))
	s.on("/api/v1/namespaces", listOf("9", ""))
	for i, namespace := range []string{"", "shop", "pay"} {
		ref := object.Namespace.Ref(namespace, "n1")
		_, err := p.Get(context.Background(), ref)
		if i == 0 && !unproven(err) || i > 0 && !apierrors.IsNotFound(err) {
			t.Errorf("a cluster-scoped owner, asked for from namespace %q: %v", namespace, err)
		}
		at.pass(41 * time.Second)
	}
	seen := settings
	seen.UID = "known"
	if _, err := p.Get(context.Background(), seen); !apierrors.IsNotFound(err) {
		t.Errorf("one that was seen alive: %v", err)
	}
}

// TestProofNeedsDiscovery: a proof needs fresh discovery.
func TestProofNeedsDiscovery(t *testing.T) {
	s, c := ready(t)
	at := &clock{at: time.Now().Add(time.Minute)}
	s.on(settingsPath, missing(configMaps, "settings"))
	s.on(shopConfigMaps, listOf("9", ""))
	s.serves(nil, namespaces, pods)
	_, err := c.Proven(ProofOptions{Now: at.now}).Get(context.Background(), settings)
	if _, ok := errors.AsType[*object.UnknownKindError](err); !ok {
		t.Errorf("a kind that is gone: %v", err)
	}
	s.on("/apis", refuse(500, metav1.StatusReasonInternalError))
	if _, err := c.Proven(ProofOptions{Now: at.now}).Get(context.Background(), settings); err == nil || apierrors.IsNotFound(err) {
		t.Errorf("without discovery: %v", err)
	}
}

// TestProofSurvivesOthers: the cancellation of one caller does not fail the other callers.
func TestProofSurvivesOthers(t *testing.T) {
	s, c := ready(t)
	p := c.Proven(ProofOptions{})
	asked := make(chan struct{})
	s.on(settingsPath, func(_ http.ResponseWriter, r *http.Request) { close(asked); <-r.Context().Done() }, one(named("settings"), "9"))
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() {
		if _, err := p.Get(ctx, settings); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	<-asked
	all.Go(func() {
		if o, err := p.Get(context.Background(), settings); err != nil || o == nil {
			t.Error(err)
		}
	})
	cancel()
	all.Wait()
}

// TestProvenWrites: a write must name the uid of its object, and a delete its resourceVersion. (I2)
func TestProvenWrites(t *testing.T) {
	s, c := ready(t)
	p := c.Proven(ProofOptions{})
	uid, none, version := settings.UID, types.UID(""), "7"
	for name, pre := range map[string]*metav1.Preconditions{
		"nothing":                  nil,
		"no uid":                   {ResourceVersion: &version},
		"an empty uid":             {UID: &none, ResourceVersion: &version},
		"no resourceVersion":       {UID: &uid},
		"an empty resourceVersion": {UID: &uid, ResourceVersion: new("")},
	} {
		if err := p.Delete(context.Background(), settings, metav1.DeleteOptions{Preconditions: pre}); err == nil {
			t.Errorf("%s: a delete of whatever stands there", name)
		}
	}
	if err := p.Patch(context.Background(), settings, object.Patch{ResourceVersion: version}); err == nil {
		t.Error("a patch of whatever stands there")
	}
	if asked := append(s.requests("DELETE"), s.requests("PATCH")...); len(asked) > 0 {
		t.Errorf("asked %q", asked)
	}
}

// TestListsThatAreNotBelieved: nothing is reported as deleted because of a list that lacks existing
// objects, that shows the past, or whose missing objects cannot be checked. The kind is unknown
// until a good list comes. (L19, L22)
func TestListsThatAreNotBelieved(t *testing.T) {
	const path = "/api/v1/namespaces/shop/configmaps/a"
	for name, c := range map[string]struct {
		list, get http.HandlerFunc
		why       string
	}{
		"it is empty":             {listOf("9", ""), one(named("a"), "5"), "which exists"},
		"it is of the past":       {listOf("4", ""), missing(configMaps, "a"), "gone back in time"},
		"what it lacks is secret": {listOf("9", ""), refuse(403, metav1.StatusReasonForbidden), "no longer has it"},
		"nobody serves the path":  {listOf("9", ""), http.NotFound, "no longer has it"},
	} {
		t.Run(name, func(t *testing.T) {
			s, client := serve(t)
			noWidgets(s)
			s.on(configMapsPath, listOf("5", "", "a"), c.list, listOf("9", "", "a", "b"))
			s.on(configMapsPath+" watch", refuse(410, metav1.StatusReasonExpired), watching(true))
			s.on(path, c.get)
			seen := newStates()
			feed, next := follow(t, client, FollowOptions{State: seen.note})
			same(t, next(3), "ADDED a uid-a 5", "MODIFIED a uid-a 9", "ADDED b uid-b 9")
			if why := seen.await(t, "configmaps", Broken); !strings.Contains(why, c.why) {
				t.Errorf("it is broken because %s", why)
			}
			seen.await(t, "configmaps", Synced)
			if epoch, why, complete := feed.Complete(); !complete || epoch < 2 {
				t.Errorf("complete %t in epoch %d: %s", complete, epoch, why)
			}
		})
	}
}

// TestWatchThatGoesBack: an event that is older than earlier ones of the watch is not sent. (L24)
func TestWatchThatGoesBack(t *testing.T) {
	s, c := serve(t)
	noWidgets(s)
	s.on(configMapsPath, listOf("5", "", "a"), listOf("9", "", "a"))
	s.on(configMapsPath+" watch", watching(true, event("MODIFIED", named("a"), "7"), event("DELETED", named("a"), "6")),
		watching(true, event("MODIFIED", named("a"), "8")))
	_, next := follow(t, c, FollowOptions{})
	same(t, next(3), "ADDED a uid-a 5", "MODIFIED a uid-a 7", "MODIFIED a uid-a 8")
}

// TestOtherUID: another object with the name of an owner proves that the owner is gone, unless the
// server shows the past.
func TestOtherUID(t *testing.T) {
	ref := settings
	ref.UID = "uid-former"
	for name, c := range map[string]struct {
		list http.HandlerFunc
		good bool
	}{
		"now":      {listOf("9", "", "settings"), true},
		"the past": {listOf("6", "", "settings"), false},
	} {
		t.Run(name, func(t *testing.T) {
			s, client := ready(t)
			client.highest.record(configMaps, "7")
			s.on(settingsPath, one(named("settings"), "5"))
			s.on(shopConfigMaps, c.list)
			o, err := client.Proven(ProofOptions{}).Get(context.Background(), ref)
			if _, unknown := errors.AsType[*object.UncoveredError](err); c.good != (err == nil && o.UID == "uid-settings") || c.good == unknown {
				t.Errorf("got %v, %v", o, err)
			}
		})
	}
}

// TestRedirect: no redirect is followed, because the credentials would be sent along. (X19)
func TestRedirect(t *testing.T) {
	s, c := ready(t)
	s.on(settingsPath, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) })
	if o, err := c.Get(context.Background(), settings); err == nil {
		t.Errorf("it is %v", o)
	}
	s.on("/apis", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) })
	if d, err := c.Discover(context.Background()); err == nil && len(d.Missing) == 0 {
		t.Error("it was discovered")
	}
	if asked := s.requests("elsewhere"); len(asked) > 0 {
		t.Errorf("asked %q", asked)
	}
}
