package finalizer

import "slices"

// StandsForStorage reports whether the objects with a known finalizer represent data: a volume, a
// snapshot, a database or a cloud resource.
func StandsForStorage(name string) bool {
	k, known := Of(name)
	return known && (k.Class == Cloud || slices.Contains(ofStorage, k) || slices.Contains(ofDatabases, k))
}
