package kube

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/past"
)

// archive is a storage that lists config maps at a revision, in pages of three. Now is 1000.
type archive struct {
	// gone is the revision of each deletion, in the order of names; 0 for none.
	names []string
	gone  map[string]uint64
	// came has the revisions of creations after the beginning, began those at which deletions
	// began.
	came, began map[string]uint64
	// first is the oldest remembered revision, page the number of objects on a page; 0 means three.
	first uint64
	page  int
}

func (a *archive) serve(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	revision, first := uint64(1000), 0
	if n, err := strconv.ParseUint(q.Get("resourceVersion"), 10, 64); err == nil {
		revision = n
	}
	if token, err := base64.StdEncoding.DecodeString(q.Get("continue")); err == nil && len(token) > 0 {
		if _, err := fmt.Sscan(string(token), &revision, &first); err != nil {
			panic(err)
		}
	}
	if revision < a.first {
		refuse(410, metav1.StatusReasonExpired)(w, r)
		return
	}
	list := metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: fmt.Sprint(revision)}}
	for i, name := range a.names[first:] {
		if a.gone[name] != 0 && a.gone[name] <= revision || revision < a.came[name] || !strings.HasSuffix("metadata.name="+name, q.Get("fieldSelector")) {
			continue
		}
		if len(list.Items) == cmp.Or(a.page, 3) {
			list.Continue = base64.StdEncoding.EncodeToString(fmt.Append(nil, revision, first+i))
			break
		}
		item := metaOf(named(name), list.ResourceVersion)
		if at := a.began[name]; at != 0 && at <= revision {
			item.DeletionTimestamp = &metav1.Time{Time: time.Unix(int64(at), 0)}
		}
		list.Items = append(list.Items, item)
	}
	answer200(protobufType, wrapped(metaVersion, partialList, &list))(w, r)
}

// stored returns a storage of config maps a to j with some deletions. c and d are deleted in
// sequence.
func stored() *archive {
	a := &archive{gone: map[string]uint64{"b": 900, "c": 150, "d": 151, "i": 700}}
	for name := 'a'; name <= 'j'; name++ {
		a.names = append(a.names, string(name))
	}
	return a
}

func (a *archive) read(t *testing.T, limit func(*pastReader)) (placePast, *scripted) {
	t.Helper()
	s, c := ready(t)
	s.on(shopConfigMaps+" watch", tooOldBefore("The resourceVersion for the provided watch is too old."))
	s.on(shopConfigMaps, a.serve)
	rd := newPastReader(c, 100, 1000)
	limit(rd)
	return rd.readPlaces(context.Background(), []Place{{configMaps, "shop"}}, nil)[0], s
}

// wentBy returns the revision, or the range of revisions, of each creation and deletion.
func wentBy(changes []past.Change) map[string]string {
	text := map[string]string{}
	for _, c := range changes {
		text[fmt.Sprint(c.Type, " ", c.Object.Name)] = fmt.Sprintf("%d-%d", c.Before()+1, c.Revision)
	}
	return text
}

// TestPastOfLists: each object that a later list lacks has a deletion. For few objects it has the
// exact revision.
func TestPastOfLists(t *testing.T) {
	got, s := stored().read(t, func(*pastReader) {})
	want := map[string]string{"DELETED b": "900-900", "DELETED c": "150-150", "DELETED d": "151-151", "DELETED i": "700-700"}
	if now := wentBy(got.changes); !maps.Equal(now, want) || got.from != 100 {
		t.Errorf("from %d: %v, want %v", got.from, now, want)
	}
	if got.why == nil || !strings.Contains(got.why.Error(), "which objects were created and deleted before revision 1000") {
		t.Errorf("%v", got.why)
	}
	if n := len(s.requests("fieldSelector")) + len(s.requests("limit=500")); n > 80 {
		t.Errorf("%d requests", n)
	}
}

// TestPastBeforeDeletion: an object that was created, and whose deletion began, between two lists
// is found as it was before, too. The first list that has it shows it as being deleted.
func TestPastBeforeDeletion(t *testing.T) {
	for range 3 { // brackets are read concurrently
		a := &archive{
			names: []string{"a", "b", "c"}, gone: map[string]uint64{"a": 900, "b": 901},
			came: map[string]uint64{"a": 300, "b": 218, "c": 700}, began: map[string]uint64{"a": 302, "b": 320, "c": 701},
		}
		got, s := a.read(t, func(*pastReader) {})
		want := map[string]string{"DELETED a": "900-900", "DELETED b": "901-901", "MODIFIED a": "302-302", "MODIFIED b": "320-320", "MODIFIED c": "701-701"}
		now := wentBy(got.changes)
		for _, c := range got.changes {
			if c.Type == object.Added && c.Object.BeingDeleted() {
				t.Errorf("%s is created and being deleted at %d", c.Object.Name, c.Revision)
			}
			if c.Type == object.Modified && (c.Old == nil || c.Old.BeingDeleted()) {
				t.Errorf("the deletion of %s begins at %d with %v", c.Object.Name, c.Revision, c.Old)
			}
		}
		maps.DeleteFunc(now, func(what, _ string) bool { return strings.HasPrefix(what, "ADDED") })
		if !maps.Equal(now, want) {
			t.Errorf("%v, want %v", now, want)
		}
		if n := len(s.requests("fieldSelector")) + len(s.requests("limit=500")); n > 90 {
			t.Errorf("%d requests", n)
		}
	}
}

// TestPastOfMany: no deletion is missed however many objects are deleted at a time among other
// writes, and the number of requests does not grow with them. The list just before a known deletion
// finds objects that were created since the beginning.
func TestPastOfMany(t *testing.T) {
	for _, n := range []int{20, 320, 3000} {
		a := &archive{gone: map[string]uint64{}, came: map[string]uint64{}, page: 500}
		for i := range n {
			name := fmt.Sprintf("c%04d", i)
			a.names = append(a.names, name)
			a.came[name], a.gone[name] = uint64(410+i%20), uint64(500+i%100)
		}
		got, s := a.read(t, func(rd *pastReader) { rd.deletionStarts = []deletionStart{{450, "shop"}} })
		gone := 0
		for _, c := range got.changes {
			if c.Type != object.Deleted {
				continue
			}
			gone++
			if at := a.gone[c.Object.Name]; at <= c.Before() || at > c.Revision || c.Revision-c.Before() > closeEnough {
				t.Errorf("%s went at %d, and is said to have gone from %d to %d", c.Object.Name, at, c.Before()+1, c.Revision)
			}
		}
		if gone != n {
			t.Errorf("%d of %d", gone, n)
		}
		if asked := len(s.requests("fieldSelector")) + len(s.requests("limit=500")); asked > 120+n*20/500 {
			t.Errorf("%d requests for %d objects", asked, n)
		}
	}
}

// TestStates: several objects of a namespace cost one list; one object, and those behind the
// beginning of a large namespace, are read by name.
func TestStates(t *testing.T) {
	names := make([]string, maxListedForFew+1)
	for i := range names {
		names[i] = fmt.Sprintf("c%04d", i)
	}
	for wanted, requests := range map[string]int{"c0001": 1, "c0001 c0002 c0003": 1, "c0001 none": 2, "c0001 c0500": 2} {
		s, c := ready(t)
		s.on(shopConfigMaps, func(w http.ResponseWriter, r *http.Request) {
			if name, ok := strings.CutPrefix(r.URL.Query().Get("fieldSelector"), "metadata.name="); ok {
				if !slices.Contains(names, name) {
					listOf("100", "")(w, r)
					return
				}
				listOf("100", "", name)(w, r)
				return
			}
			listOf("100", "more", names[:maxListedForFew]...)(w, r)
		})
		var refs []object.Ref
		for name := range strings.FieldsSeq(wanted) {
			refs = append(refs, object.ConfigMap.Ref("shop", name))
		}
		got, err := newPastReader(c, 100, 1000).states(t.Context(), Place{Resource: configMaps}, refs, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, ref := range refs {
			if found := got.find(ref) != nil; found != (ref.Name != "none") {
				t.Errorf("%s: %s is found: %v", wanted, ref.Name, found)
			}
		}
		if asked := s.requests(shopConfigMaps); len(asked) != requests {
			t.Errorf("%s: %q", wanted, asked)
		}
	}
}

// TestPastThatIsForgotten: if a list is forgotten, the history begins with the next one. If all
// are, there is no history.
func TestPastThatIsForgotten(t *testing.T) {
	a := stored()
	a.first = 150
	got, _ := a.read(t, func(*pastReader) {})
	if got.from <= 150 || got.from > 250 || got.why == nil || wentBy(got.changes)["DELETED b"] != "900-900" {
		t.Errorf("from %d: %v; %v", got.from, wentBy(got.changes), got.why)
	}
	a.first = 2000
	if got, _ := a.read(t, func(*pastReader) {}); got.from != 0 || len(got.changes) != 0 || !isExpired(got.why) {
		t.Errorf("%+v", got)
	}
	got, _ = stored().read(t, func(rd *pastReader) { rd.bytes.Store(0) })
	if got.from != 0 || got.why == nil || !strings.Contains(got.why.Error(), "reading stopped after 256 MB of lists") {
		t.Errorf("%+v", got)
	}
}

// TestPastOfCRD: an object that was created in the past and deleted with its CRD is found in the
// list just before. One that was created and deleted between lists is not.
func TestPastOfCRD(t *testing.T) {
	gr := schema.GroupResource{Resource: "configmaps"}
	a := stored()
	a.came = map[string]uint64{"e": 300, "f": 599, "g": 240, "h": 500}
	a.gone = map[string]uint64{"b": 601, "e": 602, "f": 603, "g": 250, "h": 800}
	got, _ := a.read(t, func(rd *pastReader) { rd.crdDeletions = map[schema.GroupResource][]uint64{gr: {600, 700}} })
	now := wentBy(got.changes)
	maps.DeleteFunc(now, func(what, _ string) bool { return strings.HasPrefix(what, "ADDED") })
	if want := map[string]string{"DELETED b": "601-601", "DELETED e": "602-602", "DELETED f": "603-603", "DELETED h": "800-800"}; !maps.Equal(now, want) {
		t.Errorf("%v, want %v", now, want)
	}
}

// TestPastOfOtherScope: objects of a CRD with another scope cannot be read by name, and no deletion
// is invented for them.
func TestPastOfOtherScope(t *testing.T) {
	s, c := ready(t)
	everywhere := Place{object.Resource{Version: "v1", Name: "nodes", Kind: "Node", Verbs: object.AllVerbs}, ""}
	s.on("/api/v1/nodes", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("resourceVersion") == "900" {
			listOf("900", "")(w, r)
			return
		}
		listOf(r.URL.Query().Get("resourceVersion"), "", "in-a-namespace")(w, r)
	})
	if got := newPastReader(c, 100, 1000).readFromLists(context.Background(), everywhere, 900); len(got.changes) != 0 || got.from != 100 {
		t.Errorf("%+v", got)
	}
}

// TestPastEnds: a watch ends when it has sent everything up to the end. Later events are not part
// of the past.
func TestPastEnds(t *testing.T) {
	bookmark := func(version string) []byte { return event("BOOKMARK", named(""), version) }
	told := event("DELETED", named("b"), "901")
	for name, frames := range map[string][][]byte{
		"a bookmark says so":             {told, bookmark("1000")},
		"a later change shows it":        {told, event("DELETED", named("c"), "1001"), event("DELETED", named("d"), "1002")},
		"an earlier bookmark does not":   {bookmark("900"), told, bookmark("1004")},
		"the last change of the past is": {told, event("MODIFIED", named("b"), "1000"), bookmark("1000")},
	} {
		t.Run(name, func(t *testing.T) {
			s, c := ready(t)
			s.on(shopConfigMaps+" watch", watching(true, frames...)) // stays open
			s.on(shopConfigMaps, listOf("1000", ""))
			got := newPastReader(c, 100, 1000).readPlaces(context.Background(), []Place{{configMaps, "shop"}}, nil)[0]
			want := 1
			if strings.Contains(name, "last") {
				want = 2
			}
			if len(got.changes) != want || got.why != nil || got.from != 100 {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestPastWithoutBefore: if the state before an object's first change is not found, the limit says
// so.
func TestPastWithoutBefore(t *testing.T) {
	s, c := ready(t)
	s.on(shopConfigMaps+" watch", watching(true, event("MODIFIED", named("b"), "901"), event("BOOKMARK", named(""), "1000")))
	s.on(shopConfigMaps, refuse(410, metav1.StatusReasonExpired))
	got := newPastReader(c, 100, 1000).readPlaces(context.Background(), []Place{{configMaps, "shop"}}, nil)[0]
	if len(got.changes) != 1 || got.from != 100 || !isExpired(got.why) {
		t.Errorf("%+v", got)
	}
}

// TestPastThatBreaks: the changes that a watch sent before its error are kept.
func TestPastThatBreaks(t *testing.T) {
	s, c := ready(t)
	s.on(shopConfigMaps+" watch", watching(false, event("DELETED", named("b"), "901"), watchError(410, metav1.StatusReasonExpired)))
	s.on(shopConfigMaps, listOf("1000", ""))
	got := newPastReader(c, 100, 1000).readPlaces(context.Background(), []Place{{configMaps, "shop"}}, nil)[0]
	if len(got.changes) != 1 || got.from != 100 || !isExpired(got.why) {
		t.Errorf("%+v", got)
	}
}

// TestWhatStood: owners are as they were at the end of the past, whatever happened to them since.
func TestWhatStood(t *testing.T) {
	s, c := ready(t)
	a := stored()
	a.gone = map[string]uint64{"b": 1001}
	s.on(shopConfigMaps, a.serve)
	s.on(shopConfigMaps+"/b", missing(configMaps, "b"))
	s.on(shopConfigMaps+"/z", one(named("z"), "1001"))
	s.on("/api/v1/namespaces", refuse(403, metav1.StatusReasonForbidden))
	s.on("/api/v1/namespaces/shop", missing(namespaces, "shop"))
	lost := &object.Object{Ref: object.ConfigMap.Ref("shop", "lost")}
	for _, name := range []string{"a", "b", "z"} {
		lost.Owners = append(lost.Owners, object.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: name, UID: named(name).UID})
	}
	record := &past.Record{
		From: past.Moment{Revision: 1000}, To: past.Moment{Revision: 1000}, Resources: c.discovery.Load().Resources,
		Changes: []past.Change{{Revision: 1000, Type: object.Deleted, Object: lost}},
	}
	if err := newPastReader(c, 1000, 1000).readUnchanged(context.Background(), record); err != nil {
		t.Fatal(err)
	}
	var text []string
	for _, o := range record.Unchanged {
		text = append(text, "stands "+o.Name)
	}
	for _, ref := range record.Absent {
		text = append(text, "absent "+ref.Name)
	}
	same(t, text, "stands a", "stands b", "absent z") // the namespace is unknown
}
