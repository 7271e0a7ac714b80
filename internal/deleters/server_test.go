package deleters

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/facade"
)

// kinds are those of the simulated servers.
var kinds = []object.Resource{
	{Version: "v1", Name: "namespaces", Kind: "Namespace", Verbs: object.AllVerbs},
	{Version: "v1", Name: "configmaps", Kind: "ConfigMap", Namespaced: true, Verbs: object.AllVerbs},
}

// server is a simulated API server with running deleters.
type server struct {
	*testing.T
	*facade.Server
	*Deleters
	// refuses is a part of the path of objects that may not be deleted; nil for none.
	refuses atomic.Pointer[string]
	// deleted is called after the response to a delete. It may be nil.
	deleted atomic.Pointer[func()]
}

// start runs deleters on a server with these objects until the test ends.
func start(t *testing.T, objects ...*object.Object) *server {
	t.Helper()
	rs := &object.Resources{}
	for _, r := range kinds {
		rs.Add(r)
	}
	s := &server{T: t, Server: facade.New(objects, rs, facade.Documents(kinds))}
	front := httptest.NewServer(s)
	t.Cleanup(func() {
		front.CloseClientConnections()
		front.Close()
	})
	d, err := Start(t.Context(), &rest.Config{Host: front.URL}, Options{Command: "test"})
	if err != nil {
		t.Fatal(err)
	}
	s.Deleters = d
	t.Cleanup(func() {
		if err := d.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// ServeHTTP answers a request, or refuses it.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if part := s.refuses.Load(); part != nil && r.Method == http.MethodDelete && strings.Contains(r.URL.Path, *part) {
		facade.Refuse(w, apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "", fmt.Errorf("nobody may")))
		return
	}
	s.Server.ServeHTTP(w, r)
	if deleted := s.deleted.Load(); deleted != nil && r.Method == http.MethodDelete {
		(*deleted)()
	}
}

// refuse makes the server refuse deletes whose path has this part; empty for none.
func (s *server) refuse(part string) {
	if part == "" {
		s.refuses.Store(nil)
		return
	}
	s.refuses.Store(&part)
}

// settled waits until nothing is left to do.
func (s *server) settled() {
	s.Helper()
	if err := s.Settle(s.Context()); err != nil {
		s.Fatal(err)
	}
}

// ample is the time limit for anything that must happen, on slow machines too.
const ample = 5 * time.Minute

// unsettled returns the error of a Settle that cannot finish, once the error has these parts. Each
// deadline is later than the one before.
func (s *server) unsettled(parts ...string) string {
	s.Helper()
	for late := 200 * time.Millisecond; ; late *= 2 {
		ctx, cancel := context.WithTimeout(s.Context(), late)
		err := s.Settle(ctx)
		cancel()
		if _, late := errors.AsType[*unsettledError](err); !late {
			s.Fatalf("it is settled, or fails otherwise: %v", err)
		}
		missing := func(part string) bool { return !strings.Contains(err.Error(), part) }
		if late > ample || !slices.ContainsFunc(parts, missing) {
			return err.Error()
		}
	}
}

// remove deletes a config map like a user.
func (s *server) remove(name string, policy metav1.DeletionPropagation) {
	s.Helper()
	if err := s.Change(func() error {
		return s.Sim.Delete(s.Context(), named(name), metav1.DeleteOptions{PropagationPolicy: &policy})
	}); err != nil {
		s.Fatal(err)
	}
}

// there returns the names of the existing config maps.
func (s *server) there() string {
	var names []string
	for _, o := range s.Sim.Objects() {
		if o.Kind == "ConfigMap" {
			names = append(names, o.Name)
		}
	}
	return strings.Join(names, " ")
}

func named(name string) object.Ref {
	return object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: name, UID: types.UID("uid-" + name)}
}

// configMap returns a config map with finalizers, and with an owner if one is named.
func configMap(name, owner string, finalizers ...string) *object.Object {
	o := &object.Object{Ref: named(name)}
	if owner != "" {
		o.Owners = []object.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner, UID: named(owner).UID}}
	}
	if len(finalizers) > 0 {
		o.Edit().Finalizers = finalizers
	}
	return o
}

// has checks that a text has all these parts.
func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("nothing says %q:\n%s", p, text)
		}
	}
}
