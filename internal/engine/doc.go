// Package engine is the garbage collector of Kubernetes as a state machine without I/O.
//
// Observe applies a watch event to the graph and fills the queues. Next returns the oldest attempt.
// Decide judges one object by the graph and by facts, and writes nothing. Settle records the
// outcome. Wake makes deferred attempts ready again; the engine has no clock.
//
// Two functions call an API and hold no state: Lookup reads the facts of an attempt, Act sends the
// requests of a decision. The engine doesn't know whether the API is a simulated server or a
// cluster: a dry run is an API, not a mode.
//
//	watch event ─► Observe ─► queues ─► Next ─► Lookup ─► Decide ─► Act ─► Settle
//	                 ▲                            │ API               │ API     │
//	                 └──────── what the requests changed ◄────────────┘   forget, defer, vanish
//
// A Collector must be used by one goroutine at a time. The order of all its outputs is determined
// by the order of the calls.
//
// Upstream: pkg/controller/garbagecollector/garbagecollector.go GarbageCollector,
// processAttemptToDeleteWorker, processAttemptToOrphanWorker.
// Upstream: pkg/controller/garbagecollector/graph_builder.go GraphBuilder.
// Rule: spec §3.
package engine
