package etcd

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/test/etcdfile"

	_ "github.com/kubectl-gc/kubectl-gc/internal/codec/all"
)

// change is one of a transaction; without a value it is a deletion.
type change struct {
	main, sub int64
	key       string
	value     string
}

// write writes a database of etcd, compacted at a revision if that is not 0.
func write(t testing.TB, compacted int64, changes ...change) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "db")
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		meta, err := tx.CreateBucket(metaBucket)
		if err == nil && compacted > 0 {
			err = meta.Put(finishedCompaction, name(compacted, 0))
		}
		if err != nil {
			return err
		}
		keys, err := tx.CreateBucket(keyBucket)
		if err != nil {
			return err
		}
		keys.FillPercent = 0.9
		for _, c := range changes {
			at := name(c.main, c.sub)
			if c.value == "" {
				at = append(at, tombstoneMark)
			}
			if err := keys.Put(at, etcdfile.KeyValue(c.key, c.value, c.main)); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

func name(main, sub int64) []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(main))
	return binary.BigEndian.AppendUint64(append(b, '_'), uint64(sub))
}

// read reads a revision of a file, or the newest.
func read(path string, at int64) (map[string]string, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if at == 0 {
		at = f.Newest
	}
	x, err := f.Index(at, at, func(int64) error { return nil })
	if err != nil {
		return nil, err
	}
	defer x.Close()
	got := map[string]string{}
	for i, key := range x.Keys {
		if i > 0 && key <= x.Keys[i-1] {
			return nil, errors.New("the keys have no order")
		}
		if c, ok := x.At(key, at); ok {
			e, err := x.Read(key, c)
			if err != nil {
				return nil, err
			}
			got[e.Key] = string(e.Value)
		}
	}
	return got, nil
}

const shop = "/registry/namespaces/default"

func TestRevisions(t *testing.T) {
	path := write(t, 3,
		change{1, 0, shop, "n"}, change{2, 0, "/registry/a", "a2"}, change{3, 0, "/registry/b", "b3"}, change{3, 1, "/registry/c", "c3"},
		change{4, 0, "/registry/a", "a4"}, change{5, 0, "/registry/b", ""}, change{5, 1, "/registry/b", "b5"}, change{6, 0, "/registry/c", ""},
		change{6, 1, "/another/x", "y"})
	for at, want := range map[int64]map[string]string{
		3: {"namespaces/default": "n", "a": "a2", "b": "b3", "c": "c3"},
		4: {"namespaces/default": "n", "a": "a4", "b": "b3", "c": "c3"},
		5: {"namespaces/default": "n", "a": "a4", "b": "b5", "c": "c3"},
		6: {"namespaces/default": "n", "a": "a4", "b": "b5"},
		0: {"namespaces/default": "n", "a": "a4", "b": "b5"},
	} {
		got, err := read(path, at)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("revision %d: %v %s", at, err, diff)
		}
	}
	for _, at := range []int64{2, 7, -1} {
		if _, err := read(path, at); err == nil || !strings.Contains(err.Error(), "which holds 3 to 6") {
			t.Errorf("revision %d: %v", at, err)
		}
	}
}

// TestHistory compares every revision of random histories with a map.
func TestHistory(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		changes := []change{{1, 0, shop, "n"}}
		now := map[string]string{"namespaces/default": "n"}
		states := map[int64]map[string]string{1: {"namespaces/default": "n"}}
		revisions := rapid.Int64Range(2, 40).Draw(r, "revisions")
		for main := int64(2); main <= revisions; main++ {
			for sub := range rapid.Int64Range(1, 3).Draw(r, "changes") {
				key := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(r, "key")
				value := strings.Repeat("v", rapid.SampledFrom([]int{0, 1, 10, 900, 5000, 40000}).Draw(r, "size"))
				changes = append(changes, change{main, sub, "/registry/" + key, value})
				if now[key] = value; value == "" {
					delete(now, key)
				}
			}
			states[main] = maps.Clone(now)
		}
		path := write(t, 0, changes...)
		for main, want := range states {
			if got, err := read(path, main); err != nil || !cmp.Equal(want, got) {
				t.Fatalf("revision %d: %v", main, err)
			}
		}
		from := rapid.Int64Range(1, revisions).Draw(r, "from")
		checkIndex(t, path, from, rapid.Int64Range(from, revisions).Draw(r, "to"), changes)
	})
}

// checkIndex compares the changes of each key with those written: the last one at from, and all
// later ones.
func checkIndex(t *testing.T, path string, from, to int64, changes []change) {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	x, err := f.Index(from, to, func(int64) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	want, got := map[string][]change{}, map[string][]change{}
	for _, c := range changes {
		key := strings.TrimPrefix(c.key, "/registry/")
		c.key, c.sub = key, 0
		switch {
		case c.main > to:
		case c.main > from:
			want[key] = append(want[key], c)
		case c.value == "":
			delete(want, key)
		default:
			want[key] = []change{c}
		}
	}
	for _, key := range x.Keys {
		for _, c := range slices.Clone(x.Changes(key)) {
			e, err := x.Read(key, c)
			if err != nil || c.Deletion != (len(e.Value) == 0) {
				t.Fatalf("%s at %d: %v", key, c.Revision, err)
			}
			got[key] = append(got[key], change{c.Revision, 0, key, string(e.Value)})
		}
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(change{})); diff != "" {
		t.Fatalf("from %d to %d (-want +got):\n%s", from, to, diff)
	}
}

func TestChecksum(t *testing.T) {
	path := write(t, 0, change{1, 0, shop, "n"})
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b)
	whole := slices.Concat(b, sum[:])
	try := func(b []byte) error {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := read(path, 0)
		return err
	}
	if err := try(whole); err != nil {
		t.Error(err)
	}
	whole[len(whole)/2] ^= 1
	if err := try(whole); err == nil || !strings.Contains(err.Error(), "not the checksum") {
		t.Error(err)
	}
	if err := try(whole[:len(whole)-7]); err == nil || !strings.Contains(err.Error(), "not written to its end") {
		t.Error(err)
	}
	if err := try(whole[:8192]); err == nil || !strings.Contains(err.Error(), "it ends after page") {
		t.Error(err)
	}
}

// TestDamage: a file with damaged bytes is refused, or read as a valid etcd file: nothing panics or
// loops.
func TestDamage(t *testing.T) {
	var changes []change
	for i := range int64(400) {
		changes = append(changes, change{i + 1, 0, shop + strings.Repeat("x", int(i)), strings.Repeat("v", int(i*i)%700+1)})
	}
	good, err := os.ReadFile(write(t, 0, changes...))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "db")
	random := rand.New(rand.NewPCG(1, 2))
	refused := 0
	const tries = 1500
	for i := range tries {
		b := append([]byte(nil), good...)
		// What is at the beginning of a page says where things are.
		page := random.IntN(len(b)/4096) * 4096
		for range 1 + random.IntN(3) {
			b[page+random.IntN(min(4096, 64<<random.IntN(7)))] ^= 1 << random.IntN(8)
		}
		if i%10 == 0 {
			b = b[:page]
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := read(path, 0); err != nil {
			refused++
			if strings.Contains(err.Error(), "while it was read") {
				t.Fatalf("bbolt was given a file that it cannot read: %v", err)
			}
		}
	}
	if refused < tries/4 {
		t.Errorf("only %d of %d were refused", refused, tries)
	}
}

// TestHostile: pages that form cycles, or point outside the file.
func TestHostile(t *testing.T) {
	var changes []change
	for i := range int64(3000) {
		changes = append(changes, change{i + 1, 0, shop, strings.Repeat("v", 300)})
	}
	good, err := os.ReadFile(write(t, 0, changes...))
	if err != nil {
		t.Fatal(err)
	}
	branch := 0 // a page with pages below
	for at := 2 * 4096; at < len(good); at += 4096 {
		if order.Uint16(good[at+8:]) == branchPage && order.Uint64(good[at:]) == uint64(at/4096) {
			branch = at
		}
	}
	if branch == 0 {
		t.Fatal("there is no such page")
	}
	for what, c := range map[string]struct {
		damage func(b []byte)
		want   string
	}{
		"in a circle":   {func(b []byte) { order.PutUint64(b[branch+headerSize+8:], uint64(branch/4096)) }, "is in use twice"},
		"beside":        {func(b []byte) { order.PutUint64(b[branch+headerSize+8:], 1<<40) }, "is referred to"},
		"a header":      {func(b []byte) { order.PutUint64(b[branch+headerSize+8:], 1) }, "is referred to"},
		"many elements": {func(b []byte) { order.PutUint16(b[branch+10:], 65535) }, "65535 elements"},
		"none":          {func(b []byte) { order.PutUint16(b[branch+10:], 0) }, "0 elements"},
		"a huge key":    {func(b []byte) { order.PutUint32(b[branch+headerSize+4:], 1<<32-1) }, "lies outside the page"},
		"a huge page":   {func(b []byte) { order.PutUint32(b[branch+12:], 1<<30) }, "extends past the last page"},
		"of no kind":    {func(b []byte) { order.PutUint16(b[branch+8:], 0x44) }, "is of kind 0x44"},
		"another page":  {func(b []byte) { order.PutUint64(b[branch:], 2) }, "says that it is page 2"},
		"a header's":    {func(b []byte) { b[4096+headerSize+20]++ }, "the checksum of the header at byte 4096"},
	} {
		t.Run(what, func(t *testing.T) {
			b := append([]byte(nil), good...)
			c.damage(b)
			path := filepath.Join(t.TempDir(), "db")
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := read(path, 0); !errors.Is(err, errDamaged) || !strings.Contains(err.Error(), c.want) {
				t.Error(err)
			}
		})
	}
}

// TestChanges: records that etcd would not have written.
func TestChanges(t *testing.T) {
	for want, changes := range map[string][]change{
		"a change has no key":                            {{1, 0, "", "x"}},
		"none of its 1 keys":                             {{1, 0, "/elsewhere/x", "x"}},
		"it holds two clusters, below \"/a\" and \"/b\"": {{1, 0, "/a/namespaces/default", "x"}, {2, 0, "/b/namespaces/default", "x"}},
	} {
		if _, err := read(write(t, 0, changes...), 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestLocked(t *testing.T) {
	path := write(t, 0, change{1, 0, shop, "n"})
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := read(path, 0); err == nil || !strings.Contains(err.Error(), "etcd has it open") {
		t.Error(err)
	}
}
