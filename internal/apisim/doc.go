// Package apisim is an in-memory API server. It stores objects, answers get, create, update, patch
// and delete like a Kubernetes 1.37 API server, and returns change events. It sets deletion
// timestamps, grace periods and the collector's finalizers, as the real server does. It doesn't
// cascade: the work of a controller must be requested by the caller.
//
// Given objects are neither validated nor changed (spec §11.3). They are shared with the caller,
// which must not change them. Returned objects are immutable for the same reason.
//
// Three kinds of objects may lack the facts that their deletion depends on, for example in a dump
// of metadata only. The server then assumes the state that keeps the object longer:
//
//   - a pod without pod facts is scheduled and running, with a termination grace period of
//     30 seconds;
//   - a namespace without namespace facts has "kubernetes" in spec.finalizers;
//   - a CustomResourceDefinition without facts is terminating once it is being deleted.
//
// The REST mapping is that of the given resources. It doesn't follow the stored definitions: after
// a CustomResourceDefinition is deleted, its kind still maps, as in a collector that hasn't
// refreshed its mapping yet.
package apisim
