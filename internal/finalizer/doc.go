// Package finalizer knows what finalizers are for: who removes them, what becomes
// of the world when somebody else does, and when it must not be done. It judges a
// snapshot and asks nobody. (spec §7, §12, §19)
//
// What it cannot see speaks against a removal: a consumer that could not be listed
// may exist.
package finalizer
