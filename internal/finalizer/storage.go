package finalizer

import "slices"

// StandsForStorage reports whether a finalizer is known to be that of objects which
// stand for data: a volume, a snapshot, a database, something in a cloud.
func StandsForStorage(name string) bool {
	k, known := Of(name)
	return known && (k.Class == Cloud || slices.Contains(ofStorage, k) || slices.Contains(ofDatabases, k))
}
