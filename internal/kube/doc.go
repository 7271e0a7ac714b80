// Package kube is the live API server: it connects, discovers, lists, reads,
// writes, watches and resolves. Client has the methods of engine.API.
//
// Its rule is that of the snapshot: unknown is never absent. A kind that could
// not be listed is a gap with a reason; an answer that is not what was asked for
// is a failure, and never an empty list or a missing object; and a 404 of a path
// that nobody serves does not count as the 404 of an object (UnservedPathError).
//
// Requests are made with the transport of client-go, so that all of its flags and
// authentication plugins work, but sent and read here: metadata is decoded as it
// streams in, and no body is ever held as a whole.
package kube
