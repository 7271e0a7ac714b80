package kube

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/quick"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// archive is a storage that shows config maps as of a revision, in pages of three. Now is 1000.
type archive struct {
	// gone says when each went, in the order of their names; 0 for not at all.
	names []string
	gone  map[string]uint64
	// came says so of those that were not there all the time.
	came map[string]uint64
	// expires is of which revision the second page is not shown any more.
	expires uint64
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
	if first > 0 && revision == a.expires {
		refuse(410, metav1.StatusReasonExpired)(w, r)
		return
	}
	var shown []string
	token := ""
	for i, name := range a.names[first:] {
		if a.gone[name] != 0 && a.gone[name] <= revision || revision < a.came[name] || !strings.HasSuffix("metadata.name="+name, q.Get("fieldSelector")) {
			continue
		}
		if len(shown) == 3 {
			token = base64.StdEncoding.EncodeToString(fmt.Append(nil, revision, first+i))
			break
		}
		shown = append(shown, name)
	}
	listOf(fmt.Sprint(revision), token, shown...)(w, r)
}

// stored is a storage of config maps a to j, of which some went; c and d one after the other.
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
	return rd.read(context.Background(), []Place{{configMaps, "shop"}}, nil)[0], s
}

func told(changes []history.Change) string {
	var text []string
	for _, ch := range changes {
		text = append(text, fmt.Sprint(ch.Object.Name, ch.Revision))
	}
	return strings.Join(text, " ")
}

// TestPastIsBounded: where a list breaks off, or enough was read, what was read is kept and the rest
// is said to be missing.
func TestPastIsBounded(t *testing.T) {
	all := func(*pastReader) {}
	for name, x := range map[string]struct {
		limit   func(*pastReader)
		expires uint64
		changes string
		from    uint64
		why     string
	}{
		"all of it":                  {limit: all, changes: "c150 d151 i700 b900", from: 100, why: "what came and went before revision 1000"},
		"the list of then breaks":    {limit: all, expires: 100, changes: "c150 b900", from: 100, why: "Expired it is"},
		"the list of the end breaks": {limit: all, expires: 1000, changes: "c150 d151 b900", from: 100, why: "Expired it is"},
		"too many bytes":             {limit: func(rd *pastReader) { rd.bytes = 0 }, why: "reading stopped after 256 MB of lists"},
		"too many requests":          {limit: func(rd *pastReader) { rd.probes = 20 }, from: 100, why: "4 objects went before revision 1000; it would take too many requests to find out when 4 of them did"},
	} {
		t.Run(name, func(t *testing.T) {
			a := stored()
			a.expires = x.expires
			got, _ := a.read(t, x.limit)
			if told(got.changes) != x.changes || got.from != x.from || got.why == nil || !strings.Contains(got.why.Error(), x.why) {
				t.Errorf("from %d: %s; %v", got.from, told(got.changes), got.why)
			}
		})
	}
}

// TestPastInPages: states are listed in pages, as metadata, and single ones are asked for less often
// where the one before went just then.
func TestPastInPages(t *testing.T) {
	got, s := stored().read(t, func(*pastReader) {})
	if n := len(s.requests("fieldSelector")); n > 40 {
		t.Errorf("%d states were asked for", n)
	}
	if n := len(s.requests("limit=500")); n != 4+2 || len(s.requests("continue")) != 3+2-1 {
		t.Errorf("%q", s.requests("limit"))
	}
	if len(got.changes) != 4 {
		t.Errorf("%+v", got.changes)
	}
}

// TestFirstOf: wherever something begins to hold, it is found.
func TestFirstOf(t *testing.T) {
	if err := quick.Check(func(low, length, at, near uint16) bool {
		from, to := uint64(low), uint64(low)+uint64(length)+1
		begins := from + 1 + uint64(at)%(to-from)
		asked := 0
		got, err := firstOf(from, to, uint64(near), func(revision uint64) (bool, error) {
			asked++
			if revision <= from || revision >= to {
				t.Errorf("%d of %d to %d", revision, from, to)
			}
			return revision >= begins, nil
		})
		return err == nil && got == begins && asked < 40
	}, nil); err != nil {
		t.Error(err)
	}
}

// TestPastEnds: a watch is over when it has told all up to the end, and what it tells of later is
// not part of the past.
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
			s.on(shopConfigMaps+" watch", watching(true, frames...)) // it stays open
			s.on(shopConfigMaps, listOf("1000", ""))
			got := newPastReader(c, 100, 1000).read(context.Background(), []Place{{configMaps, "shop"}}, nil)[0]
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

// TestPastWithoutBefore: where nobody shows what an object was before its first change, it is said.
func TestPastWithoutBefore(t *testing.T) {
	s, c := ready(t)
	s.on(shopConfigMaps+" watch", watching(true, event("MODIFIED", named("b"), "901"), event("BOOKMARK", named(""), "1000")))
	s.on(shopConfigMaps, refuse(410, metav1.StatusReasonExpired))
	got := newPastReader(c, 100, 1000).read(context.Background(), []Place{{configMaps, "shop"}}, nil)[0]
	if len(got.changes) != 1 || got.from != 100 || !expired(got.why) {
		t.Errorf("%+v", got)
	}
}

// TestPastThatBreaks: what a watch has told before it failed is kept.
func TestPastThatBreaks(t *testing.T) {
	s, c := ready(t)
	s.on(shopConfigMaps+" watch", watching(false, event("DELETED", named("b"), "901"), watchError(410, metav1.StatusReasonExpired)))
	s.on(shopConfigMaps, listOf("1000", ""))
	got := newPastReader(c, 100, 1000).read(context.Background(), []Place{{configMaps, "shop"}}, nil)[0]
	if len(got.changes) != 1 || got.from != 100 || !expired(got.why) {
		t.Errorf("%+v", got)
	}
}

// TestWhatStood: owners are as they were at the end of the past, whatever has come of them since.
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
	past := &history.Past{
		From: history.Moment{Revision: 1000}, To: history.Moment{Revision: 1000}, Resources: c.discovery.Load().Resources,
		Changes: []history.Change{{Revision: 1000, Type: object.Deleted, Object: lost}},
	}
	if err := newPastReader(c, 1000, 1000).stand(context.Background(), past); err != nil {
		t.Fatal(err)
	}
	var text []string
	for _, o := range past.Standing {
		text = append(text, "stands "+o.Name)
	}
	for _, ref := range past.Absent {
		text = append(text, "absent "+ref.Name)
	}
	same(t, text, "stands a", "stands b", "absent z") // and of the namespace nothing is known
}
