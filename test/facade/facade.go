// Package facade serves a simulated API server over HTTP, as far as a collector
// needs it: discovery, lists, watches, reads, deletes and patches. It has no rules
// of its own.
package facade

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// DiscoveryType is the media type of discovery in one document.
const DiscoveryType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// Server is a simulated API server behind HTTP.
type Server struct {
	// Sim has the rules. What changes it beside requests goes through Change.
	Sim *apisim.Server
	// Wrote is told of every DELETE and PATCH that has arrived, before anything else
	// happens to the world and before the answer is sent. It may read Sim. Nil for
	// nobody; it is set before the first request.
	Wrote func(Write)

	resources *object.Resources
	// discovery are the documents of discovery, by path.
	discovery map[string][]byte

	// mu makes a change and its events one.
	mu  sync.Mutex
	log []object.Event
	// beginning is the revision before the first event; every event is one more.
	beginning uint64
	// more is closed when the log has grown.
	more chan struct{}
	// pages are what is left of lists, by token.
	pages map[string]rest
}

// Write is a request that changes something, and what came of it.
type Write struct {
	// Verb is object.Delete or object.PatchVerb.
	Verb    object.Verbs
	Ref     object.Ref
	Options metav1.DeleteOptions
	Patch   object.Patch
	// Before and After are the object; nil where there is none.
	Before, After *object.Object
	// Err is why the request was refused.
	Err error
}

// New serves a world: its objects, the resources that are served, and documents of
// discovery by path, such as Documents makes them or a real server has sent them.
// It gives the objects new resource versions.
func New(world []*object.Object, rs *object.Resources, discovery map[string][]byte, options ...apisim.Option) *Server {
	for i, o := range world {
		o.ResourceVersion = strconv.Itoa(i + 1)
	}
	return &Server{
		Sim: apisim.New(world, rs, append(options, apisim.WithGivenUIDs())...), resources: rs, discovery: discovery,
		more: make(chan struct{}), beginning: uint64(len(world)), pages: map[string]rest{},
	}
}

// Change does something to the world and moves what happened into the log that
// watches read.
func (s *Server) Change(do func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.change(do)
}

func (s *Server) change(do func() error) error {
	err := do()
	if events := s.Sim.Events(); len(events) > 0 {
		s.log = append(s.log, events...)
		close(s.more)
		s.more = make(chan struct{})
	}
	return err
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.Trim(r.URL.Path, "/")
	switch path {
	case "healthz", "livez", "readyz":
		_, _ = io.WriteString(w, "ok")
		return
	case "version":
		answer(w, map[string]string{"major": "1", "minor": "36", "gitVersion": "v1.36.3"})
		return
	case "api", "apis":
		w.Header().Set("Content-Type", DiscoveryType)
		_, _ = w.Write(s.discovery["/"+path])
		return
	}
	t, ok := TargetOf(s.resources, path)
	if !ok {
		Refuse(w, apierrors.NewGenericServerResponse(http.StatusNotFound, r.Method, object.Resource{}.GroupResource(), path, "no such path", 0, false))
		return
	}
	if err := s.serve(w, r, t); err != nil {
		Refuse(w, err)
	}
}

// Target is what a path names.
type Target struct {
	Resource  object.Resource
	Namespace string
	// Name is empty for a list.
	Name string
}

// Ref are the coordinates of the object.
func (t Target) Ref() object.Ref {
	return object.Ref{APIVersion: t.Resource.APIVersion(), Kind: t.Resource.Kind, Namespace: t.Namespace, Name: t.Name}
}

// TargetOf reads api/v1/… and apis/GROUP/VERSION/…, then [namespaces/NS/]PLURAL[/NAME].
func TargetOf(rs *object.Resources, path string) (Target, bool) {
	words := strings.Split(path, "/")
	group := ""
	switch {
	case len(words) > 2 && words[0] == "api":
		words = words[1:]
	case len(words) > 3 && words[0] == "apis":
		group, words = words[1], words[2:]
	default:
		return Target{}, false
	}
	version, words := words[0], words[1:]
	var t Target
	if len(words) > 2 && words[0] == "namespaces" {
		t.Namespace, words = words[1], words[2:]
	}
	if len(words) > 1 {
		t.Name = words[1]
	}
	for _, r := range rs.All() {
		if r.Group == group && r.Version == version && r.Name == words[0] && r.Served() && len(words) < 3 {
			t.Resource = r
			return t, true
		}
	}
	return Target{}, false
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, t Target) error {
	ctx := r.Context()
	partial := strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata")
	switch {
	case r.Method == http.MethodGet && t.Name == "" && r.URL.Query().Get("watch") != "":
		return s.watch(w, r, t, partial)
	case r.Method == http.MethodGet && t.Name == "":
		return s.list(w, r, t, partial)
	case r.Method == http.MethodGet:
		o, err := s.Sim.Get(ctx, t.Ref())
		if err != nil {
			return err
		}
		return show(w, o, partial)
	case r.Method == http.MethodDelete:
		return s.delete(ctx, w, r, t)
	case r.Method == http.MethodPatch:
		return s.patch(ctx, w, r, t)
	case r.Method == http.MethodPost && t.Resource.Name == "events":
		_, err := io.Copy(w, r.Body)
		return err
	default:
		return apierrors.NewMethodNotSupported(t.Resource.GroupResource(), strings.ToLower(r.Method))
	}
}

func (s *Server) delete(ctx context.Context, w http.ResponseWriter, r *http.Request, t Target) error {
	var o metav1.DeleteOptions
	if err := json.NewDecoder(r.Body).Decode(&o); err != nil && !errors.Is(err, io.EOF) {
		return apierrors.NewBadRequest(err.Error())
	}
	_, err := s.write(ctx, Write{Verb: object.Delete, Ref: t.Ref(), Options: o}, func() error { return s.Sim.Delete(ctx, t.Ref(), o) })
	if err != nil {
		return err
	}
	answer(w, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess})
	return nil
}

func (s *Server) patch(ctx context.Context, w http.ResponseWriter, r *http.Request, t Target) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	p, err := PatchOf(r.Header.Get("Content-Type"), body)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	done, err := s.write(ctx, Write{Verb: object.PatchVerb, Ref: t.Ref(), Patch: p}, func() error { return s.Sim.Patch(ctx, t.Ref(), p) })
	if err != nil {
		return err
	}
	if done.After == nil { // the patch has removed it
		return show(w, done.Before, true)
	}
	return show(w, done.After, true)
}

// write carries out one write, and tells of it.
func (s *Server) write(ctx context.Context, did Write, do func() error) (Write, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	did.Before, _ = s.Sim.Get(ctx, did.Ref) // nil when there is none
	did.Err = s.change(do)
	did.After, _ = s.Sim.Get(ctx, did.Ref)
	if s.Wrote != nil {
		s.Wrote(did)
	}
	return did, did.Err
}

// Documents are the two documents of discovery of a server that serves these
// resources, by path. The group versions in stale are announced as ones that could
// not be asked for; nothing is said of what they serve.
func Documents(rs []object.Resource, stale ...string) map[string][]byte {
	var core, groups apidiscovery.APIGroupDiscoveryList
	for _, r := range rs {
		list := &groups
		if r.Group == "" {
			list = &core
		}
		v := versionOf(list, r.Group, r.Version, apidiscovery.DiscoveryFreshnessCurrent)
		if slices.Contains(stale, r.APIVersion()) {
			v.Freshness = apidiscovery.DiscoveryFreshnessStale
			continue
		}
		scope := apidiscovery.ScopeCluster
		if r.Namespaced {
			scope = apidiscovery.ScopeNamespace
		}
		v.Resources = append(v.Resources, apidiscovery.APIResourceDiscovery{
			Resource: r.Name, Scope: scope, SingularResource: strings.ToLower(r.Kind), Verbs: r.Verbs.Names(),
			ResponseKind: &metav1.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind},
		})
	}
	return map[string][]byte{"/api": document(core), "/apis": document(groups)}
}

// versionOf finds a version of a group, or announces it.
func versionOf(list *apidiscovery.APIGroupDiscoveryList, group, version string, fresh apidiscovery.DiscoveryFreshness) *apidiscovery.APIVersionDiscovery {
	i := slices.IndexFunc(list.Items, func(g apidiscovery.APIGroupDiscovery) bool { return g.Name == group })
	if i < 0 {
		i = len(list.Items)
		list.Items = append(list.Items, apidiscovery.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: group}})
	}
	g := &list.Items[i]
	j := slices.IndexFunc(g.Versions, func(v apidiscovery.APIVersionDiscovery) bool { return v.Version == version })
	if j < 0 {
		j = len(g.Versions)
		g.Versions = append(g.Versions, apidiscovery.APIVersionDiscovery{Version: version, Freshness: fresh})
	}
	return &g.Versions[j]
}

func document(list apidiscovery.APIGroupDiscoveryList) []byte {
	list.APIVersion, list.Kind = "apidiscovery.k8s.io/v2", "APIGroupDiscoveryList"
	text, err := json.Marshal(list)
	if err != nil {
		panic("facade: discovery did not marshal: " + err.Error())
	}
	return text
}
