package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// alike is the maximum number of objects of one kind that are read one by one. For more objects the
// whole kind is listed, which is cheaper, and events are read for the first ones only.
const alike = 20

// Evidence reads why objects are stuck: whole objects of the few kinds that can matter for those in
// about that are being deleted. all are the objects of the cluster, including the dependents of
// about. With drains it also reads cordoned nodes, and the budgets that can block their drains.
// Failed reads are marked in the evidence with the reason. Evidence fails only if the context ends.
func (c *Client) Evidence(ctx context.Context, about, all []*object.Object, drains bool) (*health.Evidence, error) {
	w := &witness{client: c, about: deleting(about), used: slices.ContainsFunc(all, health.InUseByLabel)}
	w.world.Live = true
	var scenes []scene
	if len(w.about) > 0 {
		scenes = w.scenes()
		if err := w.look(ctx, scenes); err != nil {
			return nil, err
		}
	}
	if drains {
		w.drains(ctx, scenes)
	}
	return w.world.Sorted(), ctx.Err()
}

// drains reads the cordoned nodes, and the budgets if there are any, unless scenes include them.
func (w *witness) drains(ctx context.Context, scenes []scene) {
	if !slices.Contains(scenes, scene{part: health.Nodes}) {
		_ = w.gather(ctx, scene{part: health.Nodes}, "spec.unschedulable=true") // an unread node is not known to be cordoned
	}
	cordoned := slices.ContainsFunc(w.world.Nodes, func(n health.Node) bool { return n.Cordoned })
	if cordoned && !slices.Contains(scenes, scene{part: health.Budgets}) {
		w.part(ctx, scene{part: health.Budgets})
	}
}

// look reads scenes, the objects, the events of those that are being deleted, and then the services
// that the API server calls.
func (w *witness) look(ctx context.Context, scenes []scene) error {
	var tasks []func()
	for _, s := range scenes {
		tasks = append(tasks, func() { w.part(ctx, s) })
	}
	listed := func(p health.Part) bool { // the list of pods leaves out finished ones
		return p != health.Pods && slices.Contains(scenes, scene{part: p})
	}
	for _, some := range w.groups() {
		for _, o := range deleting(some[:min(alike, len(some))]) {
			tasks = append(tasks, func() { w.events(ctx, o) })
		}
		if part, ok := health.PartOf(some[0].APIVersion, some[0].Kind); !ok || !listed(part) {
			tasks = append(tasks, w.whole(ctx, some)...)
		}
	}
	besides(tasks)
	tasks = nil
	for _, s := range w.called() {
		tasks = append(tasks, func() { w.part(ctx, s) })
	}
	besides(tasks)
	return ctx.Err()
}

func deleting(all []*object.Object) []*object.Object {
	var some []*object.Object
	for _, o := range all {
		if o.BeingDeleted() {
			some = append(some, o)
		}
	}
	return some
}

// besides runs all tasks, at most inFlight concurrently.
func besides(tasks []func()) { atMost(inFlight, tasks) }

// atMost runs all tasks, at most n concurrently.
func atMost(n int, tasks []func()) {
	var running errgroup.Group
	running.SetLimit(n)
	for _, do := range tasks {
		running.Go(func() error {
			do()
			return nil
		})
	}
	_ = running.Wait() // tasks do not fail
}

// witness reads evidence.
type witness struct {
	client *Client
	about  []*object.Object
	// used is true if Crossplane has marked an object as in use.
	used  bool
	mu    sync.Mutex // guards the fields below
	world health.Evidence
	// If keep is true, records has those of the objects that were read, and remarks those of failed
	// reads and of the completeness of each part. Both are in the order of arrival.
	keep             bool
	records, remarks []*health.Record
}

// add adds one object. The lock must be held.
func (w *witness) add(apiVersion, kind string, raw []byte) error {
	r, err := health.Read(apiVersion, kind, raw)
	w.world.Take(r)
	if w.keep {
		w.records = append(w.records, r)
	}
	return err
}

// scene is a part of the evidence in one namespace, or everywhere if it is empty.
type scene struct {
	part      health.Part
	namespace string
}

// unfinished excludes finished pods: no controller runs in them.
const unfinished = "status.phase!=Succeeded,status.phase!=Failed"

// part reads a part and marks its completeness. If a cluster-wide list is forbidden, it reads the
// namespaces of the objects. That can show that a controller runs there, but not that none runs.
func (w *witness) part(ctx context.Context, s scene) {
	fields := ""
	if s.part == health.Pods {
		fields = unfinished
	}
	err := w.gather(ctx, s, fields)
	w.mark(s, err)
	if s.part == health.Leases && err == nil {
		w.missed(object.ManagerLease)
	}
	switch {
	case s.namespace != "" || !apierrors.IsForbidden(err):
	case s.part == health.Namespaces:
		for _, o := range w.about {
			if o.Is(object.Namespace) {
				w.object(ctx, o)
			}
		}
	case health.ResourceOf(s.part).Namespaced:
		for _, ns := range w.namespaces() {
			if near := (scene{s.part, ns}); w.gather(ctx, near, fields) == nil {
				w.mark(near, nil)
			}
		}
	}
}

// missed records that a server does not have an object. It has no effect if the object was read.
func (w *witness) missed(ref object.Ref) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.world.Missed(ref)
	if w.keep {
		w.remarks = append(w.remarks, health.Absent(ref))
	}
}

// gather lists a part, or the objects in it that a field selector selects.
func (w *witness) gather(ctx context.Context, s scene, fields string) error {
	at := Place{w.client.resourceOf(s.part), s.namespace}
	return w.client.bodies(ctx, at, Selection{Fields: fields}, func(raw []byte) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		// An unreadable object makes its part incomplete.
		_ = w.add(at.Resource.APIVersion(), at.Resource.Kind, raw)
		return nil
	})
}

// resourceOf returns the resource of a part in the version that evidence reads best, or in the
// preferred version if the server does not serve that one: admission policies were v1alpha1 and
// v1beta1 before.
func (c *Client) resourceOf(p health.Part) object.Resource {
	best := health.ResourceOf(p)
	d := c.discovery.Load()
	if d == nil {
		return best
	}
	preferred, ok := d.Resources.Preferred(best.GroupResource())
	if !ok || slices.ContainsFunc(d.Resources.All(), func(r object.Resource) bool {
		return r.GroupResource() == best.GroupResource() && r.Version == best.Version
	}) {
		return best
	}
	return preferred
}

func (w *witness) mark(s scene, err error) {
	why := ""
	if err != nil {
		why = err.Error()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.world.Mark(s.part, s.namespace, why)
	if w.keep {
		w.remarks = append(w.remarks, health.Reading(s.part, s.namespace, why))
	}
}

// whole returns the requests that read whole objects of one kind.
func (w *witness) whole(ctx context.Context, some []*object.Object) []func() {
	if len(some) > alike && !isData(some[0]) {
		return []func(){func() { w.kind(ctx, some) }}
	}
	var tasks []func()
	for i, o := range some {
		if i < alike {
			tasks = append(tasks, func() { w.object(ctx, o) })
		} else {
			w.unread(o, fmt.Sprintf("there are %d of them, of which %d were looked at", len(some), alike))
		}
	}
	return tasks
}

// kind reads some objects of a kind by listing the kind, in their namespace if all share one.
func (w *witness) kind(ctx context.Context, some []*object.Object) {
	wanted := make(map[types.UID]*object.Object, len(some))
	for _, o := range some {
		wanted[o.UID] = o
	}
	at, err := w.client.locate(some[0].Ref)
	if slices.ContainsFunc(some, func(o *object.Object) bool { return o.Namespace != at.Namespace }) {
		at.Namespace = ""
	}
	if err == nil {
		err = w.client.bodies(ctx, at, Selection{}, func(raw []byte) error {
			var m metav1.PartialObjectMetadata
			if err := json.Unmarshal(raw, &m); err != nil {
				return err
			}
			o := wanted[m.UID]
			if o == nil {
				return nil
			}
			delete(wanted, m.UID)
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.add(o.APIVersion, o.Kind, raw)
		})
	}
	if err == nil {
		return // objects that the list lacks are gone by now
	}
	for _, o := range some {
		if wanted[o.UID] != nil {
			w.unread(o, err.Error())
		}
	}
}

func (w *witness) unread(o *object.Object, why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cannotRead(o, why)
}

// cannotRead records why an object could not be read. The lock must be held.
func (w *witness) cannotRead(o *object.Object, why string) {
	w.world.Unread(o.Ref, why)
	if w.keep {
		w.remarks = append(w.remarks, health.Unreadable(o.Ref, why))
	}
}

// object reads one whole object. An object that is gone by now is skipped.
func (w *witness) object(ctx context.Context, o *object.Object) {
	raw, err := w.read(ctx, o)
	if apierrors.IsNotFound(err) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		err = w.add(o.APIVersion, o.Kind, raw)
	}
	if err != nil {
		w.cannotRead(o, err.Error())
	}
}

// isData reports whether an object holds user data that must not be read.
func isData(o *object.Object) bool {
	return o.Is(object.Secret) || o.Is(object.ConfigMap)
}

// read reads one object: all of it, for its conditions, but only metadata of Secrets and
// ConfigMaps.
func (w *witness) read(ctx context.Context, o *object.Object) ([]byte, error) {
	if !isData(o) {
		raw, _, err := w.client.Raw(ctx, o.Ref)
		return raw, err
	}
	at, err := w.client.locate(o.Ref)
	if err != nil {
		return nil, err
	}
	var m struct {
		metav1.TypeMeta `json:",inline"`
		Metadata        json.RawMessage `json:"metadata"`
	}
	about := subject{resource: at.Resource, namespace: at.Namespace, name: o.Name}
	err = w.client.exchange(ctx, request{verb: http.MethodGet, path: append(at.path(), o.Name), accept: jsonType + metadataOnly, about: about}, &m)
	if err != nil {
		return nil, err
	}
	if m.Kind != partialKind {
		return nil, &UnexpectedAnswerError{About: about.String(), What: "it is a " + quote(m.Kind)}
	}
	m.APIVersion, m.Kind = o.APIVersion, o.Kind
	return json.Marshal(&m)
}

// events reads the events about one object. Events about cluster-scoped objects are in namespace
// default.
//
// Upstream: client-go/tools/record/event.go makeEvent.
func (w *witness) events(ctx context.Context, o *object.Object) {
	at := Place{health.ResourceOf(health.Events), o.Namespace}
	if at.Namespace == "" {
		at.Namespace = "default"
	}
	err := w.client.bodies(ctx, at, Selection{Fields: "involvedObject.uid=" + string(o.UID)}, func(raw []byte) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.add(at.Resource.APIVersion(), at.Resource.Kind, raw)
	})
	if err != nil {
		w.mark(scene{health.Events, at.Namespace}, fmt.Errorf("events about %s: %w", subject{resource: object.Resource{Name: o.Kind}, namespace: o.Namespace, name: o.Name}, err))
	}
}

// Records reads the evidence that a snapshot stores, so that it can answer like the cluster:
// everything that Evidence and Neighbours could read. about are the objects that wait for a
// controller, or will when they are deleted. They are read whole. The records are sorted. Failed
// reads are records with a reason. Records fails only if the context ends.
func (c *Client) Records(ctx context.Context, about []*object.Object) ([]*health.Record, error) {
	w := &witness{client: c, about: about, keep: true}
	scenes := append(everyScene(), w.consumers()...)
	if w.any(waitsForSomebody) {
		scenes = append(scenes, controllers()...)
	}
	if err := w.look(ctx, scenes); err != nil {
		return nil, err
	}
	slices.SortStableFunc(w.records, compareRecords)
	slices.SortStableFunc(w.remarks, compareRecords)
	// health.Evidence.Take uses the first record of an object, so content comes before remarks.
	return append(w.records, w.remarks...), nil
}

func compareRecords(a, b *health.Record) int { return object.Compare(a.Ref(), b.Ref()) }

// everyScene lists the parts that any question may need, except those that show controllers.
func everyScene() []scene {
	return slices.Concat(admission(), usages(), scenesOf(
		health.APIServices, health.Leases, health.Namespaces, health.Definitions, health.Nodes, health.Attachments, health.Budgets,
	))
}
