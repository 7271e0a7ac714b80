package kube

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"weak"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// mostRows is how many objects of a place are printed.
const mostRows = mostPages * pageSize

// seen is at which revisions the lists of a snapshot were read, by place: those that came
// in the order of their keys.
type seen struct {
	// in holds no snapshot that nobody else needs.
	in        weak.Pointer[snapshot.Snapshot]
	revisions map[string]uint64
}

// seenList is a list as it was read: its objects in the order of the server.
type seenList struct {
	Place
	revision uint64
	objects  []*object.Object
}

// seenIn is the list of a place in a snapshot, if that was read last.
func (c *Client) seenIn(in *snapshot.Snapshot, at Place) (seenList, bool) {
	last := c.seen.Load()
	if in == nil || last == nil || last.in.Value() != in || last.revisions[at.about()] == 0 {
		return seenList{}, false
	}
	l := seenList{Place: at, revision: last.revisions[at.about()]}
	kind := object.Ref{APIVersion: at.Resource.APIVersion(), Kind: at.Resource.Kind, Namespace: at.Namespace}
	first, _ := slices.BinarySearchFunc(in.Objects, kind, func(o *object.Object, r object.Ref) int { return object.Compare(o.Ref, r) })
	for _, o := range in.Objects[first:] {
		if o.APIVersion != kind.APIVersion || o.Kind != kind.Kind || at.Namespace != "" && o.Namespace != at.Namespace {
			break
		}
		l.objects = append(l.objects, o)
	}
	slices.SortFunc(l.objects, compareKeys)
	return l, true
}

// compareKeys puts objects of a kind into the order in which a server keeps them.
//
// Upstream: apiserver/pkg/registry/generic/registry/store.go NamespaceKeyFunc.
func compareKeys(a, b *object.Object) int {
	if a.Namespace == b.Namespace {
		return strings.Compare(a.Name, b.Name)
	}
	return strings.Compare(a.Namespace+"/", b.Namespace+"/")
}

// printRows has a list printed as it was read, in rows without the metadata of their
// objects: most of what a table costs is what the uids stand in. At one revision a list has
// the same objects in the same order, so that the rows need none. It reports false where
// the answer is not about that list: a server may have forgotten the revision, or know none.
func (c *Client) printRows(ctx context.Context, l seenList, found map[types.UID]object.Printed) bool {
	token, rest := "", l.objects
	limit := pageSize // enough to know whether anything is printed that matters
	for done := 0; done < mostRows; limit = mostRows - done {
		var t table
		r := listRequest(l.Place, Selection{Revision: l.revision}, int64(limit), token, false)
		r.accept = acceptTable
		r.query.Set("includeObject", "None")
		if c.exchange(ctx, r, &t) != nil || t.Metadata.ResourceVersion != strconv.FormatUint(l.revision, 10) || !t.identify(rest) {
			return false
		}
		token, done, rest = t.Metadata.Continue, done+len(t.Rows), rest[len(t.Rows):]
		if last := token == ""; last != (len(rest) == 0) || len(t.Rows) == 0 && !last {
			return false
		}
		if !t.read(found) || token == "" {
			return true
		}
	}
	return true
}

// identify gives the rows the uids of objects, and reports whether it is these that they
// are about.
func (t *table) identify(objects []*object.Object) bool {
	name := t.column("Name")
	if len(t.Rows) > len(objects) {
		return false
	}
	for i := range t.Rows {
		if cell(t.Rows[i].Cells, name) != objects[i].Name {
			return false
		}
		t.Rows[i].Object.Metadata.UID = objects[i].UID
	}
	return true
}
