package kept

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// watching shows a recorder what the watches of a stage show.
type watching struct {
	*Recorder
	s     *stage
	clock time.Time
}

// watch begins a run in a directory.
func watch(t interface{ Fatal(...any) }, dir string, s *stage, o Keeping) *watching {
	w := &watching{s: s, clock: time.Unix(1_000_000, 0)}
	o.Dir, o.Now = dir, func() time.Time { return w.clock }
	r, err := NewRecorder(o, Cluster{UID: "here"})
	if err != nil {
		t.Fatal(err)
	}
	w.Recorder = r
	return w
}

// lists lists all kinds as of a revision.
func (w *watching) lists(at uint64) {
	w.Served(w.s.resources)
	objects := w.s.at(at)
	for _, r := range w.s.resources.All() {
		if !w.s.resources.Monitored(r) {
			continue
		}
		w.Begin(r)
		for _, o := range objects {
			if o.Kind == r.Kind && o.Group() == r.Group {
				w.Object(r, o)
			}
		}
		w.Listed(r, fmt.Sprint(at))
		w.Watching(r, true)
	}
	w.Synced()
}

func (w *watching) change(c history.Change) {
	r, err := w.s.resources.For(c.Object.APIVersion, c.Object.Kind)
	if err != nil {
		return
	}
	r, _ = w.s.resources.Preferred(r.GroupResource())
	var raw []byte
	if w.Whole(r) {
		raw = bodyOf(c.Object)
	}
	w.Change(r, object.Event{Type: c.Type, Object: c.Object}, raw)
}

// flush is called as a controller does, when some seconds have passed.
func (w *watching) flush(t interface{ Fatal(...any) }) {
	w.clock = w.clock.Add(5 * time.Second)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
}

// end has all be settled and ends the run.
func (w *watching) end(t interface{ Fatal(...any) }) {
	w.flush(t)
	w.flush(t)
	w.flush(t)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// monitored drops what no watch shows.
func (s *stage) monitored(p *history.Past) *history.Past {
	p.Changes = slices.DeleteFunc(p.Changes, func(c history.Change) bool {
		r, err := s.resources.For(c.Object.APIVersion, c.Object.Kind)
		return err != nil || !s.watchedKind(r)
	})
	p.Standing = slices.DeleteFunc(slices.Clone(p.Standing), func(o *object.Object) bool { return !s.watched(o) })
	return p
}

func (s *stage) watchedKind(r object.Resource) bool {
	p, ok := s.resources.Preferred(r.GroupResource())
	return ok && s.resources.Monitored(p) && !history.Ordinary(p)
}

// TestRecorder: what watches have shown, kind by kind in any order among them, with new segments
// begun at any time, is told as what has happened.
func TestRecorder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir := filepath.Join(os.TempDir(), fmt.Sprintf("kept-%d-%x", os.Getpid(), rapid.Uint64().Draw(t, "directory")))
		defer func() { _ = os.RemoveAll(dir) }()
		s := drawHistory(t)
		key := rapid.SampledFrom([]Key{nil, someKey}).Draw(t, "key")
		w := watch(t, dir, s, Keeping{Key: key, Secrets: true, Age: time.Hour})
		w.lists(s.begin())
		w.flush(t)
		w.flush(t)
		queues := map[string][]history.Change{}
		var kinds []string
		for _, c := range s.changes {
			if queues[c.Object.Kind] == nil {
				kinds = append(kinds, c.Object.Kind)
			}
			queues[c.Object.Kind] = append(queues[c.Object.Kind], c)
		}
		for len(kinds) > 0 {
			i := rapid.IntRange(0, len(kinds)-1).Draw(t, "kind")
			k := kinds[i]
			w.change(queues[k][0])
			if queues[k] = queues[k][1:]; len(queues[k]) == 0 {
				kinds = slices.Delete(kinds, i, i+1)
			}
			if rapid.IntRange(0, 5).Draw(t, "flush") == 0 {
				if rapid.Bool().Draw(t, "rotate") {
					w.clock = w.clock.Add(8 * time.Minute)
				}
				w.flush(t)
			}
		}
		w.end(t)
		r, err := Open(context.Background(), dir, key)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		got, err := r.Past(context.Background(), history.Window{SinceRevision: s.begin()})
		if err != nil {
			t.Fatal(err)
		}
		want := s.monitored(s.past())
		if len(want.Changes) == 0 {
			return
		}
		if a, b := tell(complete(want, got)), tell(got); a != b {
			t.Fatalf("another account (-want +got):\n%s", cmp.Diff(a, b))
		}
		if len(got.Limits) > 0 {
			t.Fatalf("limits: %+v", got.Limits)
		}
	})
}

// complete gives a past what the other one knows of places that are empty.
func complete(p, as *history.Past) *history.Past {
	p.Absent = as.Absent
	return p
}

// TestHole: what happens while nobody watches is found out afterwards, with nobody blamed for it,
// and the hole is said. Where a server fills it, there is none.
func TestHole(t *testing.T) {
	for _, bridged := range []bool{true, false} {
		s := twoDeletes(t)
		dir := t.TempDir()
		must(t, os.Chmod(dir, 0o700))
		w := watch(t, dir, s, Keeping{})
		w.lists(s.begin())
		w.end(t)
		w = watch(t, dir, s, Keeping{})
		if w.Last() != s.begin() {
			t.Fatalf("the last run is said to have seen all up to %d, want %d", w.Last(), s.begin())
		}
		past := s.past()
		w.lists(past.To.Revision)
		if bridged {
			must(t, w.Bridge(t.Context(), past, s))
		}
		w.end(t)
		r, err := Open(t.Context(), dir, nil)
		must(t, err)
		got, err := r.Past(t.Context(), history.Window{})
		must(t, err)
		a := history.Trace(got)
		var limits, unseen int
		for _, l := range got.Limits {
			if strings.Contains(l.Why, notWatched) {
				limits++
			}
		}
		for _, l := range a.Losses {
			if l.Cause.Code == history.Unseen {
				unseen++
			}
		}
		if len(a.Losses) != 3 || bridged && (limits+unseen > 0 || len(a.Requests) != 2) || !bridged && (limits == 0 || unseen != 3 || len(a.Requests) != 0) {
			t.Errorf("bridged %v: limits %+v\n%s", bridged, got.Limits, tell(got))
		}
		r.Close()
	}
}

// TestRecordedBodies: a whole object is there as it was right before it began to go; Secrets are
// only if they are asked for, and nothing is shown in the place of what is not there.
func TestRecordedBodies(t *testing.T) {
	for _, secrets := range []bool{true, false} {
		s := twoDeletes(t)
		dir := t.TempDir()
		must(t, os.Chmod(dir, 0o700))
		w := watch(t, dir, s, Keeping{Secrets: secrets})
		w.lists(s.begin())
		for _, c := range s.changes {
			w.change(c)
		}
		w.end(t)
		r, err := Open(t.Context(), dir, nil)
		must(t, err)
		for _, l := range history.Trace(s.past()).Losses {
			c := history.Collection{APIVersion: l.Object.APIVersion, Kind: l.Object.Kind, Namespace: l.Object.Namespace, Name: l.Object.Name, Revision: l.Asked - 1}
			var got []string
			err := r.Bodies(t.Context(), c, func(raw []byte) error { got = append(got, string(raw)); return nil })
			if l.Object.Is(object.Secret) && !secrets {
				if unread, ok := errors.AsType[*history.UnreadError](err); !ok || len(unread.Objects) != 1 || len(got) > 0 {
					t.Errorf("%s: %v, %v", l.Object.Ref, got, err)
				}
				continue
			}
			must(t, err)
			if len(got) != 1 || !strings.Contains(got[0], "content of "+l.Object.Name) || strings.Contains(got[0], "deletionTimestamp") {
				t.Errorf("%s: %v", l.Object.Ref, got)
			}
		}
		r.Close()
	}
}

// TestBounds: files beyond the bound are removed, oldest first, and what is left can be read.
func TestBounds(t *testing.T) {
	s := twoDeletes(t)
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o700))
	w := watch(t, dir, s, Keeping{Size: 40_000})
	w.lists(s.begin())
	revision := s.begin()
	for i := range 3000 {
		revision++
		o := &object.Object{Ref: object.ConfigMap.Ref("n", fmt.Sprintf("new%d", i)), ResourceVersion: fmt.Sprint(revision)}
		o.UID = types.UID(o.Name)
		w.change(history.Change{Revision: revision, Type: object.Added, Object: o})
		if i%100 == 0 {
			w.flush(t)
		}
	}
	w.end(t)
	list, err := segments(dir)
	must(t, err)
	var total int64
	for _, n := range list {
		info, err := os.Stat(filepath.Join(dir, nameOf(n)))
		must(t, err)
		total += info.Size()
	}
	if list[0] == 1 || total > 60_000 {
		t.Errorf("%d bytes in %v", total, list)
	}
	r, err := Open(t.Context(), dir, nil)
	must(t, err)
	defer r.Close()
	if got, err := r.Past(t.Context(), history.Window{}); err != nil || got.To.Revision != revision || len(got.Limits) > 0 {
		t.Errorf("%v, %v", got, err)
	}
}

// TestRefused: a directory of another cluster, one that others can write to, and another key.
func TestRefused(t *testing.T) {
	s := twoDeletes(t)
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o700))
	w := watch(t, dir, s, Keeping{Key: someKey})
	w.lists(s.begin())
	w.end(t)
	keeping := Keeping{Dir: dir, Now: time.Now, Key: someKey}
	if _, err := NewRecorder(keeping, Cluster{UID: "elsewhere"}); err == nil || !strings.Contains(err.Error(), "another cluster") {
		t.Error(err)
	}
	keeping.Key = Key(strings.Repeat("x", keySize))
	if _, err := NewRecorder(keeping, Cluster{UID: "here"}); !errors.Is(err, errWrongKey) {
		t.Error(err)
	}
	if _, err := Open(t.Context(), dir, nil); !errors.Is(err, errNoKey) {
		t.Error(err)
	}
	must(t, os.Chmod(dir, 0o777)) //nolint:gosec // that is refused
	if _, err := NewRecorder(keeping, Cluster{UID: "here"}); err == nil || !strings.Contains(err.Error(), "written to by others") {
		t.Error(err)
	}
}
