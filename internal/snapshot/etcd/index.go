package etcd

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/kubectl-gc/kubectl-gc/internal/codec"
)

// Entry is the value of a key.
type Entry struct {
	// Key is the key without the cluster's prefix.
	Key string
	// Value is valid until the next entry is read.
	Value []byte
	// Revision is the revision in which it was written.
	Revision int64
}

// Change is a write to a key, or its deletion.
type Change struct {
	Revision int64
	// Deletion is true if the change deleted the key.
	Deletion bool
	// stored is the record in the file.
	stored []byte
	// before is the position in Index.changes of the previous change of the same key, counted from
	// one; 0 for none.
	before int32
}

// Index locates the changes of each key in a file: the last one at its first revision, and all
// later ones. The file must stay open.
type Index struct {
	// Keys are the keys of the cluster, sorted, without the common prefix.
	Keys    []string
	prefix  string
	view    codec.View
	last    map[string]int32 // places in changes, counted from one
	changes []Change
	kv      keyValue
	found   []Change
}

// Bytes of memory per key, in addition to its name, and per further change.
const (
	entryMemory  = 128
	changeMemory = 64
)

// Index returns an index of the state at revision from and of the changes up to revision to.
// reserve requests memory, and its error ends the reading.
func (f *File) Index(from, to int64, reserve func(bytes int64) error) (*Index, error) {
	for _, at := range []int64{from, to} {
		if at < f.Oldest || at > f.Newest {
			return nil, fmt.Errorf("revision %d is not in the file, which holds %d to %d", at, f.Oldest, f.Newest)
		}
	}
	view, err := f.db.Begin()
	if err != nil {
		return nil, err
	}
	x := &Index{view: view, last: map[string]int32{}}
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

// Close ends the reading. The file stays open.
func (x *Index) Close() { x.view.Close() }

// read adds the changes in the file, in order.
func (x *Index) read(from, to int64, reserve func(bytes int64) error) error {
	var before revision
	asked := 0
	cursor := x.view.Cursor(keyBucket)
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

// take adds a change of the key in x.kv and returns the additional memory in bytes. Of early
// changes only the last one is kept.
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

// cut removes the prefix from the keys and drops the keys outside the cluster.
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

// Changes returns the changes of a key, the oldest first. They are valid until the next call.
func (x *Index) Changes(key string) []Change {
	x.found = x.found[:0]
	for at := x.last[x.prefix+key]; at > 0; at = x.changes[at-1].before {
		x.found = append(x.found, x.changes[at-1])
	}
	slices.Reverse(x.found)
	return x.found
}

// At returns the change that determines the value of a key at a revision; false if the key didn't
// exist.
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

// Read returns the value that a change wrote to a key.
func (x *Index) Read(key string, c Change) (Entry, error) {
	err := contained(func() error { return x.kv.read(c.stored) })
	return Entry{Key: key, Value: x.kv.value, Revision: c.Revision}, err
}

// The buckets and keys of etcd.
//
// As in go.etcd.io/etcd/server/v3/storage, packages schema and mvcc.
var (
	keyBucket  = []byte("key")
	metaBucket = []byte("meta")
	// The last compacted revision and the scheduled one: older revisions are incomplete.
	finishedCompaction  = []byte("finishedCompactRev")
	scheduledCompaction = []byte("scheduledCompactRev")
)

// The format of a revision: the number of the transaction, '_', the number of the change in it, and
// a mark if the change was a deletion.
const (
	revisionSize  = 17
	tombstoneSize = revisionSize + 1
	tombstoneMark = 't'
)

// revision is the key of a change.
type revision struct {
	main, sub int64
	deletion  bool
}

func parseRevision(b []byte) (revision, error) {
	if len(b) != revisionSize && (len(b) != tombstoneSize || b[revisionSize] != tombstoneMark) || b[8] != '_' {
		return revision{}, damaged("%q is no revision", b)
	}
	r := revision{int64(binary.BigEndian.Uint64(b)), int64(binary.BigEndian.Uint64(b[9:])), len(b) == tombstoneSize}
	if r.main < 0 || r.sub < 0 {
		return r, damaged("%q is no revision", b)
	}
	return r, nil
}

// revisions determines which revisions the file can reconstruct.
func (f *File) revisions() error {
	view, err := f.db.Begin()
	if err != nil {
		return err
	}
	defer view.Close()
	keys, meta := view.Cursor(keyBucket), view.Cursor(metaBucket)
	if keys == nil || meta == nil {
		return fmt.Errorf("it is a database of bbolt, and none of etcd")
	}
	f.Oldest = 1
	for _, name := range [][]byte{finishedCompaction, scheduledCompaction} {
		if found, b := meta.Seek(name); bytes.Equal(found, name) {
			r, err := parseRevision(b)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			f.Oldest = max(f.Oldest, r.main)
		}
	}
	f.Newest = f.Oldest
	if last, _ := keys.Last(); last != nil {
		r, err := parseRevision(last)
		if err != nil {
			return err
		}
		f.Newest = max(f.Newest, r.main)
	}
	return nil
}

// keyValue is the record of a write to a key.
type keyValue struct {
	key, value []byte
	revision   int64
}

// The field numbers are those of kv.proto in go.etcd.io/etcd/api/v3/mvccpb.
const (
	keyField      protowire.Number = 1
	revisionField protowire.Number = 3
	valueField    protowire.Number = 5
)

// read decodes a record. It copies into kv's buffers because the bytes are in the mapped file,
// which may be truncated later.
func (kv *keyValue) read(b []byte) error {
	*kv = keyValue{key: kv.key[:0], value: kv.value[:0]}
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeField(b)
		if n < 0 {
			return damaged("a change cannot be read: %s", protowire.ParseError(n))
		}
		_, _, tag := protowire.ConsumeTag(b)
		kv.set(number, kind, b[tag:n])
		b = b[n:]
	}
	if len(kv.key) == 0 {
		return damaged("a change has no key")
	}
	return nil
}

// set stores a field and ignores one of an unexpected type.
func (kv *keyValue) set(number protowire.Number, kind protowire.Type, b []byte) {
	switch {
	case number == keyField && kind == protowire.BytesType:
		key, _ := protowire.ConsumeBytes(b)
		kv.key = append(kv.key[:0], key...)
	case number == valueField && kind == protowire.BytesType:
		value, _ := protowire.ConsumeBytes(b)
		kv.value = append(kv.value[:0], value...)
	case number == revisionField && kind == protowire.VarintType:
		revision, _ := protowire.ConsumeVarint(b)
		kv.revision = int64(revision)
	}
}
