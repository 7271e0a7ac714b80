// Package risk ranks the objects of a snapshot by what the delete of each alone would
// take.
//
// What an object takes at most is found in the graph for all objects at once (ceilings).
// In the order of that, deletes are simulated until the next ceiling is lower than what
// the last of those wanted really takes. So every number in the answer is a plan's, and
// nothing that was left out would have come before it.
package risk
