package kube

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/past"
)

// tooOldBefore refuses a watch of revisions that the server no longer remembers.
func tooOldBefore(message string) http.HandlerFunc {
	return refuse(410, metav1.StatusReasonExpired, func(s *metav1.Status) { s.Message = message })
}

// listsOfPast answers lists of a storage that has an object up to a revision. Now is 1000.
func listsOfPast(name string, last uint64) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		revision, _ := strconv.ParseUint(r.URL.Query().Get("resourceVersion"), 10, 64)
		if revision == 0 {
			revision = 1000
		}
		var names []string
		if revision <= last {
			names = []string{name}
		}
		listOf(fmt.Sprint(revision), "", names...)(w, r)
	}
}

// quietClock returns a clock that advances by twice the quiet period with each call, so that every
// watch looks idle. It is safe for concurrent use.
func quietClock() func() time.Time {
	began := time.Now()
	var calls atomic.Int64
	return func() time.Time { return began.Add(time.Duration(calls.Add(1)) * 2 * replayQuiet) }
}

// TestPastOfWhatWasForgotten: lists of the storage show deletions before the range of a watch, and
// the limit says that they may be incomplete.
func TestPastOfWhatWasForgotten(t *testing.T) {
	behind := watching(false, event("ADDED", named("b"), "900"), event("DELETED", named("b"), "901"))
	const unseen = "does not remember which objects were created and deleted before revision "
	watched := []string{"DELETED a 151", "ADDED b 900", "DELETED b 901"}
	for name, x := range map[string]struct {
		watches []http.HandlerFunc
		list    http.HandlerFunc
		changes []string
		from    uint64
		why     string
	}{
		"it is remembered": {watches: []http.HandlerFunc{behind}, changes: watched[1:], from: 100},
		"it begins later":  {watches: []http.HandlerFunc{tooOldBefore("too old resource version: 100 (893)"), behind}, changes: watched, from: 893, why: unseen + "893"},
		"of two servers one knows less": {watches: []http.HandlerFunc{
			tooOldBefore("too old resource version: 100 (500)"), tooOldBefore("too old resource version: 500 (893)"), behind,
		}, changes: watched, from: 893, why: unseen + "893"},
		"it does not say since when": {watches: []http.HandlerFunc{tooOldBefore("The resourceVersion for the provided watch is too old.")},
			changes: watched[:1], from: 100, why: unseen + "1000"},
		"it says nonsense":         {watches: []http.HandlerFunc{tooOldBefore("too old resource version: 100 (99999999999999999999)")}, changes: watched[:1], from: 100, why: unseen + "1000"},
		"it never gets further":    {watches: []http.HandlerFunc{tooOldBefore("too old resource version: 100 (100)")}, changes: watched[:1], from: 100, why: unseen + "1000"},
		"it fails the second time": {watches: []http.HandlerFunc{tooOldBefore("too old resource version: 100 (893)"), refuse(403, metav1.StatusReasonForbidden)}, changes: watched[:1], from: 100, why: unseen + "1000"},
		"nor is there a list of then": {watches: []http.HandlerFunc{tooOldBefore("too old resource version: 100 (893)"), behind},
			list: refuse(410, metav1.StatusReasonExpired), changes: watched[1:], from: 893, why: "Expired it is"},
	} {
		t.Run(name, func(t *testing.T) {
			s, c := ready(t)
			c.now = quietClock()
			s.on(shopConfigMaps+" watch", x.watches...)
			s.on(shopConfigMaps, listsOfPast("a", 150))
			if x.list != nil {
				s.on(shopConfigMaps, x.list)
			}
			got := newPastReader(c, 100, 1000).readPlaces(context.Background(), []Place{{configMaps, "shop"}}, nil)[0]
			var changes []string
			for _, ch := range got.changes {
				changes = append(changes, fmt.Sprintf("%s %s %d", strings.ToUpper(fmt.Sprint(ch.Type)), ch.Object.Name, ch.Revision))
			}
			if diff := cmp.Diff(x.changes, changes); diff != "" || got.from != x.from {
				t.Errorf("from %d, want %d; changes (-want +got):\n%s", got.from, x.from, diff)
			}
			if (got.why == nil) != (x.why == "") || got.why != nil && !strings.Contains(got.why.Error(), x.why) {
				t.Errorf("why: %v, want %q", got.why, x.why)
			}
		})
	}
}

// TestPastWithoutTheLeases: without permission to read the control plane's leases a namespace still
// has a past, without times.
func TestPastWithoutTheLeases(t *testing.T) {
	forbidden := refuse(403, metav1.StatusReasonForbidden)
	leases := "/" + strings.Join(leasePlace.path(), "/")
	for _, own := range []bool{true, false} {
		t.Run(fmt.Sprint(own), func(t *testing.T) {
			s, c := serve(t)
			c.now = quietClock()
			s.serves(nil, configMaps)
			s.on(leases, forbidden)
			s.on(shopConfigMaps, forbidden)
			s.on(shopConfigMaps+" watch", watching(false, event("ADDED", named("b"), "900"), event("DELETED", named("b"), "901")))
			if own {
				s.on(shopConfigMaps, listsOfPast("a", 1000))
			}
			record, err := c.Past(context.Background(), past.Window{Namespaces: []string{"shop"}})
			if !own {
				if err == nil || !strings.Contains(err.Error(), "Forbidden it is") {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if record.From.Revision != 1 || record.To.Revision != 1000 || record.From.Time != 0 || record.To.Time != 0 || len(record.Changes) != 2 {
				t.Errorf("%+v", record)
			}
			if i := slices.IndexFunc(record.Limits, func(l past.Limit) bool { return l.Resource.Is(object.Lease) }); i < 0 {
				t.Errorf("limits %+v", record.Limits)
			}
		})
	}
}

// TestEndsOf: each incarnation of a CRD ends once, just before its deletion began.
func TestEndsOf(t *testing.T) {
	crd := func(uid types.UID, deleted int64) *object.Object {
		o := &object.Object{Ref: object.CRD.Ref("", "lamps.example.com")}
		o.UID = uid
		o.Edit().Facts = &object.CRDFacts{Group: "example.com", Plural: "lamps"}
		o.Edit().DeletionTimestamp = deleted
		return o
	}
	ends := crdDeletionsIn([]past.Change{
		{Revision: 10, Type: object.Deleted, Object: crd("before", 1), Old: crd("before", 1)},
		{Revision: 20, Type: object.Added, Object: crd("first", 0)},
		{Revision: 30, Type: object.Modified, Object: crd("first", 2), Old: crd("first", 0)},
		{Revision: 35, Type: object.Deleted, Object: crd("first", 2), Old: crd("first", 2)},
		{Revision: 40, Type: object.Added, Object: crd("second", 0)},
		{Revision: 50, Type: object.Deleted, Object: crd("second", 0)},
		{Revision: 60, Type: object.Added, Object: crd("third", 0)},
	})
	if got := ends[schema.GroupResource{Group: "example.com", Resource: "lamps"}]; !slices.Equal(got, []uint64{29, 49}) || len(ends) != 1 {
		t.Errorf("%v", ends)
	}
}
