package etcd

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.etcd.io/bbolt"
)

// Entry is what a key holds.
type Entry struct {
	// Key is what stands behind the prefix of all keys of the cluster.
	Key string
	// Value is good until the next entry.
	Value []byte
	// Revision is when it was written.
	Revision int64
}

// Change is a write to a key, or its deletion.
type Change struct {
	Revision int64
	// Deletion tells that nothing is there behind it.
	Deletion bool
	// stored is the change as the file has it.
	stored []byte
	// before is the place of the change of the same key before it, counted from one; 0 for none.
	before int32
}

// Index knows where in a file the changes of each key are: the last one at the revision from
// which it begins, and all behind it. The file must stay open.
type Index struct {
	// Keys are those of the cluster, sorted, without the prefix of all of them.
	Keys    []string
	prefix  string
	tx      *bbolt.Tx
	last    map[string]int32 // places in changes, counted from one
	changes []Change
	kv      keyValue
	found   []Change
}

// What is kept about of a key while the file is read, beside its name, and of each more change.
const (
	entryMemory  = 128
	changeMemory = 64
)

// Index makes an index of the changes from one revision to another. Reserve asks for memory,
// and its error ends the reading.
func (f *File) Index(from, to int64, reserve func(bytes int64) error) (*Index, error) {
	for _, at := range []int64{from, to} {
		if at < f.Oldest || at > f.Newest {
			return nil, fmt.Errorf("revision %d is not in the file, which holds %d to %d", at, f.Oldest, f.Newest)
		}
	}
	tx, err := f.db.Begin(false)
	if err != nil {
		return nil, err
	}
	x := &Index{tx: tx, last: map[string]int32{}}
	err = contained(func() error { return x.read(from, to, reserve) })
	if err == nil {
		err = x.cut()
	}
	if err != nil {
		x.Close()
		return nil, err
	}
	return x, nil
}

// Close lets go of the file.
func (x *Index) Close() { _ = x.tx.Rollback() }

// read takes in the changes of the file, in their order.
func (x *Index) read(from, to int64, reserve func(bytes int64) error) error {
	var before revision
	asked := 0
	cursor := x.tx.Bucket(keyBucket).Cursor()
	for name, stored := cursor.First(); name != nil; name, stored = cursor.Next() {
		r, err := parseRevision(name)
		if err != nil {
			return err
		}
		if r.main < before.main || r.main == before.main && r.sub <= before.sub && before != (revision{}) {
			return damaged("revision %d is behind revision %d", r.main, before.main)
		}
		if before = r; r.main > to {
			break
		}
		if err := x.kv.read(stored); err != nil {
			return fmt.Errorf("revision %d: %w", r.main, err)
		}
		if !r.deletion && x.kv.revision != r.main {
			return damaged("revision %d: key %q says that it is of revision %d", r.main, x.kv.key, x.kv.revision)
		}
		if asked += x.take(Change{Revision: r.main, Deletion: r.deletion, stored: stored}, r.main <= from); asked > 1<<20 {
			if err := reserve(int64(asked)); err != nil {
				return err
			}
			asked = 0
		}
	}
	return nil
}

// take takes in a change of the key in x.kv, and says how much memory that took. Of those that
// were early only the last one counts.
func (x *Index) take(c Change, early bool) (memory int) {
	have := x.last[string(x.kv.key)]
	switch {
	case early && c.Deletion:
		delete(x.last, string(x.kv.key))
		return 0
	case early && have > 0:
		x.changes[have-1] = c
		return 0
	}
	c.before = have
	x.changes = append(x.changes, c)
	x.last[string(x.kv.key)] = int32(len(x.changes))
	if have > 0 {
		return changeMemory
	}
	return len(x.kv.key) + entryMemory
}

// cut takes the prefix from the keys, and leaves out what is not of the cluster.
func (x *Index) cut() (err error) {
	x.Keys = slices.Sorted(maps.Keys(x.last))
	if x.prefix, err = prefixOf(x.Keys); err != nil {
		return err
	}
	cluster := x.Keys[:0]
	for _, key := range x.Keys {
		if own, ok := strings.CutPrefix(key, x.prefix); ok {
			cluster = append(cluster, own)
		}
	}
	x.Keys = cluster
	return nil
}

// Changes are those of a key, the oldest first; they are good until the next call.
func (x *Index) Changes(key string) []Change {
	x.found = x.found[:0]
	for at := x.last[x.prefix+key]; at > 0; at = x.changes[at-1].before {
		x.found = append(x.found, x.changes[at-1])
	}
	slices.Reverse(x.found)
	return x.found
}

// At is the change that tells what a key held at a revision; false where that was nothing.
func (x *Index) At(key string, revision int64) (Change, bool) {
	at := x.last[x.prefix+key]
	for at > 0 && x.changes[at-1].Revision > revision {
		at = x.changes[at-1].before
	}
	if at == 0 || x.changes[at-1].Deletion {
		return Change{}, false
	}
	return x.changes[at-1], true
}

// Read is what a change wrote to a key.
func (x *Index) Read(key string, c Change) (Entry, error) {
	err := contained(func() error { return x.kv.read(c.stored) })
	return Entry{Key: key, Value: x.kv.value, Revision: c.Revision}, err
}
