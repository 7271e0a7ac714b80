package controllers

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// World is the part of a simulated API server that a controller needs. Returned objects are
// immutable.
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

	Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error
	DeleteCollection(ctx context.Context, r object.Resource, namespace string, selector labels.Selector, o metav1.DeleteOptions) error
	// DeleteStored deletes the objects of a resource in a namespace, or those of a cluster-scoped
	// resource, directly in storage as the API server itself does: without options and without
	// admission.
	DeleteStored(ctx context.Context, gr schema.GroupResource, namespace string) error
	Update(ctx context.Context, o *object.Object) (*object.Object, error)
	Patch(ctx context.Context, ref object.Ref, p object.Patch) error
	// Finalize replaces the spec.finalizers of a namespace.
	Finalize(ctx context.Context, o *object.Object) (*object.Object, error)
}

// Controller is a controller that deletes objects or removes a finalizer.
type Controller interface {
	// Name returns the name of the controller as users know it.
	Name() string
	// Assumption returns what must hold in the cluster for the controller to act as simulated: a
	// sentence without a full stop.
	Assumption() string
	// Step makes one pass over the world and reports whether it changed anything. A request without
	// effect doesn't count, refused or not: it would be repeated forever. The only error is that of
	// the context. Waiting lists refused requests.
	Step(ctx context.Context, w World) (acted bool, err error)
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
// grace period; pods without a node after pod GC's delay. A nil coverage means that the snapshot is
// complete, a nil health that no problem is known.
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
func Step(ctx context.Context, w World, list []Controller, around func(c Controller, pass func())) (acted Controller, err error) {
	for _, c := range list {
		changed, err := false, error(nil)
		pass := func() { changed, err = c.Step(ctx, w) }
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

// pass is the common part of a controller's pass: it detects changes and collects the waits.
type pass struct {
	ctx  context.Context
	w    World
	name string
	// holds is the finalizer that the controller removes, "" if none.
	holds  string
	before uint64
	waits  []Wait
}

func begin(ctx context.Context, w World, name string) *pass {
	return &pass{ctx: ctx, w: w, name: name, before: w.Writes()}
}

// beginHolding begins a pass of a Releaser.
func beginHolding(ctx context.Context, w World, r Releaser) *pass {
	p := begin(ctx, w, r.Name())
	p.holds = r.Finalizer()
	return p
}

// wait records a wait of this pass. It does nothing after the context is cancelled: such a pass is
// incomplete.
func (p *pass) wait(w Wait) {
	if p.ctx.Err() != nil {
		return
	}
	w.Controller, w.Holds = p.name, p.holds
	p.waits = append(p.waits, w)
}

// end stores the sorted waits and reports whether the pass changed anything.
func (p *pass) end(waits *[]Wait) (acted bool, err error) {
	sortWaits(p.waits)
	*waits = p.waits
	return p.w.Writes() != p.before, p.ctx.Err()
}
