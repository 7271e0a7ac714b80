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

// mostRows is the largest number of objects of a place that are printed.
const mostRows = mostPages * pageSize

// seen has the revisions of the lists of a snapshot, by place. It has only lists that arrived in
// the order of their keys.
type seen struct {
	// in is weak so that it does not keep a snapshot alive.
	in        weak.Pointer[snapshot.Snapshot]
	revisions map[string]uint64
}

// seenList is a list of a snapshot, with its objects in the order of the server.
type seenList struct {
	Place
	revision uint64
	objects  []*object.Object
}

// seenIn returns the list of a place in a snapshot, if that was the last one.
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

// compareKeys orders objects of a kind by their storage keys.
//
// Upstream: apiserver/pkg/registry/generic/registry/store.go NamespaceKeyFunc.
func compareKeys(a, b *object.Object) int {
	if a.Namespace == b.Namespace {
		return strings.Compare(a.Name, b.Name)
	}
	return strings.Compare(a.Namespace+"/", b.Namespace+"/")
}

// printRows prints a list at its revision, in rows without the metadata of the objects: most of a
// table's cost is the metadata with the uids. At one revision a list has the same objects in the
// same order, so the rows need none. It returns false if the response does not match the list: a
// server may have forgotten the revision, or may not support it.
func (c *Client) printRows(ctx context.Context, l seenList, found map[types.UID]object.Printed) bool {
	token, rest := "", l.objects
	limit := pageSize // enough to see whether the table is useful
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

// identify sets the uids of the rows, and reports whether the rows match the objects.
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
