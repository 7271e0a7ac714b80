package past

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	_ "github.com/kubectl-gc/kubectl-gc/internal/codec/all"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// saved returns a past as a file.
func saved(t interface{ Fatal(...any) }, dir string, s *stage, record *Record, o SaveOptions) string {
	path := filepath.Join(dir, "saved")
	f, err := os.Create(path)
	if err == nil {
		_, err = Save(context.Background(), f, record, s, o)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var (
	sameObjects = cmp.Comparer(func(a, b *object.Object) bool { return a == b || a != nil && b != nil && object.Equal(a, b) })
	sameClocks  = cmp.Comparer(func(a, b Clock) bool { return slices.Equal(a.Ticks(), b.Ticks()) })
	sameKinds   = cmp.Comparer(func(a, b *object.Resources) bool { return cmp.Equal(a.All(), b.All()) })
)

// TestSave: any past and its account are the same after a round trip through a file, and the whole
// objects are those of the server.
func TestSave(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		s := drawHistory(t)
		record := s.past()
		record.Clock = NewClock([]Moment{{Revision: record.From.Revision, Time: 100}, {Revision: record.To.Revision + 1, Time: 200}})
		record.From, record.To = record.Clock.At(record.From.Revision), record.Clock.At(record.To.Revision)
		if rapid.Bool().Draw(t, "limit") {
			record.Limits = []Limit{{Resource: object.Pod.Resource(), From: Moment{Revision: record.From.Revision}, Why: "it has holes"}, {Resource: object.ConfigMap.Resource(), Why: "forbidden"}}
		}
		record.Absent = []object.Ref{object.Node.Ref("", "nowhere")}
		slices.SortFunc(record.Unchanged, func(a, b *object.Object) int { return object.Compare(a.Ref, b.Ref) })
		r, err := OpenFile(context.Background(), saved(t, dir, s, record, SaveOptions{Secrets: true, Cluster: Cluster{UID: "here"}}), snapshot.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Past(context.Background(), Window{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(record, got, sameObjects, sameClocks, sameKinds); diff != "" {
			t.Fatalf("another past (-want +got):\n%s", diff)
		}
		if want, got := tell(record), tell(got); want != got {
			t.Fatalf("another account:\n%s\nwant:\n%s", got, want)
		}
		checkBodies(t, s, r, record)
	})
}

// checkBodies checks that the whole object before each loss is in the file.
func checkBodies(t *rapid.T, s *stage, r *File, record *Record) {
	for _, l := range Trace(record).Losses {
		at := l.Began - min(1, l.Began)
		if at < record.From.Revision {
			continue
		}
		c := Collection{APIVersion: l.Object.APIVersion, Kind: l.Object.Kind, Namespace: l.Object.Namespace, Name: l.Object.Name, Revision: at}
		if diff := cmp.Diff(bodies(t, s, c), bodies(t, r, c)); diff != "" {
			t.Fatalf("%s at %d (-want +got):\n%s", l.Object.Ref, at, diff)
		}
	}
}

func bodies(t *rapid.T, from Source, c Collection) []string {
	var list []string
	if err := from.Bodies(context.Background(), c, func(raw []byte) error { list = append(list, string(raw)); return nil }); err != nil {
		t.Fatalf("%+v: %v", c, err)
	}
	return list
}

// TestDamage: a truncated file is refused, and one with a flipped bit is never read as another
// past.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	s := twoDeletes(t)
	want := tell(s.past())
	whole, err := os.ReadFile(saved(t, dir, s, s.past(), SaveOptions{}))
	must(t, err)
	path := filepath.Join(dir, "damaged")
	for n := 0; n < len(whole); n += 1 + n%7 {
		must(t, os.WriteFile(path, whole[:n], 0o600))
		if _, err := OpenFile(context.Background(), path, snapshot.Options{}); err == nil {
			t.Errorf("cut off at %d of %d: not noticed", n, len(whole))
		}
		text := bytes.Clone(whole)
		text[n] ^= 1 << (n % 8)
		must(t, os.WriteFile(path, text, 0o600))
		if r, err := OpenFile(context.Background(), path, snapshot.Options{}); err == nil {
			record, err := r.Past(context.Background(), Window{})
			must(t, err)
			if tell(record) != want {
				t.Errorf("with another byte %d it is another past", n)
			}
		}
	}
	must(t, os.WriteFile(path, append(bytes.Clone(whole), whole...), 0o600))
	if _, err := OpenFile(context.Background(), path, snapshot.Options{}); err == nil {
		t.Error("a second file behind the first: not noticed")
	}
}

// TestLimits: a history is bounded as a dump is, and a limit is never called damage.
func TestFileLimits(t *testing.T) {
	dir := t.TempDir()
	s := twoDeletes(t)
	whole := saved(t, dir, s, s.past(), SaveOptions{})
	asked := 0
	for name, c := range map[string]struct {
		options snapshot.Options
		body    int
		err     error
	}{
		"usual":           {snapshot.Options{}, 1 << 10, nil},
		"memory is asked": {snapshot.Options{Memory: func(int64, int, snapshot.Limits) error { asked++; return nil }}, 1 << 20, nil},
		"no memory":       {snapshot.Options{Memory: func(int64, int, snapshot.Limits) error { return snapshot.ErrLimit }}, 1 << 20, snapshot.ErrLimit},
		"a long line":     {snapshot.Options{Limits: snapshot.Limits{MemoryBytes: 1 << 20}}, 1 << 20, snapshot.ErrLimit},
		"a large file":    {snapshot.Options{Limits: snapshot.Limits{TotalBytes: 1 << 19}}, 1 << 20, snapshot.ErrSize},
	} {
		path := filepath.Join(dir, "large")
		out, err := os.Create(path)
		must(t, err)
		w, err := newWriter(out)
		must(t, err)
		w.add(header{Format: formatVersion, From: Moment{Revision: 1}, To: Moment{Revision: 9}})
		text := `{"metadata":{"uid":"u"},"data":"` + strings.Repeat("x", c.body) + `"}`
		w.add(entry{Body: &savedBody{Kind: savedKind{Kind: "Pod"}, From: 1, Until: 2, Text: []byte(text)}})
		must(t, w.end())
		must(t, out.Close())
		if _, err := OpenFile(context.Background(), path, c.options); !errors.Is(err, c.err) {
			t.Errorf("%s: %v, want %v", name, err, c.err)
		}
	}
	if asked == 0 {
		t.Error("nobody asked for memory")
	}
	if is, err := IsFile(whole); !is || err != nil {
		t.Errorf("a history is none: %v", err)
	}
}

// TestWindow: a part of a past begins later. Earlier changes become standing objects, and a limit
// that ended before is dropped.
func TestFileWindow(t *testing.T) {
	s := twoDeletes(t)
	record := s.past()
	first, last := record.Changes[0].Revision, record.To.Revision
	record.Limits = []Limit{
		{Resource: object.Pod.Resource(), From: Moment{Revision: first}, Why: "compacted"},
		{Resource: object.ConfigMap.Resource(), Why: "forbidden"},
	}
	r, err := OpenFile(context.Background(), saved(t, t.TempDir(), s, record, SaveOptions{}), snapshot.Options{})
	must(t, err)
	for since, want := range map[uint64]struct{ standing, changes, limits int }{
		0:        {3, len(record.Changes), 2},
		last - 1: {2, 1, 1},
		last:     {1, 0, 1},
	} {
		p, err := r.Past(context.Background(), Window{SinceRevision: since})
		must(t, err)
		if len(p.Unchanged) != want.standing || len(p.Changes) != want.changes || len(p.Limits) != want.limits {
			t.Errorf("since %d: %d objects, %d changes, limits %v, want %v", since, len(p.Unchanged), len(p.Changes), p.Limits, want)
		}
	}
	if _, err := r.Past(context.Background(), Window{SinceRevision: last + 1}); err == nil {
		t.Error("no error for a window behind the end")
	}
}

// TestSecretsInHistory: a history has the content of Secrets only on request.
func TestSecretsInHistory(t *testing.T) {
	s := twoDeletes(t)
	record := s.past()
	c := Collection{APIVersion: "v1", Kind: "Secret", Namespace: "n", Name: "kept", Revision: record.To.Revision - 1}
	for _, wanted := range []bool{false, true} {
		r, err := OpenFile(context.Background(), saved(t, t.TempDir(), s, record, SaveOptions{Secrets: wanted}), snapshot.Options{})
		must(t, err)
		var got []string
		err = r.Bodies(context.Background(), c, func(raw []byte) error { got = append(got, string(raw)); return nil })
		if (len(got) == 1) != wanted || (err == nil) != wanted {
			t.Errorf("asked for: %t, content %q, %v", wanted, got, err)
		}
	}
}

// TestIs: a history is recognized by its content, and a file of an older version is refused by
// number.
func TestIs(t *testing.T) {
	dir := t.TempDir()
	s := twoDeletes(t)
	path := saved(t, dir, s, s.past(), SaveOptions{})
	if is, err := IsFile(path); !is || err != nil {
		t.Errorf("%t, %v", is, err)
	}
	for text, want := range map[string]bool{"": false, "{}": false, `{"kind":"PodList","items":[]}`: false, magic + `1,"id":"aWQ="}` + "\n": true} {
		other := filepath.Join(dir, "other")
		must(t, os.WriteFile(other, []byte(text), 0o600))
		if is, err := IsFile(other); is != want || err != nil {
			t.Errorf("%q: %t, %v", text, is, err)
		}
		if _, err := OpenFile(context.Background(), other, snapshot.Options{}); err == nil || want && !strings.Contains(err.Error(), "format version is 1") {
			t.Errorf("%q: error %v", text, err)
		}
	}
}
