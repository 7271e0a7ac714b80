package unserve_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// The kind that is looked at, and its versions: v2 is the preferred one.
const (
	kind   = "Thing"
	older  = "example.com/v1"
	newer  = "example.com/v2"
	plural = "things"
)

// resources are those of every scenario, and the kind in its two versions.
func resources(namespaced bool) *object.Resources {
	rs := scenario.Resources()
	for _, version := range []string{"v2", "v1"} {
		rs.Add(object.Resource{
			Group: "example.com", Version: version, Kind: kind, Name: plural, Namespaced: namespaced, Verbs: object.AllVerbs, Custom: true,
		})
	}
	return rs
}

// definition is the definition of the kind.
func definition(namespaced bool) *object.Object {
	o := &object.Object{Ref: object.Ref{
		APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: plural + ".example.com", UID: "definition",
	}}
	o.Edit().Facts = &object.CRDFacts{
		Group: "example.com", Kind: kind, Plural: plural, Namespaced: namespaced, Established: true,
		Versions: []object.CRDVersion{{Name: "v1", Served: true}, {Name: "v2", Served: true, Storage: true}},
		Stored:   []string{"v1", "v2"},
	}
	return o
}

// phase is what a cluster serves, and what its collector knows of that.
type phase uint8

const (
	served phase = iota
	// window: the version is not served, and the collector does not know.
	window
	// known: the collector has learnt it.
	known
)

// cluster is a simulated server of which one version may not be served, and its
// collector, whose mapper and watches are as old as those of Kubernetes.
//
// The server is the truth: it goes on answering through every version to whoever asks
// it directly.
type cluster struct {
	server    *apisim.Server
	resources *object.Resources
	collector *engine.Collector
	// gone is the apiVersion that is not served, in every phase but the first.
	gone  string
	phase phase
	// wrote is asked before each write of the collector, and what it returns is called
	// when the server has accepted it.
	wrote func(o *object.Object, removed bool) func()
	// pending are events that the watches have not shown yet.
	pending []object.Event
}

func newCluster(objects []*object.Object, rs *object.Resources, gone string) *cluster {
	c := &cluster{resources: rs, gone: gone, server: apisim.New(objects, rs, apisim.WithClock(scenario.Start))}
	c.restart()
	return c
}

// restart goes on with a collector that has seen nothing. It knows what is served now.
func (c *cluster) restart() {
	if c.phase == window {
		c.phase = known
	}
	c.see(c.server.Objects())
}

// restartAs is restart where the lists of the kinds arrive in an order of their own.
func (c *cluster) restartAs(random *rand.Rand) {
	ranks := map[string]uint64{}
	objects := c.server.Objects()
	for _, o := range objects {
		if key := o.APIVersion + " " + o.Kind; ranks[key] == 0 {
			ranks[key] = random.Uint64()
		}
	}
	rank := func(o *object.Object) uint64 { return ranks[o.APIVersion+" "+o.Kind] }
	slices.SortStableFunc(objects, func(a, b *object.Object) int { return cmp.Compare(rank(a), rank(b)) })
	c.see(objects)
}

// see has a new collector see these objects.
func (c *cluster) see(objects []*object.Object) {
	c.collector, c.pending = engine.New(), nil
	c.server.Events()
	for _, o := range objects {
		if shown := c.shown(o); shown != nil {
			c.collector.Observe(object.Event{Type: object.Added, Object: shown})
		}
	}
}

// begin goes on with a collector whose workers begin before it has seen the kind, as
// they do when the graph is behind the watches.
func (c *cluster) begin() {
	c.collector, c.pending = engine.New(), nil
	c.server.Events()
	for _, o := range c.server.Objects() {
		if shown := c.shown(o); shown != nil && o.Kind != kind {
			c.collector.Observe(object.Event{Type: object.Added, Object: shown})
		}
	}
}

// unserve stops serving the version.
func (c *cluster) unserve() { c.phase = window }

// learn has the collector see what is served: it watches the kind in another version,
// if it watched it in the one that has gone, and lists it again.
func (c *cluster) learn(p phase) {
	c.Events()
	c.phase = p
	for _, o := range c.server.Objects() {
		if shown := c.shown(o); shown != nil && o.Kind == kind && c.watchesGone() {
			c.pending = append(c.pending, object.Event{Type: object.Added, Object: shown})
		}
	}
}

// watchesGone reports whether the collector watches the kind in the version in question
// while it is served.
func (c *cluster) watchesGone() bool { return c.gone == newer }

// shown is the object as a watch shows it; nil when none does.
func (c *cluster) shown(o *object.Object) *object.Object {
	r, err := c.resources.For(o.APIVersion, o.Kind)
	if err != nil || !c.resources.Monitored(r) {
		return nil
	}
	if o.Kind != kind || !c.watchesGone() || c.phase == served {
		return o
	}
	if c.phase == window {
		return nil
	}
	o = o.Clone()
	o.APIVersion = older
	return o
}

func (c *cluster) Resource(apiVersion, kindName string) (object.Resource, error) {
	if c.phase == known && apiVersion == c.gone {
		if r, err := c.server.Resource(apiVersion, kindName); err == nil && r.Name == plural {
			return object.Resource{}, &object.UnknownKindError{APIVersion: apiVersion, Kind: kindName}
		}
	}
	return c.server.Resource(apiVersion, kindName)
}

// reach is the error of a request to a version that is not served.
func (c *cluster) reach(ref object.Ref) error {
	if c.phase == served || ref.APIVersion != c.gone {
		return nil
	}
	r, err := c.Resource(ref.APIVersion, ref.Kind)
	if err != nil || r.Name != plural {
		return err
	}
	if r.Namespaced && ref.Namespace == "" {
		return &object.NamespaceRequiredError{Ref: ref}
	}
	return apierrors.NewNotFound(schema.GroupResource{Group: r.Group, Resource: r.Name}, ref.Name)
}

func (c *cluster) Get(ctx context.Context, ref object.Ref) (*object.Object, error) {
	if err := c.reach(ref); err != nil {
		return nil, err
	}
	return c.server.Get(ctx, ref)
}

func (c *cluster) Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error {
	return c.write(ctx, ref, true, func() error { return c.server.Delete(ctx, ref, o) })
}

func (c *cluster) Patch(ctx context.Context, ref object.Ref, p object.Patch) error {
	return c.write(ctx, ref, false, func() error { return c.server.Patch(ctx, ref, p) })
}

// write sends a request and tells of it, if it was accepted. What the truth was before
// it, only the caller can have asked.
func (c *cluster) write(ctx context.Context, ref object.Ref, removed bool, send func() error) error {
	if err := c.reach(ref); err != nil {
		return err
	}
	before, err := c.server.Get(ctx, ref)
	if err != nil {
		return err
	}
	told := func() {}
	if c.wrote != nil {
		told = c.wrote(before, removed)
	}
	if err := send(); err != nil {
		return err
	}
	told()
	return nil
}

func (c *cluster) Writes() uint64 { return c.server.Writes() }

// Events hands over what the collector's watches show.
func (c *cluster) Events() []object.Event {
	events := c.pending
	c.pending = nil
	for _, e := range c.server.Events() {
		if e.Object = c.shown(e.Object); e.Object == nil {
			continue
		}
		if e.Old != nil {
			e.Old = c.shown(e.Old)
		}
		events = append(events, e)
	}
	return events
}

func (c *cluster) follow() engine.Follow {
	return engine.Follow{Idle: func() bool {
		pods := c.server.Lingering()
		for _, ref := range pods {
			if err := c.server.Delete(context.Background(), ref, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}); err != nil {
				return false
			}
		}
		return len(pods) > 0
	}}
}

// drain runs the collector to rest.
func (c *cluster) drain(ctx context.Context) error {
	return engine.Drain(ctx, c.collector, c, c.follow())
}

// explore runs the collector to rest under a schedule.
func (c *cluster) explore(ctx context.Context, seed uint64) error {
	return engine.Explore(ctx, c.collector, c, c.follow(), rand.New(rand.NewPCG(seed, 0)))
}

// get reads an object from the server itself; nil when it is not there or is another
// one.
func (c *cluster) get(ctx context.Context, ref object.Ref) *object.Object {
	o, err := c.server.Get(ctx, ref)
	if err != nil || o.UID != ref.UID {
		return nil
	}
	return o
}

// solid reports whether the owner that a reference names is there, whatever is served,
// does not wait for its dependents, and is not about to release them.
func (c *cluster) solid(ctx context.Context, ref object.OwnerReference, namespace string) bool {
	o := c.get(ctx, ref.In(namespace))
	return o != nil && !o.WaitingForDependents() && (!o.BeingDeleted() || !o.HasFinalizer(object.Orphan))
}

// release has a user take the references to an owner off an object.
func (c *cluster) release(ctx context.Context, o object.Ref, owner types.UID) error {
	live, err := c.server.Get(ctx, o)
	if err != nil {
		return err
	}
	left := object.WithoutOwners(live.Owners, []types.UID{owner})
	return c.server.Patch(ctx, o, object.Patch{Type: object.Merge, Owners: &left})
}

// adopt has a user add a reference to an object.
func (c *cluster) adopt(ctx context.Context, o object.Ref, ref object.OwnerReference) error {
	live, err := c.server.Get(ctx, o)
	if err != nil {
		return err
	}
	owners := append(slices.Clone(live.Owners), ref)
	return c.server.Patch(ctx, o, object.Patch{Type: object.Merge, Owners: &owners})
}

// remove has a user delete an object.
func (c *cluster) remove(ctx context.Context, o object.Ref, policy metav1.DeletionPropagation) error {
	return c.server.Delete(ctx, o, metav1.DeleteOptions{PropagationPolicy: &policy})
}

// state is what is left of an object: "gone", "terminating", or how many references it
// has.
func (c *cluster) state(ctx context.Context, ref object.Ref) string {
	switch o := c.get(ctx, ref); {
	case o == nil:
		return "gone"
	case o.BeingDeleted():
		return "terminating"
	default:
		return fmt.Sprint(len(o.Owners), " references")
	}
}
