// Package risk ranks the objects of a snapshot by what the delete of each alone would take.
//
// An upper bound for each object is computed on the graph, for all objects at once (ceilings).
// Deletes are simulated in that order until the next bound is lower than the real result of the last
// wanted object. So every number in the answer is a plan's, and no omitted object would rank higher.
package risk
