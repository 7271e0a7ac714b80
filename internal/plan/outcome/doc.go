// Package outcome judges the outcome of every object of a simulation. It reads the tracks, which
// record what happened to each object, and the final state of the simulated cluster.
//
//	tracks ─► passes: each object by itself ─► what is unknown ─► what waits ─► Outcomes
//
// The passes are one list, with the reason for the position of each. The rules by which an object is
// judged by itself are lists, too: the first rule that holds decides. This package simulates nothing
// and changes only outcomes.
package outcome
