// Package explain says why one object stays, is deleted or is stuck.
//
// It asks the engine: Lookup and Decide for the verdict, and simulated runs for the effects of
// deletes. It derives no rules.
package explain
