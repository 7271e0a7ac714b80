// Package doctor judges whether the garbage collector of a cluster works, by what it
// leaves undone, by what it says itself (DebugGraph), and by the lease of the process
// that it runs in. (Examine)
//
// Like diagnose it asks the engine and derives no rule of its own. It is careful with
// time: nothing records since when an object is garbage, so an object counts as left
// behind only if something proves that it has been garbage for longer than the
// collector needs. What is not proven makes the verdict Unknown, never Working.
package doctor
