package engine

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// Collector is the state of the garbage collector: the graph, two queues, and the owners that were
// found absent. It must be used by one goroutine at a time. Create it with New.
type Collector struct {
	rules    Rules
	release  release.Rules
	graph    *graph.Graph
	toDelete queue
	toOrphan queue
	// orphanAfter is, for each queued owner to orphan, the number of objects to delete that were
	// queued before it.
	orphanAfter map[graph.ID]uint64
	absent      *absentOwners
	// vanished are identities that a request found to be gone. The next call of Next removes them
	// from the graph: a watch event that the driver observes first takes precedence, as in
	// upstream's queue of graph changes.
	vanished []object.Ref
	warnings []Warning
	// alternates are nodes that got another identity after one was found absent, and that were not
	// attempted under it yet.
	alternates map[graph.ID]bool
	// underWay is the number of attempts that were started and are not settled.
	underWay int

	// The extra state of an economical collector, see economy.go: the objects that were written and
	// not observed since, the Tries of their attempts, and the owners that were found waiting in
	// this burst.
	economical bool
	sent       map[graph.ID]sentMark
	tries      map[graph.ID]int
	waits      map[object.Ref]bool
}

// Warning is upstream's only event, OwnerRefInvalidNamespace: a dependent refers
// to an owner in another namespace. (spec §3.13)
type Warning struct {
	// Dependent is the object that the event is about.
	Dependent object.Ref
	// Owner is the owner that the reference names, in the dependent's namespace.
	Owner object.Ref
}

// Option changes how a Collector is made.
type Option func(*Collector)

// WithRules chooses the rules; Upstream is the default.
func WithRules(r Rules) Option { return func(c *Collector) { c.rules = r } }

// WithRelease selects the behaviour of another release than the newest, for upstream rules.
func WithRelease(r release.Rules) Option { return func(c *Collector) { c.release = r } }

// WithAbsentCapacity sets the number of absent owners that are remembered (500 upstream).
func WithAbsentCapacity(n int) Option {
	return func(c *Collector) { c.absent = newAbsentOwners(n) }
}

// WithAbsent starts with remembered absences, as in a collector that has run for a while
// (spec §3.18). The last one is the most recent.
func WithAbsent(refs ...object.Ref) Option {
	return func(c *Collector) {
		for _, ref := range refs {
			c.absent.add(ref)
		}
	}
}

// WithCapacity preallocates for n objects.
func WithCapacity(n int) Option { return func(c *Collector) { c.graph = graph.WithCapacity(n) } }

// New returns a collector without knowledge, as after a restart.
func New(opts ...Option) *Collector {
	c := &Collector{graph: graph.New(), absent: newAbsentOwners(absentCapacity), alternates: map[graph.ID]bool{}, orphanAfter: map[graph.ID]uint64{}}
	for _, o := range opts {
		o(c)
	}
	return c
}

// Graph returns the collector's graph, for reading.
func (c *Collector) Graph() *graph.Graph { return c.graph }

// Rules returns the rules of the collector.
func (c *Collector) Rules() Rules { return c.rules }

// Warnings returns the warning events so far, in order.
func (c *Collector) Warnings() []Warning { return c.warnings }

// takeWarnings returns and clears the warnings.
func (c *Collector) takeWarnings() []Warning {
	w := c.warnings
	c.warnings = nil
	return w
}

// Absent returns the remembered absent owners, the most recent first.
func (c *Collector) Absent() []object.Ref { return c.absent.refs() }

// Ready returns the number of attempts that Next could return, including vanished objects that are
// not yet removed from the graph.
func (c *Collector) Ready() int { return c.toDelete.len() + c.toOrphan.len() + len(c.vanished) }

// UnderWay returns the number of attempts that were started and are not settled.
func (c *Collector) UnderWay() int { return c.underWay }

// Queued returns the identities that wait for an attempt, in order.
func (c *Collector) Queued(w Work) []object.Ref { return c.identities(c.queue(w).waiting()) }

// Deferred returns the identities with a deferred attempt, in the order of deferral.
func (c *Collector) Deferred(w Work) []object.Ref { return c.identities(c.queue(w).sleepers()) }

// Defers reports whether the object with a UID has a deferred attempt.
func (c *Collector) Defers(w Work, uid types.UID) bool {
	id, ok := c.graph.Find(uid)
	return ok && c.queue(w).sleeps(id)
}

func (c *Collector) identities(ids []graph.ID) []object.Ref {
	refs := make([]object.Ref, len(ids))
	for i, id := range ids {
		refs[i] = c.graph.Identity(id)
	}
	return refs
}

func (c *Collector) queue(w Work) *queue {
	if w == OrphanWork {
		return &c.toOrphan
	}
	return &c.toDelete
}

// free releases the ID of a node that has left the graph, once no queue holds it.
func (c *Collector) free(id graph.ID) {
	if !c.graph.Present(id) && !c.toDelete.holds(id) && !c.toOrphan.holds(id) {
		delete(c.toDelete.failures, id)
		delete(c.toOrphan.failures, id)
		delete(c.alternates, id)
		delete(c.orphanAfter, id)
		delete(c.sent, id)
		delete(c.tries, id)
		c.graph.Free(id)
	}
}

// lastObserved returns the last observed state of an object, nil if it was never observed.
func (c *Collector) lastObserved(o *object.Object) *object.Object {
	id, ok := c.graph.Find(o.UID)
	if !ok || c.graph.Virtual(id) {
		return nil
	}
	return c.graph.Object(id)
}

// failures returns the number of consecutive deferrals of an attempt.
func (c *Collector) failures(a Attempt) int { return c.queue(a.Work).failures[a.ID] }

// API is the part of an API server that the collector needs. Errors are those of a real server
// (apierrors). object.UnknownKindError, object.NamespaceRequiredError and object.UncoveredError
// mean that a request cannot be made or answered.
type API interface {
	Reader
	Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error
	Patch(ctx context.Context, ref object.Ref, p object.Patch) error
}

// Reader is the read-only part of an API.
type Reader interface {
	// Resource returns the resource that serves an apiVersion and kind.
	Resource(apiVersion, kind string) (object.Resource, error)
	// Get reads an object by its coordinates and ignores the UID of ref.
	Get(ctx context.Context, ref object.Ref) (*object.Object, error)
}

// Rules say how the absence of an owner is judged.
type Rules uint8

const (
	// Upstream behaves like the collector of Kubernetes: for prediction.
	Upstream Rules = iota
	// Strict keeps objects that upstream is known to delete wrongly: for our own writes. lookup.go
	// lists the differences.
	Strict
)

// String returns the name used in plans.
func (r Rules) String() string {
	if r == Strict {
		return "strict"
	}
	return "upstream"
}
