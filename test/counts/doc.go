// Package counts holds every command to what it may execute: on clusters of each shape, a
// statement is not executed more often for each object where there are four times as many.
//
// The program is built with the counters of `go build -cover`, and says of every block of its
// source how often it was executed. No time is taken: a count is the same on every machine.
package counts
