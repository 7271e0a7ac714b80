// Package outcome judges what becomes of every object of a simulation: from the tracks,
// which are what happened to each, and from the world as it is when nothing more happens.
//
//	tracks ─► passes: each object by itself ─► what is unknown ─► what waits ─► Outcomes
//
// The passes stand in one list, with the reason for the place of each. Nothing is
// simulated here, and nothing is changed but the outcomes.
package outcome
