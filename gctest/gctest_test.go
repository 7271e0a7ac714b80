package gctest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/gctest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// asked returns an object as a typed client does: without apiVersion and kind.
func asked(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
}

// remove deletes a ConfigMap as a user does.
func (s *server) remove(t *testing.T, name string) {
	t.Helper()
	ref := object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: name}
	err := s.Change(func() error { return s.Sim.Delete(t.Context(), ref, metav1.DeleteOptions{}) })
	if err != nil {
		t.Fatal(err)
	}
}

// Garbage is collected. An object that a finalizer holds is settled, and Explain names it.
func TestSettled(t *testing.T) {
	s := serve(configMap("owner", ""), configMap("free", "owner"), configMap("held", "owner", "example.com/held"), configMap("stays", ""))
	t.Cleanup(s.close)
	gc := gctest.Start(t, s.config())
	for range 2 {
		if err := gc.WaitSettled(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.there(); got != "free held owner stays" {
		t.Fatalf("before anything was deleted there are %s", got)
	}
	mentions(t, gc.Explain(asked("free")), "stays", "owner v1 ConfigMap shop/owner", "existing")
	s.remove(t, "owner")
	if err := gc.WaitSettled(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := s.there(); got != "held stays" {
		t.Errorf("there are %s, want held stays", got)
	}
	mentions(t, gc.Explain(asked("held")), "held by a finalizer", "example.com/held")
	mentions(t, gc.Explain(asked("free")), "is not there")
}

// An owner with an impossible name counts as absent if Kubernetes treats it so. Otherwise it keeps
// its dependents forever, and that is settled.
func TestImpossibleNames(t *testing.T) {
	s := serve(configMap("web", ""), configMap("as-path", "shop/web"), configMap("kept", "w%b"))
	t.Cleanup(s.close)
	gc := gctest.Start(t, s.config())
	if err := gc.WaitSettled(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := s.there(); got != "kept web" {
		t.Errorf("there are %s, want kept web", got)
	}
	mentions(t, gc.Explain(asked("kept")), `no object can have the name "w%b"`)
	s.remove(t, "kept")
	if err := gc.WaitSettled(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Start fails the test with the cause if the config or the server is unusable.
func TestStartFails(t *testing.T) {
	forbidden := func(verb, resource string, watch bool) func(w http.ResponseWriter, r *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			ask := r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/"+resource) && (r.URL.Query().Get("watch") != "") == watch
			if ask {
				forbid(w, verb, resource)
			}
			return ask
		}
	}
	version := func(text string) func(w http.ResponseWriter, r *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/version" {
				return false
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(text))
			return true
		}
	}
	for name, c := range map[string]struct {
		before func(w http.ResponseWriter, r *http.Request) bool
		want   []string
	}{
		"a kind that may not be listed":  {forbidden("list", "secrets", false), []string{"secrets", "nobody may list it"}},
		"a kind that may not be watched": {forbidden("watch", "secrets", true), []string{"secrets", "may not", "nobody may watch it"}},
		"no right to ask what is served": {func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/version" { // is for everybody
				return false
			}
			forbid(w, "get", "paths")
			return true
		}, []string{"does not say what it serves", "nobody may get it"}},
		"a refusal without a text": {func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(http.StatusForbidden)
			return true
		}, []string{"what it serves: 403 Forbidden without a text"}},
		"no version":    {version(`{"gitVersion":"of my own"}`), []string{"of my own", "is not a release of Kubernetes"}},
		"no API server": {version(`<html>`), []string{"not the answer of an API server"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve()
			s.before = c.before
			t.Cleanup(s.close)
			var a attempt
			said := a.run(func(a *attempt) {
				gctest.Start(a, s.config())
				t.Error("Start has returned")
			})
			if !a.failed {
				t.Error("the test has not failed")
			}
			mentions(t, said, append(c.want, "gctest: ")...)
		})
	}
	t.Run("nobody there", func(t *testing.T) {
		gone := httptest.NewServer(http.NotFoundHandler())
		gone.Close()
		var a attempt
		mentions(t, a.run(func(a *attempt) { gctest.Start(a, &rest.Config{Host: gone.URL}) }), "gctest: ", "refused")
	})
	t.Run("an end of pods that there is not", func(t *testing.T) {
		s := serve()
		t.Cleanup(s.close)
		var a attempt
		mentions(t, a.run(func(a *attempt) { gctest.Start(a, s.config(), gctest.WithPods(gctest.Pods(9))) }), "gctest: Pods(9) is not a valid Pods value")
	})
	t.Run("no config", func(t *testing.T) {
		var a attempt
		mentions(t, a.run(func(a *attempt) { gctest.Start(a, nil) }), "gctest: the config is nil")
	})
}

// Start logs a remark if the rules were not measured for the server's release, and none otherwise.
func TestOtherReleases(t *testing.T) {
	for version, remark := range map[string]bool{"v1.36.3": false, "v1.31.0+kcp-v0.26.0": false, "v1.30.9": true, "v1.99.0": true} {
		s := serve()
		s.before = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/version" {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(`{"gitVersion":"` + version + `"}`))
				return true
			}
			return false
		}
		var a attempt
		said := a.run(func(a *attempt) { gctest.Start(a, s.config()) })
		s.close()
		if a.failed || strings.Contains(said, version) != remark {
			t.Errorf("of %s it is said: %q", version, said)
		}
	}
}

// WaitSettled returns at the deadline, with the remaining work.
func TestDeadline(t *testing.T) {
	s := serve(configMap("dependent", "nobody"), configMap("held", "", "example.com/held"))
	s.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodDelete {
			return false
		}
		forbid(w, "delete", "configmaps")
		return true
	}
	t.Cleanup(s.close)
	gc := gctest.Start(t, s.config())
	s.remove(t, "held")
	err := unsettled(t, gc, "not settled after", "shop/dependent", "nobody may delete it", "shop/held", "example.com/held")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("not the error of a deadline: %v", err)
	}

	over, end := context.WithCancel(t.Context())
	end() // as the context of a test in its Cleanup
	mentions(t, fmt.Sprint(gc.WaitSettled(over)), "the context was cancelled")
}

// A test can end while the collector is writing, and nothing is logged afterwards.
func TestEndsWhileCollecting(t *testing.T) {
	s := serve(configMap("dependent", "nobody"))
	writing, ends := make(chan struct{}), make(chan struct{})
	s.before = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodDelete {
			return false
		}
		close(writing)
		<-ends // the server does not answer
		return true
	}
	t.Cleanup(s.close)
	t.Cleanup(func() { close(ends) })
	var a attempt
	said := a.run(func(a *attempt) {
		gctest.Start(a, s.config())
		<-writing
	})
	if said != "" || a.failed {
		t.Errorf("it is said: %s", said)
	}
}

// WaitSettled does not hang if the server stops.
func TestServerGoes(t *testing.T) {
	s := serve(configMap("one", ""))
	var a attempt
	said := a.run(func(a *attempt) {
		gc := gctest.Start(a, s.config())
		s.close()
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if err := gc.WaitSettled(ctx); err == nil {
			a.Errorf("it is settled without a server")
		} else {
			a.Logf("%v", err)
		}
	})
	if a.failed {
		t.Error(said)
	}
	mentions(t, said, "gctest: ")
}
