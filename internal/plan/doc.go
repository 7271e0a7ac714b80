// Package plan predicts what a request does. It applies a seed to a simulated copy of a snapshot,
// lets the collector and the other controllers run to quiescence, and reports the result.
//
//	snapshot ─► apisim ─► baseline: collect what is garbage already
//	                   ─► seed: the user's DELETEs
//	                   ─► drain ─► outcome: what becomes of each object
//	                                 └─► effects, steps, gaps: report.Plan
//
// It contains no rule of deletion itself: it only observes what the engine and the simulated server
// do. The snapshot is never changed.
package plan
