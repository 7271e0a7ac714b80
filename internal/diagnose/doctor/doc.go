// Package doctor judges whether the garbage collector of a cluster works (Examine). It uses the work
// that the collector leaves undone, its own view of the cluster (DebugGraph), and the lease of its
// process.
//
// Like diagnose, it asks the engine and derives no rules. It is careful with time: nothing records
// since when an object is garbage. An object counts as left behind only if something proves that it
// has been garbage for longer than the collector needs. Without proof the verdict is Unknown, never
// Working.
package doctor
