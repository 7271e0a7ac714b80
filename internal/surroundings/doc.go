// Package surroundings judges from the evidence what a deletion meets beside the
// collector: whether the controller of a finalizer runs, whether a node, an
// aggregated API or a webhook answers. Every command asks here, so that none of them
// assumes what another one disproves.
//
// What was not read proves nothing: nobody counts as gone, and nothing as broken,
// because it was not seen.
package surroundings
