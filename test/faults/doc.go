// Package faults has the collector of the program collect over an API server that
// fails, lies, forgets and goes back in time, and judges it beside the server's
// store: what the collector says of itself counts for nothing. Every fault is a row
// of docs/faults.md.
package faults
