package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// rig is a collector over a drawn world. It is the World of the collector's drivers and checks
// every request before passing it to the server.
type rig struct {
	t         *rapid.T
	world     scenario.World
	resources *object.Resources
	server    *apisim.Server
	collector *engine.Collector
	// directives are the steps so far, as written in a scenario file.
	directives []string
	// attempts is the number of attempts since the start.
	attempts int
	// strict selects the rules.
	strict bool
	// judge returns what is wrong with deleting an object in its current state. The verdict counts
	// only if the server accepts the delete.
	judge func(o *object.Object) string
	// pending are the objects that were found absent while the absence doesn't count yet; nil if it
	// counts at once. proven are those for which it counts; nil without a clock.
	pending, proven map[object.Ref]bool
	// waited has the UIDs of all objects that ever waited for dependents.
	waited map[types.UID]bool
	// onPatch is called before a patch is passed on.
	onPatch func(o *object.Object, p object.Patch)
}

func newRig(t *rapid.T, w scenario.World, options ...engine.Option) *rig {
	r := &rig{
		t: t, world: w, resources: scenario.Resources(),
		collector: engine.New(options...), waited: map[types.UID]bool{},
	}
	r.server = apisim.New(w.Objects, r.resources, apisim.WithClock(scenario.Start))
	return r
}

// fatalf fails with the scenario that led to the failure.
func (r *rig) fatalf(format string, args ...any) {
	r.t.Fatalf("%s\n\n%s", fmt.Sprintf(format, args...), scenario.Story(r.world, r.directives))
}

func (r *rig) Resource(apiVersion, kind string) (object.Resource, error) {
	return r.server.Resource(apiVersion, kind)
}

func (r *rig) Get(ctx context.Context, ref object.Ref) (*object.Object, error) {
	o, err := r.server.Get(ctx, ref)
	absent := apierrors.IsNotFound(err) || err == nil && o.UID != ref.UID
	if !absent || r.pending == nil || r.proven[ref] {
		return o, err
	}
	r.pending[ref] = true
	return nil, &object.UncoveredError{Ref: ref, Why: "it was not absent for long enough"}
}

// passGracePeriods makes every absence so far count.
func (r *rig) passGracePeriods() bool {
	if r.proven == nil || len(r.pending) == 0 {
		return false
	}
	for ref := range r.pending {
		r.proven[ref] = true
		delete(r.pending, ref)
	}
	r.collector.Wake()
	return true
}

func (r *rig) Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error {
	live := r.get(ref)
	verdict := ""
	if live != nil && r.judge != nil {
		judged := live.Clone()
		if !r.strict {
			judged.Namespace = ref.Namespace // upstream looks for the owners of an unseen object in the namespace of its dependents
		}
		verdict = r.judge(judged)
	}
	err := r.server.Delete(ctx, ref, o)
	if err == nil && verdict != "" {
		r.fatalf("%s is deleted: %s", live.Ref, verdict)
	}
	return err
}

func (r *rig) Patch(ctx context.Context, ref object.Ref, p object.Patch) error {
	if live := r.get(ref); live != nil && r.onPatch != nil {
		r.onPatch(live, p)
	}
	return r.server.Patch(ctx, ref, p)
}

func (r *rig) Writes() uint64 { return r.server.Writes() }

// Events returns the events of the collector's watches.
func (r *rig) Events() []object.Event {
	events := r.server.Events()
	for _, e := range events {
		if e.Object.WaitingForDependents() {
			r.waited[e.Object.UID] = true
		}
	}
	return slices.DeleteFunc(events, func(e object.Event) bool { return !r.watched(e.Object) })
}

func (r *rig) watched(o *object.Object) bool {
	resource, err := r.resources.For(o.APIVersion, o.Kind)
	return err == nil && r.resources.Monitored(resource)
}

// get returns an object, nil if it doesn't exist.
func (r *rig) get(ref object.Ref) *object.Object {
	o, err := r.server.Get(context.Background(), ref)
	if err != nil {
		return nil
	}
	return o
}

// listed are the objects in the list of a new collector.
func (r *rig) listed() []*object.Object {
	return slices.DeleteFunc(r.server.Objects(), func(o *object.Object) bool { return !r.watched(o) })
}

// sync observes the existing objects in the order of a list.
func (r *rig) sync() *rig {
	r.directives = append(r.directives, "observe")
	for _, o := range r.listed() {
		r.collector.Observe(object.Event{Type: object.Added, Object: o})
	}
	return r
}

// restart replaces the collector by a new one.
func (r *rig) restart() *rig {
	r.directives = append(r.directives, "restart")
	r.collector = engine.New()
	r.Events()
	return r.sync()
}

func (r *rig) follow() engine.Follow {
	return engine.Follow{
		Decided: func(engine.Decision) { r.attempts++ },
		Idle:    func() bool { return r.kubelet() || r.passGracePeriods() },
	}
}

// kubelet finishes pods when no other work is left.
func (r *rig) kubelet() bool {
	pods := r.server.Lingering()
	for _, ref := range pods {
		if err := r.server.Delete(context.Background(), ref, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}); err != nil {
			r.fatalf("kubelet: %v", err)
		}
	}
	return len(pods) > 0
}

// drain runs to quiescence.
func (r *rig) drain() *rig {
	r.directives = append(r.directives, "drain kubelet")
	if err := engine.Drain(context.Background(), r.collector, r, r.follow()); err != nil {
		r.fatalf("drain: %v", err)
	}
	r.check()
	return r
}

// explore runs to quiescence under a schedule.
func (r *rig) explore(seed uint64) *rig {
	r.directives = append(r.directives, fmt.Sprintf("explore seed=%d runs=100 kubelet", seed))
	if err := engine.Explore(context.Background(), r.collector, r, r.follow(), rand.New(rand.NewPCG(seed, 0))); err != nil {
		r.fatalf("explore: %v", err)
	}
	r.check()
	return r
}

func (r *rig) act(acts ...scenario.Act) *rig {
	for _, a := range acts {
		r.directives = append(r.directives, a.Apply(context.Background(), r.server))
	}
	return r
}

func (r *rig) check() {
	if err := r.collector.Graph().Check(); err != nil {
		r.fatalf("%v", err)
	}
}

// ownerState is the class of a reference by the server's answers alone.
type ownerState uint8

const (
	solid ownerState = iota
	dangling
	waiting
	unresolved
)

// stateOf reads the owner that a reference of an object in namespace names.
func (r *rig) stateOf(ref object.OwnerReference, namespace string) ownerState {
	resource, err := r.server.Resource(ref.APIVersion, ref.Kind)
	if err != nil || resource.Namespaced && namespace == "" {
		return unresolved
	}
	owner := r.get(ref.In(namespace))
	switch {
	case owner == nil || owner.UID != ref.UID:
		return dangling
	case owner.WaitingForDependents():
		return waiting
	default:
		return solid
	}
}

// state is the world without resourceVersions and timestamps.
func (r *rig) state() string {
	var b strings.Builder
	for _, o := range r.server.Objects() {
		b.WriteString(stateText(o))
	}
	return b.String()
}

func stateText(o *object.Object) string {
	return fmt.Sprintf("%s uid=%s owners=%v deleting=%v fin=%v\n", o.Ref, o.UID, o.Owners, o.BeingDeleted(), o.Finalizers())
}

// outcomes is the state without the references of objects that are being deleted.
func (r *rig) outcomes() string {
	var b strings.Builder
	for _, o := range r.server.Objects() {
		if o.BeingDeleted() {
			o = o.Clone()
			o.Owners = nil
		}
		b.WriteString(stateText(o))
	}
	return b.String()
}

// dump is everything that a collector exposes.
func dump(c *engine.Collector) string {
	var b strings.Builder
	g := c.Graph()
	for id := range g.All {
		fmt.Fprintln(&b, id, nodeDump(g, id))
	}
	for _, w := range []engine.Work{engine.DeleteWork, engine.OrphanWork} {
		fmt.Fprintln(&b, w, c.Queued(w), c.Deferred(w))
	}
	fmt.Fprintln(&b, c.Ready(), c.Absent(), c.Warnings())
	return b.String()
}

func nodeDump(g *graph.Graph, id graph.ID) string {
	return fmt.Sprint(g.Identity(id), g.Virtual(id), g.BeingDeleted(id), g.WaitingForDependents(id),
		g.Owners(id), uids(g, g.Dependents(id)), g.BlockingCount(id))
}

func uids(g *graph.Graph, ids []graph.ID) []types.UID {
	list := make([]types.UID, len(ids))
	for i, id := range ids {
		list[i] = g.Identity(id).UID
	}
	return list
}
