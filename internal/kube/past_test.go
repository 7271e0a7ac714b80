package kube

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// TestListsThatAreNotBelieved: nothing is reported as deleted because of a list that lacks existing
// objects, that shows the past, or whose missing objects cannot be checked. The kind is unknown
// until a good list comes. (L19, L22)
func TestListsThatAreNotBelieved(t *testing.T) {
	const path = "/api/v1/namespaces/shop/configmaps/a"
	for name, c := range map[string]struct {
		list, get http.HandlerFunc
		why       string
	}{
		"it is empty":             {listOf("9", ""), one(named("a"), "5"), "which is there"},
		"it is of the past":       {listOf("4", ""), missing(configMaps, "a"), "gone back in time"},
		"what it lacks is secret": {listOf("9", ""), refuse(403, metav1.StatusReasonForbidden), "does not show it any more"},
		"nobody serves the path":  {listOf("9", ""), http.NotFound, "does not show it any more"},
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
			client.highest.see(configMaps, "7")
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
