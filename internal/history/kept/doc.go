// Package kept is the past of a cluster in a file, beyond what an API server remembers.
//
// A file is like a snapshot: JSON lines, compressed. The first line says what it is and of which
// cluster, the last one has the hash of all lines before it. A file that is not whole is an error.
//
// What is read back is a history.Record: the same changes, and the whole objects of those that
// were lost.
package kept
