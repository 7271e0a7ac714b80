// Package stuck says of everything that is being deleted what it waits for in the end,
// and what would end that. It asks the engine, by a simulation, and derives no rule. Who
// removes the finalizers of others is no rule of the collector: that follows from
// evidence, and what was not read proves nothing.
package stuck
