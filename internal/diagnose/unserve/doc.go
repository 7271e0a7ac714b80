// Package unserve judges what the collector of the cluster may delete or prune when a
// version of a custom resource stops being served, or when its definition goes.
//
// The collector takes every 404 for absence, and it learns up to 30 seconds late that
// a version is not served any more. Whoever is looked at meanwhile and names a living
// owner through that version, is deleted as if the owner were gone, or loses the
// reference. (spec §3.18)
//
// What becomes of whom is not derived here: the engine runs over worlds in which the
// owner is not found under the reference (worlds.go). What makes the collector look is
// read off its graph (conditions.go).
package unserve
