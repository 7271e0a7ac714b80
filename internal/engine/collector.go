package engine

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// Collector is the state of the garbage collector: the graph, two queues, and
// what was found absent. It is for one goroutine. Use New.
type Collector struct {
	rules    Rules
	release  release.Rules
	graph    *graph.Graph
	toDelete queue
	toOrphan queue
	// orphanAfter is how many objects to delete had been queued when an owner to orphan was.
	orphanAfter map[graph.ID]uint64
	absent      *absentOwners
	// vanished are identities that a request showed to be gone. They are taken
	// into the graph by the next call of Next: a watch event that the driver
	// observes before comes first, as with upstream's queue of graph changes.
	vanished []object.Ref
	warnings []Warning
	// alternates are nodes that have another identity than one that was found absent, and have not
	// been attempted under it.
	alternates map[graph.ID]bool
	// handedOut is the node of the last attempt, about which the next event mostly is.
	handedOut graph.ID
	ahead     lookahead
	// underWay counts attempts that were handed out and are not settled.
	underWay int

	// What an economical collector knows beyond the graph, see economy.go: what
	// was written since it was last observed, how often a request for it was
	// refused as outdated, and which owners were found waiting in this burst.
	economical bool
	sent       map[graph.ID]sentMark
	tries      map[graph.ID]int
	waits      map[object.Ref]bool
}

// Warning is upstream's only event, OwnerRefInvalidNamespace: a dependent refers
// to an owner in another namespace. (spec §3.13)
type Warning struct {
	// Dependent is the object the event is about.
	Dependent object.Ref
	// Owner is what the reference names, in the dependent's namespace.
	Owner object.Ref
}

// Option changes how a Collector is made.
type Option func(*Collector)

// WithRules chooses the rules; Upstream is the default.
func WithRules(r Rules) Option { return func(c *Collector) { c.rules = r } }

// WithRelease has a collector with upstream rules be that of another release than the newest.
func WithRelease(r release.Rules) Option { return func(c *Collector) { c.release = r } }

// WithAbsentCapacity sets how many absent owners are remembered (500 upstream).
func WithAbsentCapacity(n int) Option {
	return func(c *Collector) { c.absent = newAbsentOwners(n) }
}

// WithAbsent starts with remembered absences: the state of a collector that has
// run for a while (spec §3.18). The last one counts as most recent.
func WithAbsent(refs ...object.Ref) Option {
	return func(c *Collector) {
		for _, ref := range refs {
			c.absent.add(ref)
		}
	}
}

// WithCapacity expects n objects.
func WithCapacity(n int) Option { return func(c *Collector) { c.graph = graph.WithCapacity(n) } }

// New returns a collector that has seen nothing, as after a restart.
func New(opts ...Option) *Collector {
	c := &Collector{graph: graph.New(), absent: newAbsentOwners(absentCapacity), alternates: map[graph.ID]bool{}, orphanAfter: map[graph.ID]uint64{}}
	for _, o := range opts {
		o(c)
	}
	return c
}

// Graph is the collector's graph, for reading.
func (c *Collector) Graph() *graph.Graph { return c.graph }

// Rules are the rules the collector was made with.
func (c *Collector) Rules() Rules { return c.rules }

// Warnings lists the warning events so far, in order.
func (c *Collector) Warnings() []Warning { return c.warnings }

// takeWarnings hands the warnings over and forgets them.
func (c *Collector) takeWarnings() []Warning {
	w := c.warnings
	c.warnings = nil
	return w
}

// Absent lists the remembered absent owners, the most recent first.
func (c *Collector) Absent() []object.Ref { return c.absent.refs() }

// Ready is the number of attempts that Next could hand out, counting objects
// that vanished and are not yet taken into the graph.
func (c *Collector) Ready() int { return c.toDelete.len() + c.toOrphan.len() + len(c.vanished) }

// UnderWay is the number of attempts that were handed out and are not settled.
func (c *Collector) UnderWay() int { return c.underWay }

// Queued lists the identities that wait for an attempt, in order.
func (c *Collector) Queued(w Work) []object.Ref { return c.identities(c.queue(w).waiting()) }

// Deferred lists the identities whose attempt waits to be woken, in the order in
// which they were deferred.
func (c *Collector) Deferred(w Work) []object.Ref { return c.identities(c.queue(w).sleepers()) }

// Defers reports whether the object with a uid is among the Deferred.
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

// free gives back the ID of a node that has left the graph once no queue holds
// it.
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

// lastObserved is an object as it was observed before; nil when it was not.
func (c *Collector) lastObserved(o *object.Object) *object.Object {
	id, ok := c.graph.Find(o.UID)
	if !ok || c.graph.Virtual(id) {
		return nil
	}
	return c.graph.Object(id)
}

// failures is how often in a row an attempt was deferred.
func (c *Collector) failures(a Attempt) int { return c.queue(a.Work).failures[a.ID] }
