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

// maxSingleReads is the maximum number of objects of one kind that are read one by one. For more
// objects the whole kind is listed, which is cheaper, and events are read for the first ones only.
const maxSingleReads = 20

// Evidence reads why objects are stuck: whole objects of the few kinds that can matter for those in
// about that are being deleted. all are the objects of the cluster, including the dependents of
// about. With drains it also reads cordoned nodes, and the budgets that can block their drains.
// Failed reads are marked in the evidence with the reason. Evidence fails only if the context ends.
func (c *Client) Evidence(ctx context.Context, about, all []*object.Object, drains bool) (*health.Evidence, error) {
	w := &evidenceReader{client: c, about: beingDeleted(about), anyInUse: slices.ContainsFunc(all, health.InUseByLabel)}
	w.evidence.Live = true
	var parts []namespacedPart
	if len(w.about) > 0 {
		parts = w.relevantParts()
		if err := w.readParts(ctx, parts); err != nil {
			return nil, err
		}
	}
	if drains {
		w.readDrains(ctx, parts)
	}
	return w.evidence.Sorted(), ctx.Err()
}

// readDrains reads the cordoned nodes, and the budgets if there are any, unless parts include them.
func (w *evidenceReader) readDrains(ctx context.Context, parts []namespacedPart) {
	if !slices.Contains(parts, namespacedPart{part: health.Nodes}) {
		_ = w.listPart(ctx, namespacedPart{part: health.Nodes}, "spec.unschedulable=true") // an unread node is not known to be cordoned
	}
	cordoned := slices.ContainsFunc(w.evidence.Nodes, func(n health.Node) bool { return n.Cordoned })
	if cordoned && !slices.Contains(parts, namespacedPart{part: health.Budgets}) {
		w.readPart(ctx, namespacedPart{part: health.Budgets})
	}
}

// readParts reads the parts, the objects, the events of those that are being deleted, and then the
// services that the API server calls.
func (w *evidenceReader) readParts(ctx context.Context, parts []namespacedPart) error {
	tasks := object.Mapped(parts, func(s namespacedPart) func() { return func() { w.readPart(ctx, s) } })
	listed := func(p health.Part) bool { // the list of pods leaves out finished ones
		return p != health.Pods && slices.Contains(parts, namespacedPart{part: p})
	}
	for _, some := range w.groupByKind() {
		for _, o := range beingDeleted(some[:min(maxSingleReads, len(some))]) {
			tasks = append(tasks, func() { w.readEvents(ctx, o) })
		}
		if part, ok := health.PartOf(some[0].APIVersion, some[0].Kind); !ok || !listed(part) {
			tasks = append(tasks, w.readObjects(ctx, some)...)
		}
	}
	runAll(tasks)
	tasks = nil
	for _, s := range w.calledServices(func(*health.Webhook) bool { return true }) {
		if slices.Contains(parts, namespacedPart{part: s.part}) {
			continue
		}
		tasks = append(tasks, func() { w.readPart(ctx, s) })
	}
	runAll(tasks)
	return ctx.Err()
}

func beingDeleted(all []*object.Object) []*object.Object {
	return object.Filtered(all, (*object.Object).BeingDeleted)
}

// runAll runs all tasks, at most inFlight concurrently.
func runAll(tasks []func()) { runLimited(inFlight, tasks) }

// runLimited runs all tasks, at most n concurrently.
func runLimited(n int, tasks []func()) {
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

// evidenceReader reads evidence.
type evidenceReader struct {
	client *Client
	about  []*object.Object
	// anyInUse is true if Crossplane has marked an object as in use.
	anyInUse bool
	mu       sync.Mutex // guards the fields below
	evidence health.Evidence
	// If keepRecords is true, records has those of the objects that were read, and remarks those of
	// failed reads and of the completeness of each part. Both are in the order of arrival.
	keepRecords      bool
	records, remarks []*health.Record
}

// add adds one object. The lock must be held.
func (w *evidenceReader) add(apiVersion, kind string, raw []byte) error {
	r, err := health.Read(apiVersion, kind, raw)
	w.evidence.Take(r)
	if w.keepRecords {
		w.records = append(w.records, r)
	}
	return err
}

// namespacedPart is a part of the evidence in one namespace, or everywhere if it is empty.
type namespacedPart struct {
	part      health.Part
	namespace string
}

// unfinishedPods excludes finished pods: no controller runs in them.
const unfinishedPods = "status.phase!=Succeeded,status.phase!=Failed"

// readPart reads a part and marks its completeness. If a cluster-wide list is forbidden, it reads
// the namespaces of the objects. That can show that a controller runs there, but not that none
// runs.
func (w *evidenceReader) readPart(ctx context.Context, s namespacedPart) {
	fields := ""
	if s.part == health.Pods {
		fields = unfinishedPods
	}
	err := w.listPart(ctx, s, fields)
	w.mark(s, err)
	if s.part == health.Leases && err == nil {
		w.markAbsent(object.ManagerLease)
	}
	switch {
	case s.namespace != "" || !apierrors.IsForbidden(err):
	case s.part == health.Namespaces:
		for _, o := range w.about {
			if o.Is(object.Namespace) {
				w.readObject(ctx, o)
			}
		}
	case health.ResourceOf(s.part).Namespaced:
		for _, ns := range w.namespaces() {
			if near := (namespacedPart{s.part, ns}); w.listPart(ctx, near, fields) == nil {
				w.mark(near, nil)
			}
		}
	}
}

// markAbsent records that a server does not have an object. It has no effect if the object was
// read.
func (w *evidenceReader) markAbsent(ref object.Ref) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.evidence.Missed(ref)
	if w.keepRecords {
		w.remarks = append(w.remarks, health.Absent(ref))
	}
}

// listPart lists a part, or the objects in it that a field selector selects.
func (w *evidenceReader) listPart(ctx context.Context, s namespacedPart, fields string) error {
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

func (w *evidenceReader) mark(s namespacedPart, err error) {
	why := ""
	if err != nil {
		why = err.Error()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.evidence.Mark(s.part, s.namespace, why)
	if w.keepRecords {
		w.remarks = append(w.remarks, health.Reading(s.part, s.namespace, why))
	}
}

// readObjects returns the requests that read whole objects of one kind.
func (w *evidenceReader) readObjects(ctx context.Context, some []*object.Object) []func() {
	if len(some) > maxSingleReads && !isData(some[0]) {
		return []func(){func() { w.readByListing(ctx, some) }}
	}
	var tasks []func()
	for i, o := range some {
		if i < maxSingleReads {
			tasks = append(tasks, func() { w.readObject(ctx, o) })
		} else {
			w.markUnread(o, fmt.Sprintf("there are %d of them, of which %d were read", len(some), maxSingleReads))
		}
	}
	return tasks
}

// readByListing reads some objects of a kind by listing the kind, in their namespace if all share
// one.
func (w *evidenceReader) readByListing(ctx context.Context, some []*object.Object) {
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
			w.markUnread(o, err.Error())
		}
	}
}

func (w *evidenceReader) markUnread(o *object.Object, why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.addUnread(o, why)
}

// addUnread records why an object could not be read. The lock must be held.
func (w *evidenceReader) addUnread(o *object.Object, why string) {
	w.evidence.Unread(o.Ref, why)
	if w.keepRecords {
		w.remarks = append(w.remarks, health.Unreadable(o.Ref, why))
	}
}

// readObject reads one whole object. An object that is gone by now is skipped.
func (w *evidenceReader) readObject(ctx context.Context, o *object.Object) {
	raw, err := w.readBody(ctx, o)
	if apierrors.IsNotFound(err) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		err = w.add(o.APIVersion, o.Kind, raw)
	}
	if err != nil {
		w.addUnread(o, err.Error())
	}
}

// isData reports whether an object holds user data that must not be read.
func isData(o *object.Object) bool {
	return o.Is(object.Secret) || o.Is(object.ConfigMap)
}

// readBody reads one object: all of it, for its conditions, but only metadata of Secrets and
// ConfigMaps.
func (w *evidenceReader) readBody(ctx context.Context, o *object.Object) ([]byte, error) {
	if !isData(o) {
		raw, _, err := w.client.Raw(ctx, o.Ref)
		return raw, err
	}
	r, err := w.client.requestFor(http.MethodGet, o.Ref)
	if err != nil {
		return nil, err
	}
	var m struct {
		metav1.TypeMeta `json:",inline"`
		Metadata        json.RawMessage `json:"metadata"`
	}
	r.accept += metadataOnly
	if err := w.client.exchange(ctx, r, &m); err != nil {
		return nil, err
	}
	if m.Kind != partialKind {
		return nil, &UnexpectedAnswerError{About: r.about.String(), What: "it is a " + quote(m.Kind)}
	}
	m.APIVersion, m.Kind = o.APIVersion, o.Kind
	return json.Marshal(&m)
}

// readEvents reads the events about one object. Events about cluster-scoped objects are in
// namespace default.
//
// Upstream: client-go/tools/record/event.go makeEvent.
func (w *evidenceReader) readEvents(ctx context.Context, o *object.Object) {
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
		w.mark(namespacedPart{health.Events, at.Namespace}, fmt.Errorf("events about %s: %w", subject{resource: object.Resource{Name: o.Kind}, namespace: o.Namespace, name: o.Name}, err))
	}
}

// Records reads the evidence that a snapshot stores, so that it can answer like the cluster:
// everything that Evidence and Neighbours could read. about are the objects that wait for a
// controller, or will when they are deleted. They are read whole. referring are the parts with objects that
// refer to others. The records are sorted. Failed
// reads are records with a reason. Records fails only if the context ends.
func (c *Client) Records(ctx context.Context, about []*object.Object, referring []health.Part) ([]*health.Record, error) {
	w := &evidenceReader{client: c, about: about, keepRecords: true}
	parts := append(recordedParts(), w.consumerParts()...)
	for _, part := range referring {
		if s := (namespacedPart{part: part}); !slices.Contains(parts, s) {
			parts = append(parts, s)
		}
	}
	if w.anyObject(waitsForController) {
		for _, s := range controllerParts() {
			if !slices.Contains(parts, s) {
				parts = append(parts, s)
			}
		}
	}
	if err := w.readParts(ctx, parts); err != nil {
		return nil, err
	}
	slices.SortStableFunc(w.records, compareRecords)
	slices.SortStableFunc(w.remarks, compareRecords)
	// health.Evidence.Take uses the first record of an object, so content comes before remarks.
	return append(w.records, w.remarks...), nil
}

func compareRecords(a, b *health.Record) int { return object.Compare(a.Ref(), b.Ref()) }

// recordedParts lists the parts that any question may need, except those that show controllers.
func recordedParts() []namespacedPart {
	return slices.Concat(admissionParts(), usageParts(), clusterWide(
		health.APIServices, health.Leases, health.Namespaces, health.Definitions, health.Nodes, health.Attachments, health.Budgets,
	))
}
