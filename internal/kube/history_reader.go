package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// pastReader reads what a server remembers between two revisions. It reads states of the past from
// the storage, one kind at a time, in pages, and up to a limit of bytes for all kinds together.
type pastReader struct {
	*Client
	from, to uint64
	// bytes is the number of bytes of lists that may still be read.
	bytes atomic.Int64
	// ends are the last revisions before CRDs began to be deleted.
	ends map[schema.GroupResource][]uint64
	// roots are the deletions that are known so far. events has the revisions of all writes of a
	// deletion by object.
	roots  []root
	events map[object.Coordinates][]uint64
}

const mostBytes = 256 << 20

func newPastReader(c *Client, from, to uint64) *pastReader {
	rd := &pastReader{Client: c, from: from, to: to, events: map[object.Coordinates][]uint64{}}
	rd.bytes.Store(mostBytes)
	return rd
}

// fewByName is the largest number of objects of a kind that are read by name. fewSpaces is the
// largest number of namespaces that are listed one by one.
const (
	fewByName = 100
	fewSpaces = 4
)

// errFound ends a list early because everything wanted was found.
var errFound = errors.New("all was found")

// listed lists a place as it was at a revision, until the byte limit is reached. What it passes to
// take before an error is valid but incomplete.
func (rd *pastReader) listed(ctx context.Context, at Place, by Selection, take func(*object.Object) error) error {
	limit := rd.chunk
	if limit == 0 {
		limit = pageSize
	}
	_, err := rd.list(ctx, at, by, Listing{
		Bytes: func(n int) { rd.bytes.Add(int64(-n)) },
		Object: func(o *object.Object) error {
			if rd.bytes.Load() < 0 {
				return fmt.Errorf("%s: reading stopped after %d MB of lists", at.subject(), mostBytes>>20)
			}
			return take(o)
		},
	}, limit)
	if refusal, ok := errors.AsType[refusal](err); ok {
		return refusal.error
	}
	return err
}

// standing has objects of one kind by namespace and name.
type standing map[types.NamespacedName]*object.Object

func (s standing) of(ref object.Ref) *object.Object { return s[nameOf(ref)] }

func nameOf(ref object.Ref) types.NamespacedName {
	return types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
}

// states returns the objects with these names at a revision, whatever their UID. Without an error,
// missing objects did not exist.
func (rd *pastReader) states(ctx context.Context, at Place, refs []object.Ref, revision uint64) (standing, error) {
	return rd.statesBy(ctx, at, refs, Selection{Revision: revision}, fewByName)
}

// statesBy reads the objects one by one if there are at most few, and lists them otherwise.
func (rd *pastReader) statesBy(ctx context.Context, at Place, refs []object.Ref, by Selection, few int) (standing, error) {
	got := standing{}
	if len(refs) <= few {
		return got, rd.byName(ctx, at, refs, by.Revision, got)
	}
	wanted := map[types.NamespacedName]bool{}
	spaces := map[string]bool{}
	for _, ref := range refs {
		wanted[nameOf(ref)], spaces[ref.Namespace] = true, true
	}
	places := []Place{at}
	if at.Namespace == "" && len(spaces) <= fewSpaces {
		places = nil
		for ns := range spaces {
			places = append(places, Place{at.Resource, ns})
		}
		slices.SortFunc(places, comparePlaces)
	}
	for _, at := range places {
		err := rd.listed(ctx, at, by, func(o *object.Object) error {
			if name := nameOf(o.Ref); wanted[name] {
				got[name] = o
			}
			if len(got) == len(wanted) {
				return errFound
			}
			return nil
		})
		if err != nil && !errors.Is(err, errFound) {
			return got, err
		}
	}
	return got, nil
}

// byName reads each object.
func (rd *pastReader) byName(ctx context.Context, at Place, refs []object.Ref, revision uint64, into standing) error {
	states := make([]*object.Object, len(refs))
	failed := make([]error, len(refs))
	tasks := make([]func(), len(refs))
	for i, ref := range refs {
		tasks[i] = func() { states[i], failed[i] = rd.stateAt(ctx, at, ref, revision) }
	}
	besides(tasks)
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
	page, _, err := c.page(ctx, listRequest(at, Selection{Revision: revision}, 1, "", rd.whole), rd)
	if err != nil {
		return 0, err
	}
	shown, err := strconv.ParseUint(page.resourceVersion, 10, 64)
	if err != nil {
		return 0, &UnexpectedAnswerError{About: at.subject().String(), What: "a list with the resourceVersion " + quote(page.resourceVersion)}
	}
	return shown, nil
}
