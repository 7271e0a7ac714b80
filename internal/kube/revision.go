package kube

import (
	"fmt"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// revision has the highest resourceVersion that was seen of each resource. A server that shows a
// lower one has gone back in time: it was restored, or it is another server. (spec §17 step 5)
type revision struct {
	mu      sync.Mutex
	highest map[schema.GroupResource]uint64
}

// see records a resourceVersion. One that is not a number is ignored.
func (v *revision) see(r object.Resource, resourceVersion string) {
	n, err := strconv.ParseUint(resourceVersion, 10, 64)
	if err != nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.highest == nil {
		v.highest = map[schema.GroupResource]uint64{}
	}
	gr := r.GroupResource()
	v.highest[gr] = max(v.highest[gr], n)
}

// of returns the highest resourceVersion that was seen of a resource.
func (v *revision) of(r object.Resource) uint64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.highest[r.GroupResource()]
}

// reached reports whether a resourceVersion is a number that is not lower than floor. The floor
// must be read before the request is sent, because it may rise meanwhile.
func reached(floor uint64, resourceVersion string) bool {
	n, err := strconv.ParseUint(resourceVersion, 10, 64)
	return err == nil && n > 0 && n >= floor
}

// behind reports whether a resourceVersion is a number that is lower than floor. It returns false
// for one that is not a number.
func behind(floor uint64, resourceVersion string) bool {
	n, err := strconv.ParseUint(resourceVersion, 10, 64)
	return err == nil && n < floor
}

// wentBack returns the error for a server that shows the past.
func wentBack(r object.Resource, shown string) error {
	return fmt.Errorf("the server shows resourceVersion %s of %s, and a higher one was seen: it has gone back in time", quote(shown), r.GroupResource())
}
