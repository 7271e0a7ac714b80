package faults

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/test/facade"
)

// patience is how long anything may take that has to happen, on whatever machine.
const patience = 5 * time.Minute

// TestMain lets many rows run side by side: they wait more than they work.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "32"); err != nil {
		panic(err)
	}
	m.Run()
}

// served are the kinds of the worlds here.
var served = []object.Resource{
	{Version: "v1", Name: "namespaces", Kind: "Namespace", Verbs: object.AllVerbs},
	{Version: "v1", Name: "configmaps", Kind: "ConfigMap", Namespaced: true, Verbs: object.AllVerbs},
	{Version: "v1", Name: "secrets", Kind: "Secret", Namespaced: true, Verbs: object.AllVerbs},
	{Version: "v1", Name: "serviceaccounts", Kind: "ServiceAccount", Namespaced: true, Verbs: object.AllVerbs},
	{Group: "example.com", Version: "v1", Name: "widgets", Kind: "Widget", Namespaced: true, Custom: true, Verbs: object.AllVerbs},
	{Group: "example.org", Version: "v1", Name: "gadgets", Kind: "Gadget", Custom: true, Verbs: object.AllVerbs},
}

// rig is a server with a world, the faults before it and the oracle beside its
// store; and our collector.
type rig struct {
	t *testing.T
	*facade.Server
	*oracle
	watches
	resources *object.Resources
	url       string
	client    *kube.Client

	mu      sync.Mutex
	faults  []*fault
	records []engine.Record
	kinds   []kube.KindState
	fences  int
	stop    func()
}

// world starts a server with these objects in namespace shop.
func world(t *testing.T, objects ...*object.Object) *rig {
	t.Helper()
	rs := &object.Resources{}
	for _, r := range served {
		rs.Add(r)
	}
	shop := one("Namespace", "shop")
	shop.Edit().Facts = &object.NamespaceFacts{Phase: "Active", Finalizers: []string{"kubernetes"}}
	c := &rig{t: t, Server: facade.New(append(objects, shop), rs, facade.Documents(served)), resources: rs, stop: func() {}}
	c.oracle = &oracle{sim: c.Sim, released: map[types.UID]bool{}}
	c.Wrote = c.oracle.wrote
	c.watches.open = map[*watching]struct{}{}
	server := httptest.NewServer(c)
	c.url = server.URL
	c.client = c.connect(kube.Options{})
	t.Cleanup(func() {
		c.halt()
		server.CloseClientConnections()
		server.Close()
		for _, wrong := range c.verdicts() {
			t.Error(wrong)
		}
		if t.Failed() {
			c.report()
		}
	})
	return c
}

// connect makes a client of the server.
func (c *rig) connect(o kube.Options) *kube.Client {
	c.t.Helper()
	client, err := kube.Connect(&rest.Config{Host: c.url}, o)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(client.Close)
	return client
}

// ServeHTTP answers as the first fault that strikes says, or as the server does.
func (c *rig) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := asked{verb: strings.ToLower(r.Method), query: r.URL.Query()}
	path := strings.Trim(r.URL.Path, "/")
	a.target, _ = facade.TargetOf(c.resources, path)
	switch {
	case path == "api" || path == "apis":
		a.verb = "discover"
	case a.verb == "get" && a.query.Get("watch") != "":
		a.verb = "watch"
	case a.verb == "get" && a.target.Name == "":
		a.verb = "list"
	}
	for _, f := range c.struck() {
		if f.strikes(a) {
			f.do(w, r, c.Server)
			return
		}
	}
	if a.verb == "watch" {
		c.watches.serve(w, r, a.target.Resource.Name, c.Server)
		return
	}
	c.Server.ServeHTTP(w, r)
}

func (c *rig) struck() []*fault {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.faults
}

// strike begins a fault that takes as many requests as said, or with 0 all of them
// until it is lifted.
func (c *rig) strike(times int64, match func(asked) bool, do answering) *fault {
	f := &fault{match: match, do: do}
	f.left.Store(times)
	if times == 0 {
		f.left.Store(-1)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = append(slices.Clip(c.faults), f)
	return f
}

// collect starts the collector under strict rules.
func (c *rig) collect(change ...func(*kube.CollectorOptions)) {
	c.t.Helper()
	c.stop = c.collector(c.client, change...)
}

// collector starts a collector over a client, and returns what ends it.
func (c *rig) collector(client *kube.Client, change ...func(*kube.CollectorOptions)) func() {
	ctx, cancel := context.WithCancel(context.Background())
	o := kube.CollectorOptions{Rules: engine.Strict, SyncPeriod: 200 * time.Millisecond, Kind: func(k kube.KindState) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.kinds = append(c.kinds, k)
	}}
	o.Run.Record = func(r engine.Record) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.records = append(c.records, r)
	}
	for _, f := range change {
		f(&o)
	}
	done := make(chan error, 1)
	go func() { done <- kube.Collect(ctx, client, o) }()
	var once sync.Once
	return func() {
		once.Do(func() {
			cancel()
			select {
			case err := <-done:
				if !errors.Is(err, context.Canceled) {
					c.t.Errorf("the garbage collector ended: %v", err)
				}
			case <-time.After(patience):
				c.t.Error("the garbage collector does not end")
			}
		})
	}
}

// halt ends the collector. Who writes afterwards does wrong.
func (c *rig) halt() {
	c.stop()
	c.end()
}

// until waits for a condition.
func (c *rig) until(what string, reached func() bool) {
	c.t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !reached() {
		select {
		case <-deadline:
			c.t.Fatalf("never: %s", what)
		case <-tick.C:
		}
	}
}

// disturb does something to the watches of a resource once one is open: a kind is
// synced, and a fence behind it reached, before its watch is.
func (c *rig) disturb(resource string, do func(*watching)) {
	c.t.Helper()
	c.until("a watch of "+resource+" is open", func() bool { return c.watches.disturb(resource, do) > 0 })
}

// fence waits until the collector has collected an object that is made now, and
// whose kind and owner no fault touches.
func (c *rig) fence() {
	c.t.Helper()
	c.fences++
	o := one("ServiceAccount", fmt.Sprintf("fence-%d", c.fences), lost("ServiceAccount", fmt.Sprintf("nobody-%d", c.fences)))
	c.create(o)
	c.goes(o)
}

// stays says that objects are kept while the collector works.
func (c *rig) stays(objects ...*object.Object) {
	c.t.Helper()
	c.fence()
	for _, o := range objects {
		if !c.lives(o) {
			c.t.Errorf("%s is gone", o.Ref)
		}
	}
}

// goes waits until objects are gone.
func (c *rig) goes(objects ...*object.Object) {
	c.t.Helper()
	for _, o := range objects {
		c.until(o.Ref.String()+" goes", func() bool { return !c.lives(o) })
	}
}

// lives reports whether an object, and not another one of its name, is in the store.
func (c *rig) lives(o *object.Object) bool {
	have, err := c.Sim.Get(context.Background(), o.Ref)
	return err == nil && have.UID == o.UID
}

// judged waits until the collector has looked at an object and come to a reason.
func (c *rig) judged(o *object.Object, reasons ...reason.Code) {
	c.t.Helper()
	c.until(fmt.Sprintf("%s is judged %v", o.Ref, reasons), func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, r := range c.records {
			for _, reason := range reasons {
				if r.Decision.Attempt.Ref.UID == o.UID && r.Decision.Reason == reason {
					return true
				}
			}
		}
		return false
	})
}

// state waits until a kind is in a state.
func (c *rig) state(resource string, s kube.State) {
	c.t.Helper()
	c.until(resource+" is "+s.String(), func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, k := range slices.Backward(c.kinds) {
			if k.Resource.Name == resource {
				return k.State == s
			}
		}
		return false
	})
}

// create puts an object into the world.
func (c *rig) create(o *object.Object) {
	c.t.Helper()
	c.must(c.Change(func() error {
		_, err := c.Sim.Create(context.Background(), o)
		return err
	}))
}

// delete deletes as a user does.
func (c *rig) delete(o *object.Object, policy metav1.DeletionPropagation) {
	c.t.Helper()
	c.must(c.Change(func() error {
		return c.Sim.Delete(context.Background(), o.Ref, metav1.DeleteOptions{PropagationPolicy: &policy})
	}))
}

// edit changes a stored object as a user does.
func (c *rig) edit(o *object.Object, change func(*object.Object)) {
	c.t.Helper()
	c.must(c.Change(func() error {
		have, err := c.Sim.Get(context.Background(), o.Ref)
		if err != nil {
			return err
		}
		next := have.Clone()
		change(next)
		_, err = c.Sim.Update(context.Background(), next)
		return err
	}))
}

func (c *rig) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// report says what has happened, for a row that has failed.
func (c *rig) report() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.kinds {
		c.t.Logf("kind %s is %s %s", k.Resource.Name, k.State, k.Why)
	}
	for _, r := range c.records[max(0, len(c.records)-40):] {
		c.t.Logf("%d %s: %v, disposition %v, %d exchanges, %v", r.Sequence, r.Decision.Attempt.Ref, r.Decision.Reason, r.Disposition, len(r.Exchanges), r.Err)
	}
	for _, w := range c.writes {
		c.t.Logf("%v %s: %v", w.Verb.Names(), w.Ref, w.Err)
	}
}

// one is an object of namespace shop with a uid like its name.
func one(kind, name string, owners ...object.OwnerReference) *object.Object {
	o := &object.Object{Owners: owners}
	for _, r := range served {
		if r.Kind == kind {
			o.Ref = object.Ref{APIVersion: r.APIVersion(), Kind: kind, Name: name, UID: types.UID("uid-" + name)}
			if r.Namespaced {
				o.Namespace = "shop"
			}
		}
	}
	return o
}

// to is a reference to an object.
func to(o *object.Object) object.OwnerReference {
	return object.OwnerReference{APIVersion: o.APIVersion, Kind: o.Kind, Name: o.Name, UID: o.UID}
}

// blocking is a reference that blocks the deletion of an object.
func blocking(o *object.Object) object.OwnerReference {
	r := to(o)
	r.BlockOwnerDeletion = object.True
	return r
}

// lost is a reference to an object that does not exist.
func lost(kind, name string) object.OwnerReference { return to(one(kind, name)) }

// stored is an object as it is in the store.
func (c *rig) stored(o *object.Object) *object.Object {
	c.t.Helper()
	have, err := c.Sim.Get(context.Background(), o.Ref)
	c.must(err)
	return have
}

// anyKind reports whether a kind was ever in a state.
func (c *rig) anyKind(s kube.State) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.kinds, func(k kube.KindState) bool { return k.State == s })
}

// revision is where the world stands.
func (c *rig) revision() string {
	c.t.Helper()
	w := httptest.NewRecorder()
	c.Server.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api/v1/namespaces", http.NoBody))
	var list document
	c.must(json.Unmarshal(w.Body.Bytes(), &list))
	return list.Metadata["resourceVersion"].(string)
}

// pretend has the watches of a kind say what never happened to an object.
func (c *rig) pretend(event string, o *object.Object) {
	c.t.Helper()
	r, err := c.resources.For(o.APIVersion, o.Kind)
	c.must(err)
	frame := compact(map[string]any{"type": event, "object": map[string]any{
		"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": map[string]any{
			"name": o.Name, "namespace": o.Namespace, "uid": o.UID, "resourceVersion": c.revision(),
		},
	}})
	c.disturb(r.Name, frames(frame))
}
