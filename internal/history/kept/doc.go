// Package kept is history that is kept in files, beyond what an API server remembers: of a
// past that was read from a server, and of what a controller has watched since it runs.
//
// A file is a line of JSON that says what it is, and frames behind it. A frame is a batch of
// entries, one JSON value a line, compressed, encrypted if there is a key, and with a sum. It is
// on the disk as a whole or not at all: what a crash has torn is the last frame of a file, and is
// cut off; any other damage is an error. A controller's history is a directory of such files,
// its segments, of which each begins with what was there then, so that old ones can be dropped.
// (ADR 0035)
//
// What is read back is a history.Record: the same changes, and of as many objects whole bodies as
// were kept. Where nothing was seen for a while, that is one of the limits.
package kept
