package stored

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/etcd"
	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// look is one call of Past.
type look struct {
	record *Record
	past   *history.Past
	from   int64
	within []string
	// written are the coordinates of all objects written after from, in any namespace.
	written map[object.Ref]bool
	// limited are the kinds with an incomplete history.
	limited map[schema.GroupResource]bool
}

// wants reports whether the content of a namespace is requested.
func (l *look) wants(namespace string) bool {
	return namespace == "" || l.within == nil || slices.Contains(l.within, namespace)
}

// read reads the changes of a kind.
func (l *look) read(s *shelf) error {
	if !s.served || history.Ordinary(s.resource) {
		return nil
	}
	var by etcd.SealedError
	sealed := 0
	for _, key := range s.keys {
		changes := l.record.stored.Changes(key)
		if changes[len(changes)-1].Revision <= l.from {
			continue
		}
		place, _ := etcd.PlaceOf(key)
		l.written[object.Ref{APIVersion: s.resource.APIVersion(), Kind: s.resource.Kind, Namespace: place.Namespace, Name: place.Name}] = true
		if !l.wants(place.Namespace) {
			continue
		}
		switch err := l.follow(s, key, changes); {
		case errors.As(err, &by):
			sealed++
		case err != nil:
			return err
		}
	}
	if sealed > 0 {
		l.limit(s.resource, fmt.Sprintf("%s: %d of its objects that were written are encrypted in storage (%s)", reason.Encrypted, sealed, by.By))
	}
	return nil
}

// follow adds the changes of a key. If some of them are encrypted it adds the others, and returns
// the error.
func (l *look) follow(s *shelf, key string, changes []etcd.Change) (sealed error) {
	var first, last *object.Object
	known, told := true, false // known is false if the latest state is encrypted
	for i, c := range changes {
		if i+1 < len(changes) && changes[i+1].Revision <= l.from {
			continue // a later change is the state at the beginning of the past
		}
		var now *object.Object
		if !c.Deletion {
			var err error
			if now, err = l.record.object(s, key, c); isSealed(err) {
				sealed, known = err, false
				continue
			} else if err != nil {
				return err
			}
		}
		if c.Revision <= l.from {
			first = now
		} else if change, tells := changeOf(c, last, now, known); tells {
			l.past.Changes = append(l.past.Changes, change)
			told = true
		}
		last, known = now, true
	}
	if !told && sealed == nil && first != nil {
		l.past.Standing = append(l.past.Standing, first)
	}
	return sealed
}

// changeOf converts a change of the storage, and reports whether it matters. last is the state
// before it, if known. now is the state after it, nil for a deletion.
func changeOf(c etcd.Change, last, now *object.Object, known bool) (change history.Change, tells bool) {
	change = history.Change{Revision: uint64(c.Revision), Type: object.Modified, Object: now}
	if known {
		change.Old = last
	}
	switch {
	case now == nil && last == nil:
		return change, false
	case now == nil:
		change.Type, change.Object = object.Deleted, last.Clone()
		change.Object.ResourceVersion = strconv.FormatInt(c.Revision, 10)
	case known && last == nil:
		change.Type = object.Added
	}
	return change, change.Type != object.Modified || change.Old == nil || history.Tells(change.Old, now)
}

// limit records that the history of a kind is incomplete.
func (l *look) limit(r object.Resource, why string) {
	if gr := r.GroupResource(); !l.limited[gr] {
		l.limited[gr] = true
		l.past.Limits = append(l.past.Limits, history.Limit{Resource: r, Why: why})
	}
}
