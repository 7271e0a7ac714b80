// Package graph holds owners and dependents, linked only by UID, as in Kubernetes' collector.
//
// The graph can have cycles: the API server accepts them, and objects that own themselves. No code
// here recurses over references.
//
// A node is observed once a watch or a list has shown its object. Before that it is virtual: it
// exists because an object refers to its UID. An ID corresponds to a pointer in upstream's graph:
// when the identity of a virtual node is corrected, the node gets a new ID. The old ID, which a
// queue may still hold, keeps the old identity.
//
// The graph does no I/O, has no lock and must be used by one goroutine. It stores nodes and links
// in slabs of plain integers because it must hold a million of each.
//
// Upstream: pkg/controller/garbagecollector/graph.go node, objectReference, concurrentUIDToNode.
// Upstream: pkg/controller/garbagecollector/graph_builder.go insertNode, removeNode,
// removeDependentFromOwners.
// Rule: spec §3.2–§3.6.
package graph
