package kube

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"weak"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

const (
	// acceptTable makes the server print objects, as for kubectl get. A server that cannot print
	// returns an error instead of the objects.
	acceptTable = jsonType + ";as=Table;v=v1;g=meta.k8s.io"

	// maxPrintedPlaces limits the places that are printed, maxPrintedPages the pages of each.
	maxPrintedPlaces, maxPrintedPages = 64, 20
	// printTimeout is the time limit for everything.
	printTimeout = 15 * time.Second
	// maxPrintedByName is the largest number of objects of a place that are read one by one.
	// maxPrintedNamespaces is the largest number of namespaces of a kind that are listed one by
	// one.
	maxPrintedByName, maxPrintedNamespaces = 2, 3
)

// kindsWithoutStatus are kinds with many objects and a table of only names, sizes and ages.
var kindsWithoutStatus = []object.Kind{object.ConfigMap, object.Secret, object.ServiceAccount, object.Service}

// Printed has the server print objects as for kubectl get. Objects that are not printed in time are
// left out: the result is for display only and proves nothing. The number of requests is small and
// bounded. in is the snapshot of the objects. If it is the last one of the client, its lists are
// printed at their revisions, which costs the server a fraction. With nil the present state is
// printed.
//
// Upstream: kubectl/pkg/cmd/get/get.go GetOptions.transformRequests.
func (c *Client) Printed(ctx context.Context, refs []object.Ref, in *snapshot.Snapshot) map[types.UID]object.Printed {
	ctx, cancel := context.WithTimeout(ctx, printTimeout)
	defer cancel()
	places := c.toPrint(refs)
	found := make([]map[types.UID]object.Printed, len(places))
	tasks := make([]func(), len(places))
	for i := range places {
		tasks[i] = func() { found[i] = c.print(ctx, places[i], in) }
	}
	runLimited(8, tasks)
	all := map[types.UID]object.Printed{}
	for _, f := range found {
		maps.Copy(all, f)
	}
	return all
}

// printable is a place with the names of the objects to print.
type printable struct {
	Place
	names []string
}

// toPrint returns the places of the objects, those with the most objects first.
func (c *Client) toPrint(refs []object.Ref) []printable {
	byKind := map[schema.GroupResource][]printable{}
	for _, ref := range refs {
		at, err := c.locate(ref)
		if err != nil || !at.Resource.Verbs.Has(object.Get|object.List) || slices.ContainsFunc(kindsWithoutStatus, ref.Is) {
			continue
		}
		kind := at.Resource.GroupResource()
		i := slices.IndexFunc(byKind[kind], func(p printable) bool { return p.Namespace == at.Namespace })
		if i < 0 {
			i = len(byKind[kind])
			byKind[kind] = append(byKind[kind], printable{Place: at})
		}
		p := &byKind[kind][i]
		p.names = append(p.names, ref.Name)
	}
	var places []printable
	for _, in := range byKind {
		if len(in) > maxPrintedNamespaces {
			all := printable{Place: Place{Resource: in[0].Resource}}
			for _, p := range in {
				all.names = append(all.names, p.names...)
			}
			in = []printable{all}
		}
		places = append(places, in...)
	}
	slices.SortFunc(places, func(a, b printable) int {
		return cmp.Or(len(b.names)-len(a.names), strings.Compare(a.about(), b.about()))
	})
	return places[:min(len(places), maxPrintedPlaces)]
}

// print requests the objects of a place, one by one if they are few.
func (c *Client) print(ctx context.Context, p printable, in *snapshot.Snapshot) map[types.UID]object.Printed {
	found := map[types.UID]object.Printed{}
	if len(p.names) > maxPrintedByName {
		if l, ok := c.listIn(in, p.Place); ok && c.printRows(ctx, l, found) {
			return found
		}
		clear(found)
		c.printPages(ctx, p.Place, found)
		return found
	}
	for _, name := range p.names {
		about := p.subject()
		about.name = name
		var t table
		r := request{verb: http.MethodGet, path: append(p.path(), name), accept: acceptTable, about: about}
		if c.exchange(ctx, r, &t) == nil {
			t.read(found)
		}
	}
	return found
}

// printPages requests pages of a place. It stops at a page without useful columns.
func (c *Client) printPages(ctx context.Context, at Place, found map[types.UID]object.Printed) {
	token := ""
	for range maxPrintedPages {
		var t table
		if c.exchange(ctx, listRequest(at, Selection{}, pageSize, token, acceptTable), &t) != nil || !t.read(found) || t.Metadata.Continue == "" {
			return
		}
		token = t.Metadata.Continue
	}
}

// table has the fields that are read from a metav1.Table.
type table struct {
	metav1.TypeMeta
	Metadata          struct{ Continue, ResourceVersion string }
	ColumnDefinitions []struct{ Name string }
	Rows              []struct {
		Cells  []any
		Object struct{ Metadata struct{ UID types.UID } }
	}
}

// read reads the rows, and reports whether the table has a useful column.
func (t *table) read(into map[types.UID]object.Printed) bool {
	if t.Kind != "Table" || t.APIVersion != "meta.k8s.io/v1" {
		return false
	}
	ready, desired, status := t.column("Ready"), t.column("Desired"), t.column("Status")
	if status < 0 {
		status = t.column("Phase")
	}
	if ready < 0 && status < 0 {
		return false
	}
	for _, row := range t.Rows {
		p := object.Printed{Ready: cell(row.Cells, ready), Status: cell(row.Cells, status)}
		if of := cell(row.Cells, desired); of != "" {
			if _, err := strconv.Atoi(p.Ready); err == nil {
				p.Ready += "/" + of
			}
		}
		if uid := row.Object.Metadata.UID; uid != "" {
			into[uid] = p
		}
	}
	return true
}

// column returns the index of a column; -1 if there is none.
func (t *table) column(name string) int {
	for i, c := range t.ColumnDefinitions {
		if strings.EqualFold(c.Name, name) {
			return i
		}
	}
	return -1
}

// cell returns a cell as text; empty if nothing is printed.
func cell(cells []any, at int) string {
	if at < 0 || at >= len(cells) {
		return ""
	}
	switch v := cells[at].(type) {
	case string:
		if v == "<none>" || v == "<unknown>" {
			return ""
		}
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

// maxRows is the largest number of objects of a place that are printed.
const maxRows = maxPrintedPages * pageSize

// snapshotLists has the revisions of the lists of a snapshot, by place. It has only lists that
// arrived in the order of their keys.
type snapshotLists struct {
	// in is weak so that it does not keep a snapshot alive.
	in        weak.Pointer[snapshot.Snapshot]
	revisions map[string]uint64
}

// snapshotList is a list of a snapshot, with its objects in the order of the server.
type snapshotList struct {
	Place
	revision uint64
	objects  []*object.Object
}

// listIn returns the list of a place in a snapshot, if that was the last one.
func (c *Client) listIn(in *snapshot.Snapshot, at Place) (snapshotList, bool) {
	last := c.seen.Load()
	if in == nil || last == nil || last.in.Value() != in || last.revisions[at.about()] == 0 {
		return snapshotList{}, false
	}
	l := snapshotList{Place: at, revision: last.revisions[at.about()]}
	for _, o := range in.OfType(at.Resource) {
		if at.Namespace == "" || o.Namespace == at.Namespace {
			l.objects = append(l.objects, o)
		}
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
func (c *Client) printRows(ctx context.Context, l snapshotList, found map[types.UID]object.Printed) bool {
	token, rest := "", l.objects
	limit := pageSize // enough to see whether the table is useful
	for done := 0; done < maxRows; limit = maxRows - done {
		var t table
		r := listRequest(l.Place, Selection{Revision: l.revision}, int64(limit), token, acceptTable)
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
