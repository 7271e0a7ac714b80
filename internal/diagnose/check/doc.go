// Package check lists the owner references of a snapshot that the collector would not
// understand as they were meant, or that put their object at risk. It asks the engine
// and derives no rule, and what was not read proves nothing.
package check
