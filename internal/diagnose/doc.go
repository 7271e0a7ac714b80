// Package diagnose looks at a whole snapshot for what is wrong with it: bad owner
// references (Check), and what everything that is being deleted waits for in the end
// (Stuck). Like explain it asks the engine and derives no rule. Who removes the
// finalizers of others is no rule of the collector: that follows from evidence, and
// what was not read proves nothing.
package diagnose
