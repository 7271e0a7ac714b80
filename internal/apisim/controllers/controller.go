package controllers

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// World is what a controller reads of an API server. Returned objects are immutable.
type World interface {
	// Resources returns the served resources, as in discovery.
	Resources() *object.Resources
	// Objects lists all objects, including those of kinds that are not served.
	Objects() []*object.Object
	// ObjectsOf lists the objects of one resource by namespace and name. An empty namespace means
	// all.
	ObjectsOf(gr schema.GroupResource, namespace string) []*object.Object
	// Writes returns the number of stored changes.
	Writes() uint64
}

// Controller is a controller that deletes objects or removes a finalizer.
type Controller interface {
	// Name returns the name of the controller as users know it.
	Name() string
	// Assumption returns what must hold in the cluster for the controller to act as simulated: a
	// sentence without a full stop.
	Assumption() string
	// Step makes one pass over the world, hands each write that it wants to send, and reports whether
	// the pass changed anything. A write without effect doesn't count, refused or not: it would be
	// repeated forever. The only error is that of the context. Waiting lists refused writes.
	Step(ctx context.Context, w World, send Send) (acted bool, err error)
	// Waiting lists what the last pass could not finish, by object, reason and resource.
	Waiting() []Wait
}

// Releaser is a Controller that only removes one finalizer.
type Releaser interface {
	Controller
	// Finalizer returns the name of the finalizer.
	Finalizer() string
}

// Looker is a Controller that needs the state before the simulation.
type Looker interface {
	Controller
	// Look records the current state. It changes nothing.
	Look(w World)
}

// All returns the controllers in the order in which they act in a real cluster: definitions,
// tokens, pods of Jobs, claims and volumes at once; namespaces after some seconds; pods after their
// grace period; pods without a node after pod GC's delay.
func All(c Coverage, h Health, r release.Rules) []Controller {
	return []Controller{
		DefinitionController(c), AutoRegister(c), Tokens(c), JobTracking(c), ClaimProtection(c), DeviceClaims(c), VolumeReclaim(), VolumeProtection(c),
		ServiceCIDRs(c), newServiceCleanup(), EndpointsOfServices(r), MirroredSlices(), AddressesOfServices(), NamespaceController(c, r), Kubelet(h), PodGC(c, h),
	}
}

// Step runs the controllers in order until one of them changes something, and returns that one. It
// returns nil if none has work; then the waits of all are up to date. Call it only when the
// collector is idle: in a real cluster, the collector is faster. around, unless nil, wraps each
// pass and must call it.
func Step(ctx context.Context, w World, send Send, list []Controller, around func(c Controller, pass func())) (acted Controller, err error) {
	for _, c := range list {
		changed, err := false, error(nil)
		pass := func() { changed, err = c.Step(ctx, w, send) }
		if around == nil {
			pass()
		} else {
			around(c, pass)
		}
		if err != nil {
			return nil, err
		}
		if changed {
			return c, nil
		}
	}
	return nil, nil
}

// identity is the common part of all controllers.
type identity struct {
	name, assumption string
	// waits are those of the last complete pass.
	waits []Wait
}

func (i *identity) Name() string       { return i.name }
func (i *identity) Assumption() string { return i.assumption }
func (i *identity) Waiting() []Wait    { return i.waits }

// begin begins a pass. end ends it.
func (i *identity) begin(ctx context.Context, w World, send Send) *pass {
	return &pass{ctx: ctx, w: w, send: send, controller: i, before: w.Writes()}
}

// releasing is the common part of all Releasers.
type releasing struct {
	identity

	finalizer string
}

func (r *releasing) Finalizer() string { return r.finalizer }

func (r *releasing) begin(ctx context.Context, w World, send Send) *pass {
	p := r.identity.begin(ctx, w, send)
	p.holds = r.finalizer
	return p
}

// pass is the common part of a controller's pass: it detects changes and collects the waits.
type pass struct {
	ctx        context.Context
	w          World
	send       Send
	controller *identity
	// holds is the finalizer that the controller removes, "" if none.
	holds  string
	before uint64
	waits  []Wait
}

// wait records a wait of this pass. It does nothing after the context is cancelled: such a pass is
// incomplete.
func (p *pass) wait(w Wait) {
	if p.ctx.Err() != nil {
		return
	}
	w.Controller, w.Holds = p.controller.name, p.holds
	p.waits = append(p.waits, w)
}

// end stores the sorted waits and reports whether the pass changed anything.
func (p *pass) end() (acted bool, err error) {
	sortWaits(p.waits)
	p.controller.waits = p.waits
	return p.w.Writes() != p.before, p.ctx.Err()
}

// Coverage says which objects the snapshot behind the world contains.
type Coverage interface {
	// Covers reports whether an existing object of the resource in the namespace would be in the
	// snapshot. For a namespaced resource, an empty namespace means all namespaces.
	Covers(r object.Resource, namespace string) bool
	// Why returns the reason of a gap, for people.
	Why(r object.Resource, namespace string) string
}

// Moments is a Coverage of resources that were read at different times.
type Moments interface {
	// Unseen returns why an object of a covered kind may exist although the snapshot lacks it: it
	// existed at a time, in seconds since 1970. It returns "" if the object doesn't exist.
	Unseen(k object.Kind, ref object.Ref, at int64) string
	// UnseenNode is Unseen for a node, judged by the pods that are on it.
	UnseenNode(name string) string
}

// Discovery is a Coverage that knows which resources a server names and which it serves. These can
// differ.
type Discovery interface {
	// Undiscovered lists the API versions with resources that the server has not named, sorted.
	Undiscovered() []object.Undiscovered
	// Unserved reports whether the server names the resource but answers 404 to a list of it.
	Unserved(r object.Resource, namespace string) bool
}

// momentsOf returns the Moments of a coverage; without one, all was read at one moment.
func momentsOf(c Coverage) Moments {
	if m, ok := c.(Moments); ok {
		return m
	}
	return oneMoment{}
}

type oneMoment struct{}

func (oneMoment) Unseen(object.Kind, object.Ref, int64) string { return "" }
func (oneMoment) UnseenNode(string) string                     { return "" }

// Health says what is known about the programs that finish pods. "" means that they work, or that
// nothing is known.
type Health interface {
	// Kubelet returns why the kubelet of a node doesn't finish pods.
	Kubelet(node string) string
	// PodGC returns why pod GC hasn't removed a pod that is being deleted and that no kubelet finishes.
	PodGC(pod *object.Object) string
	// OutOfService reports whether pod GC ends the pods of a node in place of its kubelet.
	OutOfService(node string) bool
}

// Healthy is a Health without known problems.
type Healthy struct{}

// Kubelet returns "".
func (Healthy) Kubelet(string) string { return "" }

// PodGC returns "".
func (Healthy) PodGC(*object.Object) string { return "" }

// OutOfService returns false.
func (Healthy) OutOfService(string) bool { return false }

// Selector is an optional interface of a World: it finds few objects among many faster than by
// sorting all of them.
type Selector interface {
	// Select lists the objects of ObjectsOf that match, in the same order.
	Select(gr schema.GroupResource, namespace string, match func(*object.Object) bool) []*object.Object
}

// podsThat lists the pods that match, by namespace and name.
func podsThat(w World, match func(*object.Object) bool) []*object.Object {
	return objectsThat(w, object.Pod.GroupResource(), match)
}

// objectsThat lists the objects of a resource that match, by namespace and name.
func objectsThat(w World, gr schema.GroupResource, match func(*object.Object) bool) []*object.Object {
	return objectsIn(w, gr, "", match)
}

// objectsIn is objectsThat for one namespace. An empty namespace means all.
func objectsIn(w World, gr schema.GroupResource, namespace string, match func(*object.Object) bool) []*object.Object {
	if s, ok := w.(Selector); ok {
		return s.Select(gr, namespace, match)
	}
	return object.Filtered(w.ObjectsOf(gr, namespace), match)
}

// numberOf counts the objects of a resource. That is cheaper than listing them.
func numberOf(w World, gr schema.GroupResource) int {
	n := 0
	objectsThat(w, gr, func(*object.Object) bool {
		n++
		return false
	})
	return n
}

// held matches the objects that are being deleted and have the finalizer.
func held(by string) func(*object.Object) bool {
	return func(o *object.Object) bool { return o.BeingDeleted() && o.HasFinalizer(by) }
}

// release removes the finalizer of the pass from an object.
func (p *pass) release(o *object.Object) {
	next := o.Clone()
	life := next.Edit()
	life.Finalizers = slices.DeleteFunc(slices.Clone(life.Finalizers), func(name string) bool { return name == p.holds })
	_, err := p.update(next)
	p.refused(o.Ref, object.Resource{}, err)
}

// uncovered reports whether the snapshot may lack an object of the resource in the namespace, and
// then records a wait.
func (p *pass) uncovered(c Coverage, of object.Ref, r object.Resource, namespace string) bool {
	if c.Covers(r, namespace) {
		return false
	}
	p.wait(Wait{Object: of, Reason: NotCovered, Resource: r, Why: c.Why(r, namespace)})
	return true
}

// unseen is uncovered for a single object that existed at a time, in seconds since 1970.
func (p *pass) unseen(c Coverage, of object.Ref, k object.Kind, ref object.Ref, at int64) bool {
	if p.uncovered(c, of, k.Resource(), ref.Namespace) {
		return true
	}
	why := momentsOf(c).Unseen(k, ref, at)
	if why != "" {
		p.wait(Wait{Object: of, Reason: NotCovered, Resource: k.Resource(), Why: why})
	}
	return why != ""
}

// few returns the first three names, and an ellipsis if there are more.
func few(objects []*object.Object) string {
	const most = 3
	names := object.Mapped(objects[:min(most, len(objects))], func(o *object.Object) string { return o.Name })
	if len(objects) > most {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}
