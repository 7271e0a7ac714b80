package plan

import "github.com/kubectl-gc/kubectl-gc/internal/finalizer"

// RemovedBy is who removes a finalizer, and when; empty for one that is not known.
func RemovedBy(name string) (by, when string) {
	k, _ := finalizer.Of(name)
	return k.RemovedBy, k.When
}
