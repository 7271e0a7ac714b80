// Package health holds what is known about the controllers that remove finalizers and about
// everything else that a deletion depends on: conditions of namespaces, API services, webhooks,
// workloads and their permissions, leases, events (Evidence). It decodes single objects and keeps
// the few fields that matter.
//
// From that it judges what affects a deletion apart from the garbage collector (Assessment):
// whether the controller of a finalizer runs, and whether a node, an aggregated API or a webhook
// answers. All commands use these judgements, so they never contradict each other.
//
// The completeness of each list is recorded. A list that was not read proves nothing: no
// controller counts as gone, and nothing as broken, because it was not seen.
package health
