// Package explain says of one object why it stays, goes or is stuck.
//
// It asks the engine: Lookup and Decide for the verdict, a simulated run for what
// a delete would take. It derives no rule itself.
package explain
