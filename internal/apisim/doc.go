// Package apisim is an API server in memory, and nothing more: it stores
// objects, answers get, create, update, patch and delete as a Kubernetes 1.37
// API server does, and tells what changed. It decides deletion timestamps,
// grace periods and the collector's finalizers, as the real server does. It
// cascades nothing: whatever a controller would do, somebody else has to ask
// for.
//
// A server is given objects as they are (spec §11.3): they are neither
// validated nor changed, and they are shared with the caller, who must not
// change them either. Objects that it hands out are immutable for the same
// reason.
//
// Three kinds of objects may come without the facts that their deletion depends
// on, for example from a dump of metadata only. The server then assumes the
// answer that keeps the object:
//
//   - a pod without pod facts is taken for a scheduled, running one with a
//     termination grace period of 30 seconds;
//   - a namespace without namespace facts has "kubernetes" in spec.finalizers;
//   - a CustomResourceDefinition without facts is terminating once it is being
//     deleted.
//
// The REST mapping is what the given resources say and does not follow the
// definitions in the store: when a CustomResourceDefinition has gone, its kind
// still maps, as it does in a collector that has not yet refreshed its own
// mapping.
package apisim
