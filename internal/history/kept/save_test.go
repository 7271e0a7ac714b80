package kept

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/private"
)

var someKey = Key("0123456789abcdef0123456789abcdef")

// saved is a past as a file has it.
func saved(t interface{ Fatal(...any) }, dir string, s *stage, past *history.Past, o Saving) string {
	path := filepath.Join(dir, "saved")
	if err := private.Whole(path, func(f private.File) error {
		_, err := Save(context.Background(), f, past, s, o)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return path
}

var (
	sameObjects = cmp.Comparer(func(a, b *object.Object) bool { return a == b || a != nil && b != nil && object.Equal(a, b) })
	sameClocks  = cmp.Comparer(func(a, b history.Clock) bool { return slices.Equal(a.Ticks(), b.Ticks()) })
	sameKinds   = cmp.Comparer(func(a, b *object.Resources) bool { return cmp.Equal(a.All(), b.All()) })
)

// TestSave: any past is the same past when it has been in a file, and so is the account of it;
// and whole objects are those that the server has shown.
func TestSave(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		s := drawHistory(t)
		past := s.past()
		past.Clock = history.NewClock([]history.Moment{{Revision: past.From.Revision, Time: 100}, {Revision: past.To.Revision + 1, Time: 200}})
		past.From, past.To = past.Clock.At(past.From.Revision), past.Clock.At(past.To.Revision)
		if rapid.Bool().Draw(t, "limit") {
			past.Limits = []history.Limit{{Resource: object.Pod.Resource(), From: history.Moment{Revision: past.From.Revision}, Why: "it has holes"}, {Resource: object.ConfigMap.Resource(), Why: "forbidden"}}
		}
		past.Absent = []object.Ref{object.Node.Ref("", "nowhere")}
		slices.SortFunc(past.Standing, func(a, b *object.Object) int { return object.Compare(a.Ref, b.Ref) })
		key := rapid.SampledFrom([]Key{nil, someKey}).Draw(t, "key")
		r, err := Open(context.Background(), saved(t, dir, s, past, Saving{Key: key, Secrets: true, Cluster: Cluster{UID: "here"}}), key)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		got, err := r.Past(context.Background(), history.Window{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(past, got, sameObjects, sameClocks, sameKinds); diff != "" {
			t.Fatalf("another past (-want +got):\n%s", diff)
		}
		if want, got := tell(past), tell(got); want != got {
			t.Fatalf("another account:\n%s\nwant:\n%s", got, want)
		}
		checkBodies(t, s, r, past)
	})
}

// checkBodies sees that of each loss the whole object is there as it was before.
func checkBodies(t *rapid.T, s *stage, r *Record, past *history.Past) {
	for _, l := range history.Trace(past).Losses {
		at := l.Asked - min(1, l.Asked)
		if at < past.From.Revision {
			continue
		}
		c := history.Collection{APIVersion: l.Object.APIVersion, Kind: l.Object.Kind, Namespace: l.Object.Namespace, Name: l.Object.Name, Revision: at}
		if diff := cmp.Diff(bodies(t, s, c), bodies(t, r, c)); diff != "" {
			t.Fatalf("%s at %d (-want +got):\n%s", l.Object.Ref, at, diff)
		}
	}
}

func bodies(t *rapid.T, from history.Record, c history.Collection) []string {
	var list []string
	if err := from.Bodies(context.Background(), c, func(raw []byte) error { list = append(list, string(raw)); return nil }); err != nil {
		t.Fatalf("%+v: %v", c, err)
	}
	return list
}

// TestTorn: wherever a crash ends a file, what was whole is read, and never anything else.
func TestTorn(t *testing.T) {
	dir := t.TempDir()
	s := twoDeletes(t)
	for _, key := range []Key{nil, someKey} {
		path := saved(t, dir, s, s.past(), Saving{Key: key})
		whole, err := os.ReadFile(path)
		must(t, err)
		cut := filepath.Join(dir, "cut")
		for n := range whole {
			must(t, os.WriteFile(cut, whole[:n], 0o600))
			r, err := Open(context.Background(), cut, key)
			if err != nil {
				t.Fatalf("%d of %d bytes: %v", n, len(whole), err)
			}
			r.Close()
			if first := bytes.IndexByte(whole, '\n') + 1; len(r.Torn()) != 1 && n != first {
				t.Fatalf("%d of %d bytes: nobody is told that the end is lost", n, len(whole))
			}
		}
	}
}

// TestDamagedTitle: no bit of the first line can be another one, also not those of its id that do
// not count. With another id no frame is one of this file.
func TestDamagedTitle(t *testing.T) {
	dir := t.TempDir()
	s := twoDeletes(t)
	whole, err := os.ReadFile(saved(t, dir, s, s.past(), Saving{}))
	must(t, err)
	path := filepath.Join(dir, "damaged")
	for n := range bytes.IndexByte(whole, '\n') + 1 {
		for bit := range 8 {
			text := bytes.Clone(whole)
			text[n] ^= 1 << bit
			must(t, os.WriteFile(path, text, 0o600))
			r, err := Open(context.Background(), path, nil)
			if err != nil {
				continue
			}
			r.Close()
			if len(r.Torn()) == 0 {
				t.Errorf("nobody has noticed bit %d of byte %d: %q", bit, n, text[:60])
			}
		}
	}
}

// TestDamage: whichever byte is another one, the file is refused, or its last frame is lost, which
// is said.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		s := drawHistory(t)
		path := saved(t, dir, s, s.past(), Saving{})
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text[rapid.IntRange(0, len(text)-1).Draw(t, "byte")] ^= byte(1 << rapid.IntRange(0, 7).Draw(t, "bit"))
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Open(context.Background(), path, nil)
		if err != nil {
			return
		}
		defer r.Close()
		if len(r.Torn()) == 0 {
			t.Fatal("nobody has noticed")
		}
	})
}
