// Package stuck reports, for every object that is being deleted, what it finally waits for, and what
// would end that wait. It asks the engine, by a simulation, and derives no rules. Which controller
// removes a third-party finalizer is not a rule of the collector: it follows from evidence, and
// unread evidence proves nothing.
package stuck
