// Package graph holds owners and dependents, linked by UID alone, the way
// Kubernetes' collector links them.
//
// People call it a DAG and it is none: the API server accepts reference cycles,
// and objects that own themselves. Nothing here recurses over references.
//
// A node is observed once a watch or a list has shown its object. Before that it
// is virtual: it exists because somebody refers to its UID. An ID is to a node
// what a pointer is in upstream's graph: when the identity of a virtual node is
// corrected the node gets a new ID, and an old ID that waits in a queue still
// answers with the old identity.
//
// The graph does no I/O, holds no lock and is for one goroutine. It keeps nodes
// and links in slabs of plain integers, since it has to hold a million of each.
//
// Upstream: pkg/controller/garbagecollector/graph.go node, objectReference, concurrentUIDToNode.
// Upstream: pkg/controller/garbagecollector/graph_builder.go insertNode, removeNode,
// removeDependentFromOwners.
// Rule: spec §3.2–§3.6.
package graph
