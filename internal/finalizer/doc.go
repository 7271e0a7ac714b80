// Package finalizer contains what is known about finalizers: which controllers remove them, what is
// lost if these don't do their work, and when a removal is refused. It judges a snapshot and sends
// no requests. (spec §7, §12, §19)
//
// Missing input counts against a removal: a user that could not be listed may exist.
package finalizer
