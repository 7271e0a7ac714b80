package kube

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/past"
)

// pastReader reads what a server remembers between two revisions. It reads states of the past from
// the storage, one kind at a time, in pages, and up to a limit of bytes for all kinds together.
type pastReader struct {
	*Client
	from, to uint64
	// bytes is the number of bytes of lists that may still be read.
	bytes atomic.Int64
	// crdDeletions has, by the defined resource, the last revisions before its CRDs began to be
	// deleted.
	crdDeletions map[schema.GroupResource][]uint64
	// deletionStarts are the deletions that are known so far. events has the revisions of all
	// writes of a deletion by object.
	deletionStarts []deletionStart
	events         map[object.Coordinates][]uint64
}

const maxListBytes = 256 << 20

func newPastReader(c *Client, from, to uint64) *pastReader {
	rd := &pastReader{Client: c, from: from, to: to, events: map[object.Coordinates][]uint64{}}
	rd.bytes.Store(maxListBytes)
	return rd
}

// maxStatesByName is the largest number of objects of a kind that are read by name.
// maxListedNamespaces is the largest number of namespaces that are listed one by one.
const (
	maxStatesByName     = 100
	maxListedNamespaces = 4
)

// errFound ends a list early because everything wanted was found.
var errFound = errors.New("all was found")

// listAt lists a place as it was at a revision, until the byte limit is reached. What it passes to
// take before an error is valid but incomplete.
func (rd *pastReader) listAt(ctx context.Context, at Place, by Selection, take func(*object.Object) error) error {
	limit := rd.chunk
	if limit == 0 {
		limit = pageSize
	}
	_, err := rd.list(ctx, at, by, Listing{
		Bytes: func(n int) { rd.bytes.Add(int64(-n)) },
		Object: func(o *object.Object) error {
			if rd.bytes.Load() < 0 {
				return fmt.Errorf("%s: reading stopped after %d MB of lists", at.subject(), maxListBytes>>20)
			}
			return take(o)
		},
	}, limit)
	if refusal, ok := errors.AsType[receiverError](err); ok {
		return refusal.error
	}
	return err
}

// objectsByName has objects of one kind by namespace and name.
type objectsByName map[types.NamespacedName]*object.Object

func (s objectsByName) find(ref object.Ref) *object.Object { return s[nameOf(ref)] }

func nameOf(ref object.Ref) types.NamespacedName {
	return types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
}

// states returns the objects with these names at a revision, whatever their UID. Without an error,
// missing objects did not exist. Several objects of a namespace cost one list. If the namespace is
// large, those that are not at the beginning of the list are read by name.
func (rd *pastReader) states(ctx context.Context, at Place, refs []object.Ref, revision uint64) (objectsByName, error) {
	by := Selection{Revision: revision}
	if len(refs) > maxStatesByName || !at.Resource.Namespaced {
		return rd.statesBy(ctx, at, refs, by, maxStatesByName)
	}
	got, byName := objectsByName{}, []object.Ref{}
	for _, some := range byNamespace(refs) {
		found, err := false, error(nil)
		if len(some) > 1 {
			found, err = rd.statesIn(ctx, Place{at.Resource, some[0].Namespace}, by, some, got)
		}
		switch {
		case Forgotten(err):
			return got, err
		case !found:
			byName = append(byName, slices.DeleteFunc(some, func(ref object.Ref) bool { return got.find(ref) != nil })...)
		}
	}
	return got, readEach(byName, got, func(ref object.Ref) (*object.Object, error) { return rd.stateAt(ctx, at, ref, revision) })
}

// byNamespace groups references by namespace, sorted.
func byNamespace(refs []object.Ref) [][]object.Ref {
	spaces := map[string][]object.Ref{}
	for _, ref := range refs {
		spaces[ref.Namespace] = append(spaces[ref.Namespace], ref)
	}
	groups := make([][]object.Ref, 0, len(spaces))
	for _, ns := range slices.Sorted(maps.Keys(spaces)) {
		groups = append(groups, spaces[ns])
	}
	return groups
}

// statesIn lists a namespace until it has all objects with the names, or to its end. found is false
// if missing objects may exist: the namespace is too large, or the list failed.
func (rd *pastReader) statesIn(ctx context.Context, at Place, by Selection, refs []object.Ref, into objectsByName) (found bool, err error) {
	wanted := map[types.NamespacedName]bool{}
	for _, ref := range refs {
		wanted[nameOf(ref)] = true
	}
	err = rd.listStates(ctx, at, by, wanted, into, maxListedForFew)
	return err == nil || errors.Is(err, errFound), err
}

// listStates lists a place, and moves the wanted objects into into. It ends with errFound once all
// were found, and with errListTooLarge after most objects; 0 means any number.
func (rd *pastReader) listStates(ctx context.Context, at Place, by Selection, wanted map[types.NamespacedName]bool, into objectsByName, most int) error {
	seen := 0
	return rd.listAt(ctx, at, by, func(o *object.Object) error {
		if name := nameOf(o.Ref); wanted[name] {
			into[name] = o
			delete(wanted, name)
		}
		if seen++; len(wanted) == 0 {
			return errFound
		} else if seen == most {
			return errListTooLarge
		}
		return nil
	})
}

// statesBy reads the objects one by one if there are at most few, and lists them otherwise.
func (rd *pastReader) statesBy(ctx context.Context, at Place, refs []object.Ref, by Selection, few int) (objectsByName, error) {
	got := objectsByName{}
	if len(refs) <= few {
		return got, readEach(refs, got, func(ref object.Ref) (*object.Object, error) { return rd.stateAt(ctx, at, ref, by.Revision) })
	}
	wanted := map[types.NamespacedName]bool{}
	spaces := map[string]bool{}
	for _, ref := range refs {
		wanted[nameOf(ref)], spaces[ref.Namespace] = true, true
	}
	places := []Place{at}
	if at.Namespace == "" && len(spaces) <= maxListedNamespaces {
		places = nil
		for ns := range spaces {
			places = append(places, Place{at.Resource, ns})
		}
		slices.SortFunc(places, comparePlaces)
	}
	for _, at := range places {
		if err := rd.listStates(ctx, at, by, wanted, got, 0); err != nil && !errors.Is(err, errFound) {
			return got, err
		}
	}
	return got, nil
}

// readEach reads objects one by one, some at a time, and adds those that exist to into.
func readEach(refs []object.Ref, into objectsByName, read func(object.Ref) (*object.Object, error)) error {
	states := make([]*object.Object, len(refs))
	failed := make([]error, len(refs))
	tasks := make([]func(), len(refs))
	for i, ref := range refs {
		tasks[i] = func() { states[i], failed[i] = read(ref) }
	}
	runAll(tasks)
	for i, o := range states {
		if o != nil {
			into[nameOf(refs[i])] = o
		}
	}
	return errors.Join(failed...)
}

// stateAt returns the object with the name of ref at a revision; nil if there was none.
func (rd *pastReader) stateAt(ctx context.Context, at Place, ref object.Ref, revision uint64) (*object.Object, error) {
	var state *object.Object
	at.Namespace = ref.Namespace
	_, err := rd.List(ctx, at, Selection{Fields: fields.OneTermEqualSelector("metadata.name", ref.Name).String(), Revision: revision}, Listing{
		Object: func(o *object.Object) error {
			if o.Name == ref.Name {
				state = o
			}
			return nil
		},
	})
	return state, err
}

// shownAt returns the revision of a list of a place: the requested one, or the present one for 0.
func (c *Client) shownAt(ctx context.Context, at Place, revision uint64) (uint64, error) {
	rd := newListReader(at, Listing{})
	rd.whole = false
	page, _, err := c.page(ctx, listRequest(at, Selection{Revision: revision}, 1, "", acceptList), rd)
	if err != nil {
		return 0, err
	}
	shown, err := strconv.ParseUint(page.resourceVersion, 10, 64)
	if err != nil {
		return 0, &UnexpectedAnswerError{About: at.subject().String(), What: "a list with the resourceVersion " + quote(page.resourceVersion)}
	}
	return shown, nil
}

// readUnchanged reads the unchanged objects that the judgement of deletions depends on: owners,
// namespaces and CRDs, as they were at the end of the past. An object that did not exist then and
// has no changes did not exist at any time.
func (rd *pastReader) readUnchanged(ctx context.Context, record *past.Record) error {
	limited := map[schema.GroupKind]bool{} // changes of these kinds may be missing
	for i := range record.Limits {
		r := record.Limits[i].Resource
		limited[r.GroupKind()] = true
	}
	wanted := rd.unchanged(record)
	for _, some := range chunks(wanted) {
		at, err := rd.locate(some[0])
		if err != nil {
			continue
		}
		at.Namespace = ""
		then, err := rd.states(ctx, at, some, rd.to)
		if err != nil && len(some) <= maxStatesByName {
			// A user with permission to read them by name may not be allowed to list them. Absence
			// now says nothing about the past.
			_ = readEach(some, then, func(ref object.Ref) (*object.Object, error) { return rd.Get(ctx, ref) })
		}
		for _, ref := range some {
			switch o := then.find(ref); {
			case o == nil && err == nil && !limited[ref.GroupKind()]:
				record.Absent = append(record.Absent, ref)
			case o != nil && existedAtStart(o, record):
				record.Unchanged = append(record.Unchanged, o)
			}
		}
	}
	rd.readForeignOwners(ctx, record)
	return ctx.Err()
}

// maxForeignOwners is the maximum number of owners that are searched for in other namespaces.
const maxForeignOwners = 50

// readForeignOwners searches other namespaces for owners that their dependents' namespace lacks: an
// owner reference across namespaces is a reason to delete. Without permission to list all
// namespaces it finds none.
func (rd *pastReader) readForeignOwners(ctx context.Context, record *past.Record) {
	absent := map[object.Ref]bool{}
	for _, ref := range record.Absent {
		absent[ref] = true
	}
	looked := map[object.Ref]bool{}
	for i := range record.Changes {
		c := &record.Changes[i]
		if c.Type != object.Deleted && !c.Object.BeingDeleted() {
			continue
		}
		for _, owner := range c.Object.Owners {
			at, err := rd.locate(owner.In(c.Object.Namespace))
			ref := object.Ref{APIVersion: owner.APIVersion, Kind: owner.Kind, Namespace: at.Namespace, Name: owner.Name}
			if err != nil || at.Namespace == "" || !absent[ref] || looked[ref] || len(looked) == maxForeignOwners {
				continue
			}
			looked[ref] = true
			by := Selection{Fields: fields.OneTermEqualSelector("metadata.name", owner.Name).String(), Revision: c.Before(), Metadata: true}
			_, _ = rd.List(ctx, Place{Resource: at.Resource}, by, Listing{Object: func(o *object.Object) error {
				if o.UID == owner.UID {
					record.ForeignOwners = append(record.ForeignOwners, o)
				}
				return nil
			}})
		}
	}
}

// chunks splits references into runs of adjacent ones with the same kind.
func chunks(refs []object.Ref) [][]object.Ref {
	var all [][]object.Ref
	for len(refs) > 0 {
		n := slices.IndexFunc(refs, func(ref object.Ref) bool { return ref.APIVersion != refs[0].APIVersion || ref.Kind != refs[0].Kind })
		if n < 0 {
			n = len(refs)
		}
		all, refs = append(all, refs[:n]), refs[n:]
	}
	return all
}

// existedAtStart reports whether an object existed at the beginning of the past. A newer one does
// not show what existed before it.
func existedAtStart(o *object.Object, record *past.Record) bool {
	version, ok := revisionOf(o)
	return ok && version <= record.From.Revision || o.Created != 0 && o.Created < record.From.Time
}

// unchanged returns the coordinates of owners, namespaces and CRDs of deleted objects that have no
// changes, sorted.
func (rd *pastReader) unchanged(record *past.Record) []object.Ref {
	shown := map[object.Ref]bool{}
	for i := range record.Changes {
		shown[record.Changes[i].Object.Ref.WithoutUID()] = true
	}
	wanted := map[object.Ref]bool{}
	want := func(ref object.Ref) {
		at, err := rd.locate(ref)
		if err != nil {
			return
		}
		ref = object.Ref{APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: at.Namespace, Name: ref.Name}
		if !shown[ref] {
			wanted[ref] = true
		}
	}
	for i := range record.Changes {
		ch := &record.Changes[i]
		if ch.Type != object.Deleted && !ch.Object.BeingDeleted() && (ch.Old == nil || len(ch.Old.Owners) <= len(ch.Object.Owners)) {
			continue
		}
		for _, o := range []*object.Object{ch.Old, ch.Object} {
			if o == nil {
				continue
			}
			for _, ref := range past.RelevantRefs(o, record.Resources) {
				want(ref)
			}
		}
	}
	return slices.SortedFunc(maps.Keys(wanted), object.Compare)
}
