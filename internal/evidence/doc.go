// Package evidence holds what was seen of those who remove finalizers, and of what a
// deletion needs beside them: conditions of namespaces, API services, webhooks, workloads
// and their permissions, leases, events (World). It decodes single objects and keeps the
// little that matters of them.
//
// From that it judges what a deletion meets beside the garbage collector (Surroundings):
// whether the controller of a finalizer runs, whether a node, an aggregated API or a
// webhook answers. Every command asks here, so that none of them assumes what another one
// disproves.
//
// What was not read is a value of its own (Sight) and proves nothing: nobody counts as
// gone, and nothing as broken, because it was not seen.
package evidence
