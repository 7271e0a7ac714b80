package deleters

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// maxDeletes is the number of the latest deletes that are remembered.
const maxDeletes = 1 << 12

// deletion is an accepted delete, or the removal of a finalizer from an object that others deleted.
type deletion struct {
	ref object.Ref
	at  time.Time
	// by is the command that deleted it.
	by string
	// why is the reason, for people.
	why string
	// garbage is true if the garbage collector deleted the object, and false if a namespace or a pod
	// ended.
	garbage bool
	// finalizer is the removed finalizer; "" for a delete.
	finalizer string
}

// String returns what was done, when and why.
func (d deletion) String() string {
	did := "deleted"
	if d.finalizer != "" {
		did = "finalizer " + d.finalizer + " removed"
	}
	return fmt.Sprintf("%s by %s at %s: %s", did, d.by, d.at.UTC().Format("15:04:05.000"), d.why)
}

// deletes has the latest deletions. It is safe for concurrent use.
type deletes struct {
	// by is the command of this program. log is called for every deletion; nil for nothing.
	by  string
	log func(line string)

	mu sync.Mutex
	// n is the number of all deletes. last has the latest ones at index n modulo maxDeletes.
	n    uint64
	last []deletion
}

// removed records the removal of a finalizer, unless the object was deleted here: then that says more.
func (d *deletes) removed(finalizer string, from object.Ref, why string) {
	if _, deleted := d.find(from); !deleted {
		d.add(deletion{ref: from, at: time.Now(), why: why, finalizer: finalizer})
	}
}

// add records a deletion.
func (d *deletes) add(of deletion) {
	of.by = d.by
	d.mu.Lock()
	if len(d.last) < maxDeletes {
		d.last = append(d.last, of)
	} else {
		d.last[d.n%maxDeletes] = of
	}
	d.n++
	d.mu.Unlock()
	if d.log != nil {
		gap := " "
		if of.finalizer != "" {
			gap = ": "
		}
		d.log(terminalSafe(of.ref.String() + gap + of.String()))
	}
}

// ownersOf describes the owners that decided about an object.
func (d *Deleters) ownersOf(of engine.Decision) string {
	var list []string
	for _, o := range of.Owners {
		owner := fmt.Sprintf("owner %s (uid %s) ", o.Ref, o.Reference.UID)
		switch o.Class {
		case engine.Waiting:
			list = append(list, owner+"is being deleted and waits for its dependents")
		case engine.Dangling:
			owner += "doesn't exist"
			if r, err := d.client.Resource(o.Ref.APIVersion, o.Ref.Kind); err == nil {
				if other := d.store.find(r.GroupResource(), o.Ref.Namespace, o.Ref.Name); other != nil && other.UID != o.Reference.UID {
					owner += ": the object of that name has the uid " + string(other.UID)
				}
			}
			list = append(list, owner)
		default:
		}
	}
	return cmp.Or(strings.Join(truncate(list), "; "), of.Reason.String())
}

// count returns the number of deletes so far.
func (d *deletes) count() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.n
}

// find returns the last delete of an object, by its uid or else by its coordinates.
func (d *deletes) find(ref object.Ref) (deletion, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := d.n; i > d.n-uint64(len(d.last)); i-- {
		of := d.last[(i-1)%maxDeletes]
		if ref.UID != "" && of.ref.UID == ref.UID || ref.UID == "" && of.ref.WithoutUID() == ref {
			return of, true
		}
	}
	return deletion{}, false
}

// recreatedOften is how many deletes of one name mean that it is recreated on purpose.
const recreatedOften = 3

// recreation is an object that was deleted and created again, several times.
type recreation struct {
	times int
	last  deletion
}

// recreations finds the objects that were garbage often since a number of deletes, each time with
// another uid: something recreates them.
func (d *deletes) recreations(since uint64) []recreation {
	d.mu.Lock()
	defer d.mu.Unlock()
	found, counted := map[object.Ref]*recreation{}, map[types.UID]bool{}
	for i := max(since, d.n-uint64(len(d.last))); i < d.n; i++ {
		of := d.last[i%maxDeletes]
		if !of.garbage || counted[of.ref.UID] {
			continue
		}
		counted[of.ref.UID] = true
		r := found[of.ref.WithoutUID()]
		if r == nil {
			r = &recreation{}
			found[of.ref.WithoutUID()] = r
		}
		r.times, r.last = r.times+1, of
	}
	var list []recreation
	for _, r := range found {
		if r.times >= recreatedOften {
			list = append(list, *r)
		}
	}
	slices.SortFunc(list, func(a, b recreation) int { return object.Compare(a.last.ref, b.last.ref) })
	return list
}

// recreated names the objects of recreations.
func (d *deletes) recreated(since uint64) []string {
	return truncate(object.Mapped(d.recreations(since), func(r recreation) string {
		return fmt.Sprintf("%s was deleted %d times since: something creates it again", r.last.ref, r.times)
	}))
}

// Recreated returns a remark for each object that was deleted and created again several times:
// mostly its creator sets an owner reference with a wrong uid.
func (d *Deleters) Recreated() []string {
	return truncate(object.Mapped(d.deletes.recreations(0), func(r recreation) string {
		return terminalSafe(fmt.Sprintf("%s was deleted and created again %d times; the last one was %s", r.last.ref, r.times, r.last))
	}))
}
