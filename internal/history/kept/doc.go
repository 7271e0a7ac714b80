// Package kept stores the past of a cluster in a file, for longer than an API server remembers it.
//
// Like a snapshot, a file is compressed JSON lines. The first line has the format and the cluster,
// the last one has the hash of all lines before it. An incomplete file is an error.
//
// Reading a file returns a history.Record: the same changes, and the whole objects of those that
// were lost.
package kept
