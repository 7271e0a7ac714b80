// Package debuggraph reads the text of the debug endpoint of kube-controller-manager,
// /debug/controllers/garbage-collector-controller/graph: what the collector of a
// cluster itself believes. Our own collector writes the same text.
//
// The reader is strict. Text that is cut off, that is another graph or that
// contradicts itself is an error with the number of a line, and never half a graph.
// (semantics.md §4)
package debuggraph
