package past

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot/etcd"
)

// pastReader is one call of Past.
type pastReader struct {
	file       *EtcdFile
	past       *Record
	from       int64
	namespaces []string
	// written are the coordinates of all objects written after from, in any namespace.
	written map[object.Ref]bool
	// limited are the kinds with an incomplete history.
	limited map[schema.GroupResource]bool
}

// includesNamespace reports whether the content of a namespace is requested.
func (l *pastReader) includesNamespace(namespace string) bool {
	return namespace == "" || l.namespaces == nil || slices.Contains(l.namespaces, namespace)
}

// readKind reads the changes of a kind.
func (l *pastReader) readKind(s *kindKeys) error {
	if !s.served || IsRoutine(s.resource) {
		return nil
	}
	var by etcd.SealedError
	sealed := 0
	for _, key := range s.keys {
		changes := l.file.stored.Changes(key)
		if changes[len(changes)-1].Revision <= l.from {
			continue
		}
		place, _ := etcd.PlaceOf(key)
		l.written[object.Ref{APIVersion: s.resource.APIVersion(), Kind: s.resource.Kind, Namespace: place.Namespace, Name: place.Name}] = true
		if !l.includesNamespace(place.Namespace) {
			continue
		}
		switch err := l.readKey(s, key, changes); {
		case errors.As(err, &by):
			sealed++
		case err != nil:
			return err
		}
	}
	if sealed > 0 {
		l.addLimit(s.resource, fmt.Sprintf("%s: %d of its objects that were written are encrypted in storage (%s)", reason.Encrypted, sealed, by.By))
	}
	return nil
}

// readKey adds the changes of a key. If some of them are encrypted it adds the others, and returns
// the error.
func (l *pastReader) readKey(s *kindKeys, key string, changes []etcd.Change) (sealed error) {
	var first, last *object.Object
	known, told := true, false // known is false if the latest state is encrypted
	for i, c := range changes {
		if i+1 < len(changes) && changes[i+1].Revision <= l.from {
			continue // a later change is the state at the beginning of the past
		}
		var now *object.Object
		if !c.Deletion {
			var err error
			if now, err = l.file.readObject(s, key, c); isEncrypted(err) {
				sealed, known = err, false
				continue
			} else if err != nil {
				return err
			}
		}
		if c.Revision <= l.from {
			first = now
		} else if change, tells := convertChange(c, last, now, known); tells {
			l.past.Changes = append(l.past.Changes, change)
			told = true
		}
		last, known = now, true
	}
	if !told && sealed == nil && first != nil {
		l.past.Unchanged = append(l.past.Unchanged, first)
	}
	return sealed
}

// convertChange converts a change of the storage, and reports whether it matters. last is the state
// before it, if known. now is the state after it, nil for a deletion.
func convertChange(c etcd.Change, last, now *object.Object, known bool) (change Change, tells bool) {
	change = Change{Revision: uint64(c.Revision), Type: object.Modified, Object: now}
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
	return change, change.Type != object.Modified || change.Old == nil || IsRelevant(change.Old, now)
}

// addLimit records that the history of a kind is incomplete.
func (l *pastReader) addLimit(r object.Resource, why string) {
	if gr := r.GroupResource(); !l.limited[gr] {
		l.limited[gr] = true
		l.past.Limits = append(l.past.Limits, Limit{Resource: r, Why: why})
	}
}

// addGaps adds a limit for each kind that cannot be read completely.
func (l *pastReader) addGaps() {
	for _, g := range l.file.stored.Gaps {
		if r := l.file.gapResource(g); !IsRoutine(r) {
			l.addLimit(r, g.Why)
		}
	}
}

// gapResource returns the resource of a gap, which may cover a whole group version.
func (r *EtcdFile) gapResource(g snapshot.Gap) object.Resource {
	group, version := object.SplitAPIVersion(g.APIVersion)
	if known, ok := r.resources.Preferred(schema.GroupResource{Group: group, Resource: g.Resource}); ok {
		return known
	}
	return object.Resource{Group: group, Version: version, Name: g.Resource, Namespaced: true}
}

// addUnchanged adds the unchanged objects, and the absent objects that the changes depend on.
func (l *pastReader) addUnchanged() {
	relevant := map[object.Ref]bool{}
	for i := range l.past.Changes {
		for _, o := range []*object.Object{l.past.Changes[i].Old, l.past.Changes[i].Object} {
			if o == nil {
				continue
			}
			for _, ref := range RelevantRefs(o, l.past.Resources) {
				if at, r, ok := l.file.locate(ref); ok && !relevant[at] {
					relevant[at] = true
					l.addAbsent(at, r)
				}
			}
		}
	}
	for _, o := range l.file.stored.Objects {
		at := o.WithoutUID()
		if l.written[at] || !l.includesNamespace(o.Namespace) && !relevant[at] {
			continue
		}
		if r, err := l.past.Resources.For(o.APIVersion, o.Kind); err != nil || !IsRoutine(r) {
			l.past.Unchanged = append(l.past.Unchanged, o)
		}
	}
	slices.SortFunc(l.past.Unchanged, func(a, b *object.Object) int { return object.Compare(a.Ref, b.Ref) })
	slices.SortFunc(l.past.Absent, object.Compare)
}

// locate returns a reference with its served resource.
func (r *EtcdFile) locate(ref object.Ref) (object.Ref, object.Resource, bool) {
	res, err := r.resources.For(ref.APIVersion, ref.Kind)
	if err != nil || !res.Served() {
		return ref, res, false
	}
	if stored, ok := r.resources.Stored(res.GroupResource()); ok {
		res = stored
	}
	at := object.Ref{APIVersion: res.APIVersion(), Kind: res.Kind, Namespace: ref.Namespace, Name: ref.Name}
	if !res.Namespaced {
		at.Namespace = ""
	}
	return at, res, true
}

// addAbsent records that some coordinates had no object, if that is known.
func (l *pastReader) addAbsent(at object.Ref, r object.Resource) {
	s := l.file.stored
	if IsRoutine(r) || l.written[at] || l.limited[r.GroupResource()] || s.Find(at.APIVersion, at.Kind, at.Namespace, at.Name) != nil {
		return
	}
	// For a resource that was only served in the past, all stored objects are known.
	if _, served := s.Resources.Preferred(r.GroupResource()); !served || s.Covers(r, at.Namespace) {
		l.past.Absent = append(l.past.Absent, at)
	}
}
