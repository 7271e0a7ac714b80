package differential

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
	"github.com/kubectl-gc/kubectl-gc/test/facade"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// live is the real thing: a cluster that has room for many worlds.
type live struct {
	*cluster.Cluster
	book
	resources *object.Resources
	// discovery are its discovery documents, by path.
	discovery map[string][]byte
	slots     int
	fences    int
	// namespaces that were made.
	namespaces map[string]bool
	// server is what stands between the collector and the API server.
	server  *http.Server
	manager *cluster.Manager
}

// open starts a cluster with the kinds and namespaces of drawn worlds.
func open(ctx context.Context, slots int, options ...cluster.Option) (*live, error) {
	c, err := cluster.Start(options...)
	if err != nil {
		return nil, err
	}
	l := &live{Cluster: c, slots: slots, namespaces: map[string]bool{}, discovery: map[string][]byte{}}
	if err := l.furnish(ctx); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return l, nil
}

func (l *live) furnish(ctx context.Context) error {
	const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	for _, d := range []string{definition("widgets", "Widget", "Namespaced"), definition("gadgets", "Gadget", "Cluster")} {
		if _, err := l.Do(ctx, http.MethodPost, definitions, "application/json", []byte(d)); err != nil {
			return err
		}
	}
	for _, k := range kinds {
		for {
			_, err := l.Do(ctx, http.MethodGet, k.path+"/"+k.plural, "", nil)
			if err == nil {
				break
			}
			// A new kind is not there, and then it is not ready.
			if code := cluster.Code(err); code != http.StatusNotFound && code != http.StatusTooManyRequests || ctx.Err() != nil {
				return err
			}
			pause(ctx, 100*time.Millisecond)
		}
	}
	return l.discover(ctx)
}

// discover reads the discovery documents as a dump of the cluster would hold them.
func (l *live) discover(ctx context.Context) error {
	dir, err := os.MkdirTemp(l.Directory, "discovery-")
	if err != nil {
		return err
	}
	for name, path := range map[string]string{"api.json": "/api", "apis.json": "/apis"} {
		text, err := l.document(ctx, path)
		if err != nil {
			return err
		}
		l.discovery[path] = text
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return err
		}
	}
	snap, err := snapshot.ReadFiles([]string{dir}, snapshot.Options{})
	if err != nil {
		return err
	}
	if !snap.Source.Discovered {
		return fmt.Errorf("the discovery documents were not recognised")
	}
	l.resources = snap.Resources
	return nil
}

func (l *live) document(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, l.URL+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+l.Token)
	request.Header.Set("Accept", facade.DiscoveryType)
	answer, err := l.Client().Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	var b bytes.Buffer
	_, err = b.ReadFrom(answer.Body)
	return b.Bytes(), err
}

// worlds lists the cluster and returns the objects of every slot, under the names
// that they were drawn with.
func (l *live) worlds(ctx context.Context) ([][]*object.Object, error) {
	worlds := make([][]*object.Object, l.slots)
	for _, k := range kinds {
		text, err := l.Do(ctx, http.MethodGet, k.path+"/"+k.plural, "", nil)
		if err != nil {
			return nil, err
		}
		err = manifest.Read(bytes.NewReader(text), manifest.Options{File: k.plural}, manifest.Handler{
			Object: func(o *object.Object, _ bool, _ manifest.Position) error {
				sortIn(worlds, o)
				return nil
			},
		})
		if err != nil {
			return nil, err
		}
	}
	return worlds, nil
}

// collect starts a collector; what it sends goes through a recorder.
func (l *live) collect() error {
	proxy, err := l.proxy()
	if err != nil {
		return err
	}
	var url string
	if l.server, url, err = serve(recorder{proxy, l.resources, &l.book}); err != nil {
		return err
	}
	l.manager, err = cluster.StartManager(url, "garbage-collector-controller")
	return err
}

// rest ends the collector.
func (l *live) rest() error {
	if l.manager == nil {
		return nil
	}
	l.manager.Stop()
	l.manager = nil
	return l.server.Close()
}

// Stop ends the collector, if there is one, and the cluster.
func (l *live) Stop() error { return errors.Join(l.rest(), l.Cluster.Stop()) }

// put stores objects as they are.
func (l *live) put(ctx context.Context, objects []*object.Object) error {
	var all []cluster.Stored
	for _, o := range objects {
		if err := l.namespace(ctx, o.Namespace); err != nil {
			return err
		}
		one, err := stored(o)
		if err != nil {
			return err
		}
		all = append(all, one)
	}
	return l.Store(all)
}

// namespace makes a namespace unless it is there.
func (l *live) namespace(ctx context.Context, name string) error {
	if name == "" || l.namespaces[name] {
		return nil
	}
	body := fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q}}`, name)
	_, err := l.Do(ctx, http.MethodPost, "/api/v1/namespaces", "application/json", []byte(body))
	l.namespaces[name] = err == nil
	return err
}

// clear removes all worlds. No collector may be running.
func (l *live) clear() error {
	var prefixes []string
	for slot := range l.slots {
		for _, k := range kinds {
			if k.namespaced {
				prefixes = append(prefixes, k.key+"/"+string(placeOf(slot)))
			}
		}
	}
	for _, k := range kinds {
		if !k.namespaced {
			prefixes = append(prefixes, k.key+"/w")
		}
	}
	return l.Wipe(prefixes...)
}

// act carries out an act in a slot. What the server answers is of no concern, as
// long as it is an answer.
func (l *live) act(ctx context.Context, slot int, a scenario.Act) error {
	ref := placeOf(slot).ref(a.Ref)
	k, err := kindOf(ref)
	if err != nil {
		return err
	}
	path := k.pathOf(ref)
	if a.Drop == "" {
		o := metav1.DeleteOptions{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}}
		if a.Policy != "" {
			o.PropagationPolicy = &a.Policy
		}
		return l.remove(ctx, path, o)
	}
	text, err := l.Do(ctx, http.MethodGet, path, "", nil)
	if err != nil {
		return unlessAnswer(err)
	}
	var have struct {
		Metadata struct {
			Finalizers []string `json:"finalizers"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(text, &have); err != nil {
		return err
	}
	left := slices.DeleteFunc(have.Metadata.Finalizers, func(f string) bool { return f == a.Drop })
	if left == nil {
		left = []string{}
	}
	p := object.Patch{Type: object.Merge, Finalizers: &left}
	_, err = l.Do(ctx, http.MethodPatch, path, p.Type.String(), p.Body())
	return unlessAnswer(err)
}

func (l *live) remove(ctx context.Context, path string, o metav1.DeleteOptions) error {
	body, err := json.Marshal(o)
	if err != nil {
		return err
	}
	_, err = l.Do(ctx, http.MethodDelete, path, "application/json", body)
	return unlessAnswer(err)
}

// finish does to a pod what a kubelet does once its containers have stopped.
func (l *live) finish(ctx context.Context, pod object.Ref) error {
	k, err := kindOf(pod)
	if err != nil {
		return err
	}
	return l.remove(ctx, k.pathOf(pod), finished(pod.UID))
}

func unlessAnswer(err error) error {
	if cluster.Code(err) != 0 {
		return nil
	}
	return err
}

// fence waits until the collector has begun with everything that was enqueued
// before: it makes an object whose owner does not exist, and waits for its end.
func (l *live) fence(ctx context.Context) error {
	l.fences++
	name := fmt.Sprintf("fence-%d", l.fences)
	const path = "/api/v1/namespaces/default/configmaps"
	body := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,"ownerReferences":[`+
		`{"apiVersion":"v1","kind":"Secret","name":%q,"uid":%q}]}}`, name, name, name)
	if _, err := l.Do(ctx, http.MethodPost, path, "application/json", []byte(body)); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		_, err := l.Do(ctx, http.MethodGet, path+"/"+name, "", nil)
		if cluster.Code(err) == http.StatusNotFound {
			return nil
		}
		if err != nil {
			if l.manager == nil {
				return fmt.Errorf("the garbage collector does not collect: %w", err)
			}
			log := l.manager.Stop()
			return fmt.Errorf("the garbage collector does not collect: %w\n%s", err, log[max(0, len(log)-4000):])
		}
		pause(ctx, 30*time.Millisecond)
	}
}

// platform is what is known of a control plane beside its objects: the kinds that it
// serves, and the release whose rules it follows, the newest one when it is empty.
type platform struct {
	*object.Resources
	release string
	// own tells that the collector is that of the program, which is the same over every
	// release.
	own bool
}

func (p platform) rules() release.Rules {
	return release.Of(release.MinorOf(p.release))
}

// groundUID begins the UID of a namespace that a world has and does not list.
const groundUID = "ground-"

// ground are the namespaces of a world that lists none: they are there wherever it stands.
func ground(world []*object.Object) []*object.Object {
	var all []*object.Object
	known := map[string]bool{"": true}
	for _, o := range world {
		if o.NamespaceFacts() != nil {
			return nil
		}
		if known[o.Namespace] {
			continue
		}
		known[o.Namespace] = true
		ns := &object.Object{Ref: object.Ref{APIVersion: "v1", Kind: "Namespace", Name: o.Namespace, UID: types.UID(groundUID + o.Namespace)}}
		ns.Edit().Facts = &object.NamespaceFacts{Phase: "Active", Finalizers: []string{"kubernetes"}}
		all = append(all, ns)
	}
	return all
}

// listed are the objects without the ground that they stand on.
func listed(objects []*object.Object) []*object.Object {
	return slices.DeleteFunc(slices.Clone(objects), func(o *object.Object) bool { return strings.HasPrefix(string(o.UID), groundUID) })
}

// snapshot is a world as a dry run gets it.
func (p platform) snapshot(world []*object.Object) (*snapshot.Snapshot, error) {
	return snapshot.New(append(clones(world), ground(world)...), p.Resources, snapshot.CoversEverything(), snapshot.Source{KubernetesVersion: p.release})
}

// server is a simulated API server over a world.
func (p platform) server(world []*object.Object) *apisim.Server {
	return apisim.New(append(clones(world), ground(world)...), p.Resources, apisim.WithRules(p.rules()))
}

// collector is a simulated garbage collector.
func (p platform) collector() *engine.Collector {
	if p.own {
		return engine.New()
	}
	return engine.New(engine.WithRelease(p.rules()))
}
