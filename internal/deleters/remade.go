package deleters

import (
	"fmt"
	"slices"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// mostDeletes is the number of the latest deletes that are remembered.
const mostDeletes = 1 << 12

// deletes has the collector's latest accepted deletes. It is safe for concurrent use.
type deletes struct {
	mu sync.Mutex
	// n is the number of all deletes. last has the latest ones at index n modulo mostDeletes.
	n    uint64
	last []object.Ref
}

// note records the deletes of an attempt.
func (d *deletes) note(r engine.Record) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, x := range r.Exchanges {
		if x.Verb != object.Delete || x.Err != nil {
			continue
		}
		if len(d.last) < mostDeletes {
			d.last = append(d.last, x.Ref)
		} else {
			d.last[d.n%mostDeletes] = x.Ref
		}
		d.n++
	}
}

// sofar returns the number of deletes so far.
func (d *deletes) sofar() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.n
}

// often is how many deletes of one name mean that it is recreated on purpose.
const often = 3

// remade names the objects that were deleted often since a number of deletes, each time with
// another uid: something recreates them.
func (d *deletes) remade(since uint64) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	times, counted := map[object.Ref]int{}, map[object.Ref]bool{}
	for i := max(since, d.n-uint64(len(d.last))); i < d.n; i++ {
		if ref := d.last[i%mostDeletes]; !counted[ref] {
			counted[ref] = true
			times[ref.WithoutUID()]++
		}
	}
	var list []string
	for ref, n := range times {
		if n >= often {
			list = append(list, fmt.Sprintf("%s was deleted %d times since: something creates it again", ref, n))
		}
	}
	slices.Sort(list)
	return few(list)
}
