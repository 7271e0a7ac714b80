// Package history says who took what is gone. An API server remembers for some minutes what
// it was: whole lists of the past, and every write since in the order in which they were made.
// From those, and from what the garbage collector would have done at each moment, follows which
// requests explain what went.
//
// It reads nothing itself and writes nothing: package kube fills a Past from a server.
package history
