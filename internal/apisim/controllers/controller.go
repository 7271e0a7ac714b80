package controllers

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// World is what a controller needs of a simulated API server. Objects that it
// hands out are immutable.
type World interface {
	// Resources are the served resources: what discovery says.
	Resources() *object.Resources
	// Objects lists everything, also objects of kinds that are not served.
	Objects() []*object.Object
	// ObjectsOf lists the objects of one resource by namespace and name, of one
	// namespace only unless namespace is empty.
	ObjectsOf(gr schema.GroupResource, namespace string) []*object.Object
	// Writes counts changes of what is stored.
	Writes() uint64

	Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error
	DeleteCollection(ctx context.Context, r object.Resource, namespace string, selector labels.Selector, o metav1.DeleteOptions) error
	// DeleteStored deletes the objects of a resource in a namespace, or those of
	// a cluster-scoped resource, the way a part of the API server does it that
	// has the storage at hand: no options, no admission.
	DeleteStored(ctx context.Context, gr schema.GroupResource, namespace string) error
	Update(ctx context.Context, o *object.Object) (*object.Object, error)
	Patch(ctx context.Context, ref object.Ref, p object.Patch) error
	// Finalize replaces the spec.finalizers of a namespace.
	Finalize(ctx context.Context, o *object.Object) (*object.Object, error)
}

// Controller is one deleter.
type Controller interface {
	// Name is the name of the controller as users know it.
	Name() string
	// Assumption is what has to hold in the cluster for the controller to do what
	// it does here, as a sentence without a full stop.
	Assumption() string
	// Step makes one pass over the world and reports whether that changed anything.
	// A request without effect does not count, refused or not: it would be made
	// forever. The error is that of the context; what the world refuses is
	// listed by Waiting.
	Step(ctx context.Context, w World) (acted bool, err error)
	// Waiting lists what the last pass could not bring to an end, by object,
	// reason and resource.
	Waiting() []Wait
}

// Releaser is a Controller that deletes nothing and takes one finalizer off.
type Releaser interface {
	Controller
	// Finalizer is the name of the finalizer.
	Finalizer() string
}

// Looker is a Controller that knows what was there before anything happened.
type Looker interface {
	Controller
	// Look takes note of the world as it is. It changes nothing.
	Look(w World)
}

// All returns the controllers in the order in which they act in a real cluster:
// definitions, tokens, pods of Jobs, claims and volumes at once, namespaces after some
// seconds, pods when their grace period is over, pods without a node when a
// quarantine is. A nil coverage
// stands for a world that is complete, a nil health for one in which all is well.
func All(c Coverage, h Health, r release.Rules) []Controller {
	return []Controller{
		DefinitionController(c), AutoRegister(c), Tokens(c), JobTracking(c), ClaimProtection(c), DeviceClaims(c), VolumeReclaim(), VolumeProtection(c),
		ServiceCIDRs(c), newServiceCleanup(), EndpointsOfServices(r), MirroredSlices(), AddressesOfServices(), NamespaceController(c, r), Kubelet(h), PodGC(c, h),
	}
}

// Step lets the controllers act in their order until one of them has changed
// something, and returns that one; nil when there is nothing to do for anyone,
// so that what all of them list as waiting is up to date. Called whenever the
// collector is idle, it gives the collector the first word, as it has in a real
// cluster. Around, unless it is nil, is put around each pass, and has to call it.
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

// pass is what the passes of all controllers have in common: it counts the
// changes and collects what is left to wait for.
type pass struct {
	ctx  context.Context
	w    World
	name string
	// holds is the finalizer that the controller takes off, if it is one.
	holds  string
	before uint64
	waits  []Wait
}

func begin(ctx context.Context, w World, name string) *pass {
	return &pass{ctx: ctx, w: w, name: name, before: w.Writes()}
}

// beginHolding begins a pass that takes a finalizer off where it has served.
func beginHolding(ctx context.Context, w World, r Releaser) *pass {
	p := begin(ctx, w, r.Name())
	p.holds = r.Finalizer()
	return p
}

// wait notes what a later pass has to wait for. A pass that was cut short knows
// nothing of that.
func (p *pass) wait(w Wait) {
	if p.ctx.Err() != nil {
		return
	}
	w.Controller, w.Holds = p.name, p.holds
	p.waits = append(p.waits, w)
}

// end hands over what is waited for and says whether the pass changed anything.
func (p *pass) end(waits *[]Wait) (acted bool, err error) {
	sortWaits(p.waits)
	*waits = p.waits
	return p.w.Writes() != p.before, p.ctx.Err()
}
