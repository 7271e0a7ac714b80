// Package history attributes deletions. An API server remembers its past for some minutes: whole
// lists, and every write since in order. Together with what the garbage collector would have done
// at each moment they show which requests explain the deletions.
//
// It reads and writes nothing itself: package kube fills a Past from a server.
package history
