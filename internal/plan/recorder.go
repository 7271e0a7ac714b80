package plan

import (
	"context"
	"errors"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
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
	// verbDeleteAll deletes all of a resource in a namespace; the step's object has
	// no name.
	verbDeleteAll = "DELETECOLLECTION"
)

// record is one step. It is kept small: a plan may have millions. Texts are
// numbers in the recorder's list of words.
type record struct {
	object              *object.Object
	patch               *object.Patch
	cause               int32
	answer              int16
	reason              outcome.Word
	verb, actor, policy outcome.Word
}

// recorder is a simulated server that writes down who asks it for what, and what
// came of it. It is the world that the engine's drivers run on.
type recorder struct {
	server *apisim.Server
	snap   *snapshot.Snapshot
	// beside are those who act beside the collector.
	beside    *outcome.Neighbours
	monitored map[schema.GroupVersionKind]bool
	watched   struct {
		apiVersion, kind string
		yes              bool
	}
	reads bool

	actor  string
	reason string
	// finalizing tells that the spec.finalizers of a namespace are being replaced.
	finalizing bool
	attempt    *object.Object // of the decision under way
	pending    []object.Event
	handed     []object.Event // last
	records    records
	// silent has no step written down: of a run that is only compared nobody reads them.
	silent   bool
	words    *outcome.Words
	observed func(e object.Event, cause int)
	// keep withholds writes of the collector; kept says why, of those it did.
	keep Keeper
	kept map[object.Ref]reason.Code
	// refused are the answers to writes of the collector that the server refused.
	refused map[object.Ref]error
}

var _ engine.World = (*recorder)(nil)

func newRecorder(beside *outcome.Neighbours, world []*object.Object, reads bool) *recorder {
	r := &recorder{
		snap: beside.Snapshot, beside: beside, reads: reads, actor: outcome.ActorCollector,
		monitored: map[schema.GroupVersionKind]bool{}, words: outcome.NewWords(),
		kept: map[object.Ref]reason.Code{}, refused: map[object.Ref]error{},
	}
	r.server = r.newServer(world)
	return r
}

// as has everything that happens in do done by another actor.
func (r *recorder) as(actor, reason string, do func()) {
	was, why, attempt := r.actor, r.reason, r.attempt
	r.actor, r.reason, r.attempt = actor, reason, nil
	do()
	r.actor, r.reason, r.attempt = was, why, attempt
}

// Resource maps a kind as the server does. One that does not map may be served all the
// same, as another name of one that does.
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

// Get reads as the server does. An object whose uid is not in the snapshot may be
// the one that is meant, and a kind that nobody serves as far as is known may be
// served: neither proves anything.
func (r *recorder) Get(ctx context.Context, ref object.Ref) (*object.Object, error) {
	o, err := r.read(ctx, ref)
	if r.reads {
		r.add(verbGet, record{object: r.named(ref), answer: answerOf(err)})
	}
	return o, err
}

// read is a Get that is not written down.
func (r *recorder) read(ctx context.Context, ref object.Ref) (*object.Object, error) {
	o, err := r.server.Get(ctx, ref)
	if err == nil && ref.UID == o.UID {
		return o, nil // as nearly always
	}
	if unknown := (*object.UnknownKindError)(nil); errors.As(err, &unknown) {
		return r.alike(ctx, ref, err)
	}
	if apierrors.IsNotFound(err) && r.mayBeServed(ref) {
		err = &object.UncoveredError{Ref: ref, Why: "whether the kind is served is not in the snapshot"}
	}
	if uncovered := (*object.UncoveredError)(nil); errors.As(err, &uncovered) && r.snap.Elsewhere(ref) != nil {
		err = apierrors.NewNotFound(schema.GroupResource{Group: ref.Group(), Resource: ref.Kind}, ref.Name) // a uid is given once
	}
	if why := r.snap.Doubt(ref.UID); why != "" && (apierrors.IsNotFound(err) || err == nil && ref.UID != o.UID) {
		return nil, &object.UncoveredError{Ref: ref, Why: why}
	}
	if err == nil && ref.UID != o.UID && outcome.MadeUp(o.UID) {
		o, err = nil, &object.UncoveredError{Ref: ref, Why: "the object of that name has no uid in the snapshot"}
	}
	return o, err
}

// alike is the object of a kind that does not map, under a name of it that does: as long as
// it is there, what refers to it stays whether the kind is served or not.
func (r *recorder) alike(ctx context.Context, ref object.Ref, unknown error) (*object.Object, error) {
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

// unmapped is why references to owners may stay: beside an owner whose kind does not map. If
// it is not served, the garbage collector gets no further than to that.
func (r *recorder) unmapped(ref object.Ref) error {
	if r.reason != reason.DanglingReferences.String() {
		return nil // whoever orphans asks for no owner
	}
	o, err := r.server.Get(context.Background(), r.stored(ref))
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

// unrecorded is a recorder whose reads are not written down.
type unrecorded struct{ *recorder }

// Get reads as the recorder does.
func (r unrecorded) Get(ctx context.Context, ref object.Ref) (*object.Object, error) {
	return r.read(ctx, ref)
}

// mayBeServed reports whether a kind such as AllowList, which maps because there is
// a kind Allow, could be a kind of its own: in a group of which not all kinds are
// known.
func (r *recorder) mayBeServed(ref object.Ref) bool {
	resource, err := r.Resource(ref.APIVersion, ref.Kind)
	if err != nil || resource.Served() || r.snap.KnowsAllKinds() || r.snap.Covers(resource, ref.Namespace) {
		return false
	}
	return slices.ContainsFunc(r.snap.Resources.All(), func(x object.Resource) bool {
		return x.Group == resource.Group && (x.Custom || x.Guessed)
	})
}

// Delete deletes as the server does.
func (r *recorder) Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error {
	if err := r.withheld(ref, true); err != nil {
		return err
	}
	if err := r.stopsWrite(ref); err != nil {
		return err
	}
	target, before := r.named(ref), r.server.Writes()
	err := r.server.Delete(ctx, ref, o)
	if r.actor != outcome.ActorUser && r.actor != outcome.ActorCollector && r.server.Writes() == before {
		// Controllers repeat without end what has no effect.
		return err
	}
	r.add(verbDelete, record{object: target, policy: r.words.Number(policyIn(o)), answer: answerOf(err)})
	r.note(ref, err)
	return err
}

// Patch patches as the server does.
func (r *recorder) Patch(ctx context.Context, ref object.Ref, p object.Patch) error {
	if err := r.withheld(ref, p.Finalizers != nil); err != nil {
		return err
	}
	if err := r.restsOnDependents(ref, p); err != nil {
		return err
	}
	if err := r.stopsWrite(ref); err != nil {
		return err
	}
	if err := r.unmapped(ref); err != nil {
		return err
	}
	target := r.named(ref)
	err := r.server.Patch(ctx, ref, p)
	r.add(verbPatch, record{object: target, patch: &p, answer: answerOf(err)})
	r.note(ref, err)
	return err
}

// stored is an object as the snapshot names it. One that nobody watches goes by the name
// that a reference has for it.
func (r *recorder) stored(ref object.Ref) object.Ref {
	resource, err := r.server.Resource(ref.APIVersion, ref.Kind)
	if err != nil {
		return ref
	}
	if at, ok := r.snap.Resources.Stored(resource.GroupResource()); ok {
		ref.APIVersion, ref.Kind = at.APIVersion(), at.Kind
	}
	return ref
}

// note keeps the answer to a write of the collector that it will only try again: not
// one that says that the object is another one by now, or gone.
func (r *recorder) note(ref object.Ref, err error) {
	if r.actor != outcome.ActorCollector || err == nil && len(r.refused) == 0 {
		return
	}
	ref = r.stored(ref)
	var status apierrors.APIStatus
	if err == nil || !errors.As(err, &status) || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		delete(r.refused, ref)
		return
	}
	r.refused[ref] = err
}

// Update replaces as the server does.
func (r *recorder) Update(ctx context.Context, o *object.Object) (*object.Object, error) {
	if err := r.stopsWrite(o.Ref); err != nil {
		return nil, err
	}
	stored, err := r.server.Update(ctx, o)
	r.add(verbPut, record{object: o, answer: answerOf(err)})
	return stored, err
}

// Finalize replaces a namespace's spec.finalizers as the server does.
func (r *recorder) Finalize(ctx context.Context, o *object.Object) (*object.Object, error) {
	if err := r.stopsWrite(o.Ref); err != nil {
		return nil, err
	}
	r.finalizing = true
	stored, err := r.server.Finalize(ctx, o)
	r.finalizing = false
	r.add(verbPut, record{object: o, answer: answerOf(err)})
	return stored, err
}

// DeleteCollection deletes all of a resource in a namespace as the server does.
func (r *recorder) DeleteCollection(ctx context.Context, res object.Resource, namespace string, selector labels.Selector, o metav1.DeleteOptions) error {
	if err := r.stopsWrite(outcome.NamespaceRef(namespace)); err != nil {
		return err
	}
	before := r.server.Writes()
	err := r.server.DeleteCollection(ctx, res, namespace, selector, o)
	r.addCollection(before, res, namespace, policyIn(o), err)
	return err
}

// DeleteStored deletes from storage as the server does.
func (r *recorder) DeleteStored(ctx context.Context, gr schema.GroupResource, namespace string) error {
	if err := r.unreadable(gr); err != nil {
		return err
	}
	if err := r.stopsWrite(r.snap.RefTo(object.CRD, "", gr.String())); err != nil {
		return err
	}
	before := r.server.Writes()
	err := r.server.DeleteStored(ctx, gr, namespace)
	res, _ := r.server.Resources().Preferred(gr)
	r.addCollection(before, res, namespace, "", err)
	return err
}

// addCollection writes down the delete of a collection, unless it had no effect:
// controllers repeat that without end.
func (r *recorder) addCollection(before uint64, res object.Resource, namespace, policy string, err error) {
	if r.server.Writes() == before {
		return
	}
	all := &object.Object{Ref: object.Ref{APIVersion: res.APIVersion(), Kind: res.Kind, Namespace: namespace}}
	r.add(verbDeleteAll, record{object: all, policy: r.words.Number(policy), answer: answerOf(err)})
}

// policyIn is the propagation policy of options; empty when they have none.
func policyIn(o metav1.DeleteOptions) string {
	if o.PropagationPolicy == nil {
		return ""
	}
	return string(*o.PropagationPolicy)
}

// Resources are what the server serves.
func (r *recorder) Resources() *object.Resources { return r.server.Resources() }

// Objects lists what the server stores.
func (r *recorder) Objects() []*object.Object { return r.server.Objects() }

// ObjectsOf lists what the server stores of one resource.
func (r *recorder) ObjectsOf(gr schema.GroupResource, namespace string) []*object.Object {
	return r.server.ObjectsOf(gr, namespace)
}

// Select lists what the server stores of one resource, as far as it matches.
func (r *recorder) Select(gr schema.GroupResource, namespace string, match func(*object.Object) bool) []*object.Object {
	return r.server.Select(gr, namespace, match)
}

// Writes counts changes as the server does.
func (r *recorder) Writes() uint64 { return r.server.Writes() }

// add writes a step down, and behind it the removals that it caused.
func (r *recorder) add(verb string, rec record) {
	if !r.silent {
		rec.verb, rec.actor, rec.reason = r.words.Number(verb), r.words.Number(r.actor), r.words.Number(r.reason)
		r.records.add(rec)
	}
	if verb != verbGet {
		r.collect(r.records.len())
	}
}

// named is an object with the identity; the one under decision if it is that. It is for
// steps alone.
func (r *recorder) named(ref object.Ref) *object.Object {
	if r.silent {
		return nil
	}
	if r.attempt != nil && r.attempt.Ref == ref {
		return r.attempt
	}
	return &object.Object{Ref: ref}
}

// answerOf is the HTTP status of a failure; 0 for a success.
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
