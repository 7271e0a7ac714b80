// Package kube is the client of a live API server: it connects, discovers, lists, reads, writes,
// watches and resolves. Client has the methods of engine.API, and Collect runs the engine on it.
//
// Unknown is never absent, as in a snapshot. A kind that could not be listed is a gap with a
// reason. An unexpected response is an error, and never an empty list or a missing object. A 404
// for a path that is not served is not the 404 of an object (UnservedPathError).
//
// Requests use the transport of client-go, so that all of its flags and authentication plugins
// work, but they are sent and read here: metadata is decoded while it arrives, and no body is held
// in memory as a whole.
package kube
