package plan

import (
	"context"
	"errors"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// The verbs of steps.
const (
	verbGet     = "GET"
	verbDelete  = "DELETE"
	verbPatch   = "PATCH"
	verbPut     = "PUT"
	verbRemoved = "REMOVED"
	// verbDeleteAll deletes all objects of a resource in a namespace. The step's object has no
	// name.
	verbDeleteAll = "DELETECOLLECTION"
)

// record is one step. It is small because a plan may have millions. Texts are numbers in
// recorder.words. cause is the number of the step that caused a removal, 0 for none. answer is the
// HTTP status of a failure, 0 for success.
type record struct {
	object              *object.Object
	patch               *object.Patch
	cause               int32
	answer              int16
	reason              outcome.Word
	verb, actor, policy outcome.Word
}

// recorder is a simulated server that records each request with its actor and its answer, and the
// removals that it causes. It is the world of the engine's drivers.
type recorder struct {
	server *apisim.Server
	snap   *snapshot.Snapshot
	// simHealth is the health of the other controllers.
	simHealth *outcome.Health
	monitored map[schema.GroupVersionKind]bool
	watched   struct {
		apiVersion, kind string
		yes              bool
	}
	recorded Record

	actor  string // of the next requests
	reason string
	// finalizing is true while the spec.finalizers of a namespace are being replaced.
	finalizing     bool
	observedObject *object.Object // of the current decision
	pending        []object.Event
	delivered      []object.Event // result of the last Events
	steps          records
	words          *outcome.Words
	onEvent        func(object.Event)
	// keep withholds writes of the collector. withheldWrites contains their reasons.
	keep           Keeper
	withheldWrites map[object.Ref]reason.Code
	// refusedWrites contains the answers to writes of the collector that the server refused.
	refusedWrites map[object.Ref]error
	lostCallees   lostCallees
}

var _ engine.World = (*recorder)(nil)

func newRecorder(simHealth *outcome.Health, world []*object.Object, recorded Record) *recorder {
	r := &recorder{
		snap: simHealth.Snapshot, simHealth: simHealth, recorded: recorded, actor: outcome.ActorCollector,
		monitored: map[schema.GroupVersionKind]bool{}, words: outcome.NewWords(),
		withheldWrites: map[object.Ref]reason.Code{}, refusedWrites: map[object.Ref]error{},
	}
	r.lostCallees = newLostCallees(simHealth.Assessment)
	r.server = r.newServer(world)
	return r
}

// runAs calls do with another actor and reason, and then restores the previous ones.
func (r *recorder) runAs(actor, reason string, do func()) {
	was, why, attempt := r.actor, r.reason, r.observedObject
	r.actor, r.reason, r.observedObject = actor, reason, nil
	do()
	r.actor, r.reason, r.observedObject = was, why, attempt
}

// Resource maps a kind as the server does. A kind that does not map there may still be served, for
// example as another version of a kind that does.
func (r *recorder) Resource(apiVersion, kind string) (object.Resource, error) {
	resource, err := r.server.Resource(apiVersion, kind)
	if err == nil {
		return resource, nil
	}
	if alike, ok := r.snap.Alike(apiVersion, kind); ok {
		alike.Group, alike.Version = object.SplitAPIVersion(apiVersion)
		return alike, nil
	}
	return resource, err
}

// Get reads as the server does, but returns an UncoveredError where the snapshot proves nothing: an
// object without a UID in the snapshot may be the one that ref means, and a kind that is not known
// to be served may be served.
func (r *recorder) Get(ctx context.Context, ref object.Ref) (*object.Object, error) {
	o, err := r.read(ctx, ref)
	if r.recorded == RecordReads {
		r.addStep(verbGet, record{object: r.recordedObject(ref), answer: answerOf(err)})
	}
	return o, err
}

// read is Get without the record.
func (r *recorder) read(ctx context.Context, ref object.Ref) (*object.Object, error) {
	o, err := r.server.Get(ctx, ref)
	if err == nil && ref.UID == o.UID {
		return o, nil // almost always
	}
	if unknown := (*object.UnknownKindError)(nil); errors.As(err, &unknown) {
		return r.getAlike(ctx, ref, err)
	}
	if apierrors.IsNotFound(err) && r.mayBeServed(ref) {
		err = &object.UncoveredError{Ref: ref, Why: "whether the kind is served is not in the snapshot"}
	}
	if uncovered := (*object.UncoveredError)(nil); errors.As(err, &uncovered) && r.snap.Elsewhere(ref) != nil {
		err = apierrors.NewNotFound(schema.GroupResource{Group: ref.Group(), Resource: ref.Kind}, ref.Name) // UIDs are unique
	}
	if why := r.snap.Doubt(ref.UID); why != "" && (apierrors.IsNotFound(err) || err == nil && ref.UID != o.UID) {
		return nil, &object.UncoveredError{Ref: ref, Why: why}
	}
	if err == nil && ref.UID != o.UID && outcome.MadeUp(o.UID) {
		o, err = nil, &object.UncoveredError{Ref: ref, Why: "the object of that name has no uid in the snapshot"}
	}
	return o, err
}

// getAlike looks up an object of a kind that does not map under the resource that would store it,
// such as another version of the kind. If the object exists there, its dependents stay whether or
// not the kind is served. Otherwise getAlike returns the error unknown.
func (r *recorder) getAlike(ctx context.Context, ref object.Ref, unknown error) (*object.Object, error) {
	resource, ok := r.snap.Alike(ref.APIVersion, ref.Kind)
	if !ok {
		return nil, unknown
	}
	at := ref
	at.APIVersion, at.Kind = resource.APIVersion(), resource.Kind
	o, err := r.server.Get(ctx, at)
	if err != nil || o.UID != ref.UID || o.WaitingForDependents() {
		return nil, unknown
	}
	return o, nil
}

// checkOwnerKinds returns an error if the removal of dangling references from an object may fail,
// because the kind of another owner does not map. If that kind is not served, the garbage collector
// gets stuck at that owner.
func (r *recorder) checkOwnerKinds(ref object.Ref) error {
	if r.reason != reason.DanglingReferences.String() {
		return nil // orphaning looks up no owner
	}
	o, err := r.server.Get(context.Background(), r.storedRef(ref))
	if err != nil || o.UID != ref.UID {
		return nil //nolint:nilerr // the write itself gets the same answer
	}
	for _, owner := range o.Owners {
		if _, alike := r.snap.Alike(owner.APIVersion, owner.Kind); !alike {
			continue
		}
		if _, err := r.server.Resource(owner.APIVersion, owner.Kind); err != nil {
			return &object.UncoveredError{Ref: owner.In(o.Namespace), Why: "whether the kind is served is not in the snapshot"}
		}
	}
	return nil
}

// unrecordedReads is a recorder that does not record reads.
type unrecordedReads struct{ *recorder }

// Get reads as the recorder does.
func (r unrecordedReads) Get(ctx context.Context, ref object.Ref) (*object.Object, error) {
	return r.read(ctx, ref)
}

// mayBeServed reports whether a kind such as AllowList, which maps because there is a kind Allow,
// could be a kind of its own. That requires that some kinds of its group are unknown.
func (r *recorder) mayBeServed(ref object.Ref) bool {
	resource, err := r.Resource(ref.APIVersion, ref.Kind)
	if err != nil || resource.Served() || r.snap.KnowsKindsOf(ref.APIVersion) || r.snap.Covers(resource, ref.Namespace) {
		return false
	}
	return slices.ContainsFunc(r.snap.Resources.All(), func(x object.Resource) bool {
		return x.Group == resource.Group && (x.Custom || x.Guessed)
	})
}

// Delete deletes as the server does.
func (r *recorder) Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error {
	if err := r.withholdWrite(ref, true); err != nil {
		return err
	}
	target, before := r.recordedObject(ref), r.server.Writes()
	r.lostCallees.stopped = r.stoppedPods(ref)
	err := r.server.Delete(ctx, ref, o)
	r.lostCallees.stopped = nil
	if r.actor != outcome.ActorUser && r.actor != outcome.ActorCollector && r.server.Writes() == before {
		// Controllers repeat ineffective deletes forever.
		return err
	}
	r.addStep(verbDelete, record{object: target, policy: r.words.Number(policyIn(o)), answer: answerOf(err)})
	r.recordRefusal(ref, versionIn(o), err)
	return err
}

// Patch patches as the server does.
func (r *recorder) Patch(ctx context.Context, ref object.Ref, p object.Patch) error {
	if err := r.withholdWrite(ref, p.Finalizers != nil); err != nil {
		return err
	}
	if err := r.withholdRelease(ref, p); err != nil {
		return err
	}
	if err := r.checkOwnerKinds(ref); err != nil {
		return err
	}
	target := r.recordedObject(ref)
	err := r.server.Patch(ctx, ref, p)
	r.addStep(verbPatch, record{object: target, patch: &p, answer: answerOf(err)})
	r.recordRefusal(ref, nil, err)
	return err
}

// storedRef returns a reference with the API version and kind that the snapshot uses for the object.
// An object that is not watched has those of the reference to it.
func (r *recorder) storedRef(ref object.Ref) object.Ref {
	resource, err := r.server.Resource(ref.APIVersion, ref.Kind)
	if err != nil {
		return ref
	}
	if at, ok := r.snap.Resources.Stored(resource.GroupResource()); ok {
		ref.APIVersion, ref.Kind = at.APIVersion(), at.Kind
	}
	return ref
}

// isCurrent reports whether an object has a version. A conflict about the current version comes back
// with every repetition. (S020)
func (r *recorder) isCurrent(ref object.Ref, version *string) bool {
	o, err := r.server.Get(context.Background(), ref)
	return err == nil && version != nil && o.ResourceVersion == *version
}

// recordRefusal stores the server's refusal of a write of the collector. It deletes the stored one
// after a success, and if the object has changed or is gone. version is the precondition of the write;
// nil for none.
func (r *recorder) recordRefusal(ref object.Ref, version *string, err error) {
	if r.actor != outcome.ActorCollector || err == nil && len(r.refusedWrites) == 0 {
		return
	}
	ref = r.storedRef(ref)
	var status apierrors.APIStatus
	if err == nil || !errors.As(err, &status) || apierrors.IsNotFound(err) || apierrors.IsConflict(err) && !r.isCurrent(ref, version) {
		delete(r.refusedWrites, ref)
		return
	}
	r.refusedWrites[ref] = err
}

// send makes a write of a controller, unless the controller is overdue with it.
func (r *recorder) send(ctx context.Context, i controllers.Intent) (*object.Object, error) {
	if r.simHealth.Overdue.Stops(r.actor, i.For) {
		return nil, errOverdue
	}
	switch i.Verb {
	case controllers.Delete:
		return nil, r.Delete(ctx, i.Ref, i.Options)
	case controllers.DeleteCollection:
		return nil, r.deleteAll(i, policyIn(i.Options), func() error {
			return r.server.DeleteCollection(ctx, i.Resource, i.Namespace, nil, i.Options)
		})
	case controllers.DeleteStored:
		return nil, r.deleteStored(ctx, i)
	case controllers.Patch:
		return nil, r.Patch(ctx, i.Ref, i.Patch)
	case controllers.Finalize:
		return r.finalize(ctx, i.Object)
	default:
		stored, err := r.server.Update(ctx, i.Object)
		r.addStep(verbPut, record{object: i.Object, answer: answerOf(err)})
		return stored, err
	}
}

// finalize replaces a namespace's spec.finalizers as the server does.
func (r *recorder) finalize(ctx context.Context, o *object.Object) (*object.Object, error) {
	r.finalizing = true
	stored, err := r.server.Finalize(ctx, o)
	r.finalizing = false
	r.addStep(verbPut, record{object: o, answer: answerOf(err)})
	return stored, err
}

// deleteStored deletes from storage as the server does. It fails if the server cannot read what it
// stores.
func (r *recorder) deleteStored(ctx context.Context, i controllers.Intent) error {
	gr := i.Resource.GroupResource()
	if err := r.readError(gr); err != nil {
		return err
	}
	i.Resource, _ = r.server.Resources().Preferred(gr)
	return r.deleteAll(i, "", func() error { return r.server.DeleteStored(ctx, gr, i.Namespace) })
}

// deleteAll deletes a collection. It is recorded unless it has no effect: controllers repeat such
// deletes forever.
func (r *recorder) deleteAll(i controllers.Intent, policy string, do func() error) error {
	before := r.server.Writes()
	err := do()
	if r.server.Writes() != before {
		all := &object.Object{Ref: object.Ref{APIVersion: i.Resource.APIVersion(), Kind: i.Resource.Kind, Namespace: i.Namespace}}
		r.addStep(verbDeleteAll, record{object: all, policy: r.words.Number(policy), answer: answerOf(err)})
	}
	return err
}

// versionIn returns the resourceVersion that options require; nil if they have none.
func versionIn(o metav1.DeleteOptions) *string {
	if o.Preconditions == nil {
		return nil
	}
	return o.Preconditions.ResourceVersion
}

// policyIn returns the propagation policy of options. Empty if they have none.
func policyIn(o metav1.DeleteOptions) string {
	if o.PropagationPolicy == nil {
		return ""
	}
	return string(*o.PropagationPolicy)
}

// Resources returns the resources that the server serves.
func (r *recorder) Resources() *object.Resources { return r.server.Resources() }

// Objects returns the objects that the server stores.
func (r *recorder) Objects() []*object.Object { return r.server.Objects() }

// ObjectsOf returns the objects that the server stores of one resource.
func (r *recorder) ObjectsOf(gr schema.GroupResource, namespace string) []*object.Object {
	return r.server.ObjectsOf(gr, namespace)
}

// Select returns the matching objects that the server stores of one resource.
func (r *recorder) Select(gr schema.GroupResource, namespace string, match func(*object.Object) bool) []*object.Object {
	return r.server.Select(gr, namespace, match)
}

// Writes returns the number of changes on the server.
func (r *recorder) Writes() uint64 { return r.server.Writes() }

// records reports whether the next requests are recorded: all of them for steps, and for Guard and Writes
// those of the collector.
func (r *recorder) records() bool {
	return r.recorded.hasSteps() || r.recorded == RecordRequests && r.actor == outcome.ActorCollector
}

// addStep records a step, and after it the removals that it caused.
func (r *recorder) addStep(verb string, rec record) {
	if r.records() {
		rec.verb, rec.actor, rec.reason = r.words.Number(verb), r.words.Number(r.actor), r.words.Number(r.reason)
		r.steps.add(rec)
	}
	if verb != verbGet {
		r.takeEvents(r.steps.len())
	}
}

// recordedObject returns an object with the identity ref for a record: the observed object of the
// current decision if it has that identity. nil if the request is not recorded.
func (r *recorder) recordedObject(ref object.Ref) *object.Object {
	if !r.records() {
		return nil
	}
	if r.observedObject != nil && r.observedObject.Ref == ref {
		return r.observedObject
	}
	return &object.Object{Ref: ref}
}

// answerOf returns the HTTP status of a failure. 0 for a success.
func answerOf(err error) int16 {
	if err == nil {
		return 0
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return int16(status.Status().Code)
	}
	return http.StatusInternalServerError
}

// Events returns the new events of the kinds that the collector watches. The next call may reuse the
// slice.
func (r *recorder) Events() []object.Event {
	r.takeEvents(0)
	clear(r.delivered)
	if cap(r.delivered) > fewEvents {
		r.delivered = nil
	}
	r.pending, r.delivered = r.delivered[:0], r.pending
	return r.delivered
}

// fewEvents is the largest capacity of an event list that is reused: the end of a million pods in one turn of
// the kubelet needs 100 MB.
const fewEvents = 1024

// takeEvents takes new events from the server. cause is the number of the step that caused them.
func (r *recorder) takeEvents(cause int) {
	for _, e := range r.server.Events() {
		if e.Type == object.Deleted && r.recorded.hasSteps() {
			r.steps.add(record{
				object: e.Object, verb: r.words.Number(verbRemoved), actor: r.words.Number(outcome.ActorServer), reason: r.words.Number(r.reason), cause: int32(cause),
			})
		}
		if r.onEvent != nil {
			r.onEvent(e)
		}
		r.followCallees(e)
		if r.watches(e.Object) {
			if n := len(r.pending); n == cap(r.pending) {
				r.pending = slices.Grow(r.pending, n) // append grows by a quarter, which copies each event four times
			}
			r.pending = append(r.pending, e)
		}
	}
}

// watches reports whether the collector watches the kind of the object.
func (r *recorder) watches(o *object.Object) bool {
	if r.watched.apiVersion != o.APIVersion || r.watched.kind != o.Kind { // most have the same kind as the one before
		r.watched.apiVersion, r.watched.kind, r.watched.yes = o.APIVersion, o.Kind, r.watchesKind(o)
	}
	return r.watched.yes
}

func (r *recorder) watchesKind(o *object.Object) bool {
	group, version := object.SplitAPIVersion(o.APIVersion)
	gvk := schema.GroupVersionKind{Group: group, Version: version, Kind: o.Kind}
	yes, known := r.monitored[gvk]
	if !known {
		resource, err := r.snap.Resources.For(o.APIVersion, o.Kind)
		yes = err == nil && r.snap.Resources.Monitored(resource)
		r.monitored[gvk] = yes
	}
	return yes
}
