// Package evidence holds what was seen of those who remove finalizers, and of what
// a deletion needs beside them: conditions of namespaces, API services, webhooks,
// workloads and their rights, leases, events. It decodes single objects, keeps the
// little that matters of them, and judges nothing.
//
// What was not read is a value of its own (Sight): nobody may take it for absent.
package evidence
