package gctest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/gctest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/facade"
)

// served are the kinds of the servers here.
var served = []object.Resource{
	{Version: "v1", Name: "namespaces", Kind: "Namespace", Verbs: object.AllVerbs},
	{Version: "v1", Name: "configmaps", Kind: "ConfigMap", Namespaced: true, Verbs: object.AllVerbs},
	{Version: "v1", Name: "secrets", Kind: "Secret", Namespaced: true, Verbs: object.AllVerbs},
}

// server is a simulated API server, with something before it.
type server struct {
	*facade.Server
	front *httptest.Server
	// before answers a request, or reports that it does not; nil for nothing.
	before func(w http.ResponseWriter, r *http.Request) bool
}

// ServeHTTP answers a request.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.before == nil || !s.before(w, r) {
		s.Server.ServeHTTP(w, r)
	}
}

// refusing refuses the deletes whose path contains part.
func refusing(part string) func(w http.ResponseWriter, r *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		denied := r.Method == http.MethodDelete && strings.Contains(r.URL.Path, part)
		if denied {
			forbid(w, "delete", "configmaps")
		}
		return denied
	}
}

// serve starts a server with these objects.
func serve(objects ...*object.Object) *server { return serveAlso(nil, nil, objects...) }

// serveAlso starts a server that serves more kinds. The API versions in stale do not answer.
func serveAlso(more []object.Resource, stale []string, objects ...*object.Object) *server {
	rs := &object.Resources{}
	all := slices.Concat(served, more)
	for _, r := range all {
		rs.Add(r)
	}
	shop := &object.Object{Ref: object.Namespace.Ref("", "shop")}
	shop.UID = "shop"
	shop.Edit().Facts = &object.NamespaceFacts{Phase: "Active", Finalizers: []string{"kubernetes"}}
	s := &server{Server: facade.New(append(objects, shop), rs, facade.Documents(all, stale...))}
	s.front = httptest.NewServer(s)
	return s
}

// close ends the server.
func (s *server) close() {
	s.front.CloseClientConnections()
	s.front.Close()
}

func (s *server) config() *rest.Config { return &rest.Config{Host: s.front.URL} }

// configMap is a config map with an owner, if one is named.
func configMap(name, owner string, finalizers ...string) *object.Object {
	o := &object.Object{Ref: object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: name}}
	o.UID = types.UID("uid-" + name)
	if owner != "" {
		o.Owners = []object.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner, UID: types.UID("uid-" + owner)}}
	}
	if len(finalizers) > 0 {
		o.Edit().Finalizers = finalizers
	}
	return o
}

// there returns the names of the ConfigMaps.
func (s *server) there() string {
	var names []string
	for _, o := range s.Sim.Objects() {
		if o.Kind == "ConfigMap" {
			names = append(names, o.Name)
		}
	}
	return strings.Join(names, " ")
}

// attempt is a gctest.T that records its messages and whether it failed.
type attempt struct {
	mu       sync.Mutex
	said     []string
	failed   bool
	cleanups []func()
}

func (a *attempt) Helper() {}

func (a *attempt) Cleanup(f func()) { a.cleanups = append(a.cleanups, f) }

func (a *attempt) Logf(format string, args ...any) { a.say(false, format, args) }

func (a *attempt) Errorf(format string, args ...any) { a.say(true, format, args) }

func (a *attempt) Fatalf(format string, args ...any) {
	a.say(true, format, args)
	runtime.Goexit()
}

func (a *attempt) say(failed bool, format string, args []any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.said, a.failed = append(a.said, fmt.Sprintf(format, args...)), a.failed || failed
}

// run runs a test with its cleanups, and returns its messages.
func (a *attempt) run(test func(*attempt)) string {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer a.end()
		test(a)
	}()
	<-done
	return strings.Join(a.said, "\n")
}

func (a *attempt) end() {
	for len(a.cleanups) > 0 {
		last := a.cleanups[len(a.cleanups)-1]
		a.cleanups = a.cleanups[:len(a.cleanups)-1]
		last()
	}
}

// mentions fails the test unless a text has all parts.
func mentions(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("nothing says %q:\n%s", p, text)
		}
	}
}

// ample is longer than any awaited event takes, even on a slow machine.
const ample = 5 * time.Minute

// unsettled calls WaitSettled with longer and longer deadlines until its error has all parts, and
// returns that error. It fails the test if WaitSettled succeeds.
func unsettled(t *testing.T, gc *gctest.GC, parts ...string) error {
	t.Helper()
	for late := 300 * time.Millisecond; ; late *= 2 {
		ctx, cancel := context.WithTimeout(t.Context(), late)
		err := gc.WaitSettled(ctx)
		cancel()
		if err == nil {
			t.Fatal("it is settled")
		}
		missing := func(part string) bool { return !strings.Contains(err.Error(), part) }
		if late > ample || !slices.ContainsFunc(parts, missing) {
			mentions(t, err.Error(), parts...)
			return err
		}
	}
}

// forbid answers 403.
func forbid(w http.ResponseWriter, verb, resource string) {
	facade.Refuse(w, apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "", fmt.Errorf("nobody may %s it", verb)))
}
