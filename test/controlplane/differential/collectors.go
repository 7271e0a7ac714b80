package differential

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
	"github.com/kubectl-gc/kubectl-gc/test/facade"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// ours is a real API server with our engine for a collector.
type ours struct {
	*live
	stop context.CancelFunc
	done sync.WaitGroup

	mu     sync.Mutex
	failed error
}

var _ site = (*ours)(nil)

// collect lists and watches every kind, and starts a collector over that.
func (u *ours) collect() error {
	ctx, stop := context.WithCancel(context.Background())
	u.stop = stop
	events := make(chan object.Event, 1<<16)
	api := client{u.Cluster, &u.book, u.resources}
	var first []object.Event
	for _, r := range u.resources.All() {
		if !u.resources.Monitored(r) {
			continue
		}
		w := &watcher{client: api, resource: r, known: map[object.Ref]*object.Object{}}
		listed, err := w.list(ctx)
		if err != nil {
			stop()
			return err
		}
		first = append(first, listed...)
		u.done.Go(func() { u.fail(ctx, w.follow(ctx, events)) })
	}
	u.done.Go(func() { u.fail(ctx, drive(ctx, api, first, events)) })
	return nil
}

// fail keeps the first error that is not the end.
func (u *ours) fail(ctx context.Context, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.failed == nil && ctx.Err() == nil {
		u.failed = err
	}
}

func (u *ours) rest() error {
	if u.stop == nil {
		return nil
	}
	u.stop()
	u.done.Wait()
	u.stop = nil
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.failed
}

// drive runs the collector: the very driver that serves a cluster.
func drive(ctx context.Context, api engine.API, first []object.Event, events <-chan object.Event) error {
	c := engine.New()
	for _, e := range first {
		c.Observe(e)
	}
	err := engine.Run(ctx, c, api, events, engine.RunOptions{Workers: workers})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// watcher follows one kind.
type watcher struct {
	client
	resource object.Resource
	revision string
	known    map[object.Ref]*object.Object
}

// list reads what there is.
func (w *watcher) list(ctx context.Context) ([]object.Event, error) {
	path := root(w.resource) + "/" + w.resource.Name
	text, err := w.send(ctx, http.MethodGet, path, "", nil)
	if err != nil {
		return nil, err
	}
	var head struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, err
	}
	w.revision = head.Metadata.ResourceVersion
	var events []object.Event
	err = manifest.Read(bytes.NewReader(text), manifest.Options{File: path}, manifest.Handler{
		Object: func(o *object.Object, _ bool, _ manifest.Position) error {
			w.known[o.Ref] = o
			events = append(events, object.Event{Type: object.Added, Object: o})
			return nil
		},
	})
	return events, err
}

// follow reads the watch until the context ends.
func (w *watcher) follow(ctx context.Context, events chan<- object.Event) error {
	path := fmt.Sprintf("%s/%s?watch=1&timeoutSeconds=7200&resourceVersion=%s", root(w.resource), w.resource.Name, w.revision)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.URL+path, http.NoBody)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+w.Token)
	request.Header.Set("Accept", "application/json")
	answer, err := w.Client().Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	decoder := json.NewDecoder(answer.Body)
	for {
		var e struct {
			Type   string          `json:"type"`
			Object json.RawMessage `json:"object"`
		}
		if err := decoder.Decode(&e); err != nil {
			return fmt.Errorf("watch of %s: %w", w.resource.Name, err)
		}
		if err := w.pass(e.Type, e.Object, events); err != nil {
			return err
		}
	}
}

func (w *watcher) pass(event string, text json.RawMessage, events chan<- object.Event) error {
	if event != "ADDED" && event != "MODIFIED" && event != "DELETED" {
		return fmt.Errorf("watch of %s: %s %s", w.resource.Name, event, text)
	}
	o, err := one(text)
	if err != nil {
		return err
	}
	e := object.Event{Type: object.Added, Object: o, Old: w.known[o.Ref]}
	switch event {
	case "MODIFIED":
		e.Type = object.Modified
	case "DELETED":
		e.Type = object.Deleted
	}
	w.known[o.Ref] = o
	if e.Type == object.Deleted {
		delete(w.known, o.Ref)
	}
	events <- e
	return nil
}

// production is a real API server with our collector as it is shipped: its client,
// its watches, and no request for what it knows already. It sends fewer requests than
// upstream, so that only the ends are compared.
type production struct {
	*live
	stop   context.CancelFunc
	done   sync.WaitGroup
	failed error
}

var _ site = (*production)(nil)

// collect starts the collector.
func (p *production) collect() error {
	client, err := p.Connect(kube.Options{Command: "differential"})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	p.done.Go(func() {
		defer client.Close()
		err := kube.Collect(ctx, client, kube.CollectorOptions{Rules: engine.Upstream, Run: engine.RunOptions{Workers: workers}})
		if ctx.Err() == nil {
			p.failed = err
		}
	})
	return nil
}

// rest ends the collector.
func (p *production) rest() error {
	if p.stop == nil {
		return nil
	}
	p.stop()
	p.done.Wait()
	p.stop = nil
	return p.failed
}

// simulated is the collector of Kubernetes over our simulated API server.
type simulated struct {
	on        platform
	discovery map[string][]byte
	slots     int

	book
	facade  *facade.Server
	server  *http.Server
	manager *cluster.Manager
	fences  int
}

var _, _ site = (*simulated)(nil), (*live)(nil)

func (s *simulated) put(_ context.Context, objects []*object.Object) error {
	home := &object.Object{Ref: object.Ref{Namespace: "default"}} // of the fences
	objects = append(objects, ground(append(objects, home))...)
	s.facade = facade.New(objects, s.on.Resources, s.discovery, apisim.WithRules(s.on.rules()))
	return nil
}

func (s *simulated) clear() error {
	s.facade = nil
	return nil
}

func (s *simulated) collect() (err error) {
	var url string
	if s.server, url, err = serve(recorder{s.facade, s.on.Resources, &s.book}); err != nil {
		return err
	}
	s.manager, err = cluster.StartManager(url, "garbage-collector-controller")
	return err
}

func (s *simulated) rest() error {
	if s.manager == nil {
		return nil
	}
	s.manager.Stop()
	s.manager = nil
	return s.server.Close()
}

func (s *simulated) fence(ctx context.Context) error {
	s.fences++
	o := &object.Object{}
	o.APIVersion, o.Kind, o.Namespace, o.Name = "v1", "ConfigMap", "default", fmt.Sprintf("fence-%d", s.fences)
	o.Owners = []object.OwnerReference{{APIVersion: "v1", Kind: "Secret", Name: o.Name, UID: types.UID(o.Name)}}
	o.UID = "is-" + o.Owners[0].UID
	err := s.facade.Change(func() error {
		_, err := s.facade.Sim.Create(ctx, o)
		return err
	})
	if err != nil {
		return err
	}
	for deadline := time.Now().Add(time.Minute); ; pause(ctx, 10*time.Millisecond) {
		_, err := s.facade.Sim.Get(ctx, o.Ref)
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if time.Now().After(deadline) {
			log := s.manager.Stop()
			s.manager = nil
			return fmt.Errorf("the garbage collector does not collect\n%s", log[max(0, len(log)-4000):])
		}
	}
}

func (s *simulated) worlds(context.Context) ([][]*object.Object, error) {
	worlds := make([][]*object.Object, s.slots)
	for _, o := range s.facade.Sim.Objects() {
		sortIn(worlds, o)
	}
	return worlds, nil
}

func (s *simulated) act(ctx context.Context, slot int, a scenario.Act) error {
	a.Ref = placeOf(slot).ref(a.Ref)
	return s.facade.Change(func() error {
		a.Apply(ctx, s.facade.Sim)
		return nil
	})
}

func (s *simulated) finish(ctx context.Context, pod object.Ref) error {
	return s.facade.Change(func() error {
		_ = s.facade.Sim.Delete(ctx, pod, finished(pod.UID)) // it may be gone
		return nil
	})
}
