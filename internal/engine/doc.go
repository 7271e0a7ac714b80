// Package engine is the collector: the garbage collector of Kubernetes as a
// machine that does no I/O.
//
// It has four verbs and a nudge. Observe takes a watch event into the graph and
// fills the queues. Next hands out the oldest attempt. Decide judges one object
// from the graph and from facts, and writes nothing. Settle takes the outcome
// back. Wake makes deferred attempts ready again; there is no clock here.
//
// Two free functions talk to an API and hold no state: Lookup asks for the facts
// of an attempt, Act sends the requests of a decision. Which API it is, a
// simulated server or a cluster, the engine does not know: a dry run is an API,
// not a mode.
//
//	watch event ─► Observe ─► queues ─► Next ─► Lookup ─► Decide ─► Act ─► Settle
//	                 ▲                            │ API               │ API     │
//	                 └──────── what the requests changed ◄────────────┘   forget, defer, vanish
//
// A Collector is for one goroutine. Every order that reaches the outside is
// fixed by the order of the calls.
//
// Upstream: pkg/controller/garbagecollector/garbagecollector.go GarbageCollector,
// processAttemptToDeleteWorker, processAttemptToOrphanWorker.
// Upstream: pkg/controller/garbagecollector/graph_builder.go GraphBuilder.
// Rule: spec §3.
package engine
