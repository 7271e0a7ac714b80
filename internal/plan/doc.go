// Package plan tells the future: it puts a seed into a simulated copy of a
// snapshot, lets the collector and the other deleters run to quiescence, and
// writes down what came of it.
//
//	snapshot ─► apisim ─► baseline: collect what is garbage already
//	                   ─► seed: the user's DELETEs
//	                   ─► drain ─► outcome: what becomes of each object
//	                                 └─► effects, steps, gaps: report.Plan
//
// It derives no rule of deletion itself: it only watches what the engine and the
// simulated server do. The snapshot is never changed.
package plan
