package deleters

import (
	"fmt"
	"slices"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// mostDeletes bounds what is remembered of deletes, the last ones.
const mostDeletes = 1 << 12

// deletes are the last deletes of the collector that were accepted. They may be used from many
// goroutines.
type deletes struct {
	mu sync.Mutex
	// n is the number of all, and last those that are remembered, by n modulo mostDeletes.
	n    uint64
	last []object.Ref
}

// note takes note of what the collector has deleted.
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

// sofar is the number of deletes so far.
func (d *deletes) sofar() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.n
}

// often is how many objects of one name are no accident.
const often = 3

// remade names what was deleted again and again since there were so many deletes, each time
// another object: somebody makes it as often.
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
