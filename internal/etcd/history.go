package etcd

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/api/v3/mvccpb"
)

// The buckets and keys of etcd.
//
// As in go.etcd.io/etcd/server/v3/storage, packages schema and mvcc.
var (
	keyBucket  = []byte("key")
	metaBucket = []byte("meta")
	// What was compacted, and what is being: revisions before are not whole.
	finishedCompaction  = []byte("finishedCompactRev")
	scheduledCompaction = []byte("scheduledCompactRev")
)

// The form of a revision: the number of the transaction, '_', that of the change in it, and
// behind that a mark if the change was a deletion.
const (
	revisionSize  = 17
	tombstoneSize = revisionSize + 1
	tombstoneMark = 't'
)

// revision is a change.
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

// revisions finds out which revisions the file can show.
func (f *File) revisions() error {
	return f.db.View(func(tx *bbolt.Tx) error {
		keys, meta := tx.Bucket(keyBucket), tx.Bucket(metaBucket)
		if keys == nil || meta == nil {
			return fmt.Errorf("it is a database of bbolt, and none of etcd")
		}
		f.Oldest = 1
		for _, name := range [][]byte{finishedCompaction, scheduledCompaction} {
			if b := meta.Get(name); b != nil {
				r, err := parseRevision(b)
				if err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				f.Oldest = max(f.Oldest, r.main)
			}
		}
		f.Newest = f.Oldest
		if last, _ := keys.Cursor().Last(); last != nil {
			r, err := parseRevision(last)
			if err != nil {
				return err
			}
			f.Newest = max(f.Newest, r.main)
		}
		return nil
	})
}

// Entry is what a key holds.
type Entry struct {
	// Key is what stands behind the prefix of all keys of the cluster.
	Key string
	// Value is good until the next entry.
	Value []byte
	// Revision is when it was written last.
	Revision int64
}

// entryMemory is about what is kept of a key while the file is read, beside its name.
const entryMemory = 128

// At calls visit for each key of the cluster that there is at a revision, in their order. Reserve asks for
// memory, and its error ends the reading, as that of visit.
func (f *File) At(at int64, reserve func(bytes int64) error, visit func(Entry) error) error {
	if at < f.Oldest || at > f.Newest {
		return fmt.Errorf("revision %d is not in the file, which holds %d to %d", at, f.Oldest, f.Newest)
	}
	tx, err := f.db.Begin(false)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	var live map[string][]byte
	if err := contained(func() (err error) {
		live, err = liveAt(tx.Bucket(keyBucket), at, reserve)
		return err
	}); err != nil {
		return err
	}
	keys := slices.Sorted(maps.Keys(live))
	prefix, err := prefixOf(keys)
	if err != nil {
		return err
	}
	var kv mvccpb.KeyValue
	for _, key := range keys {
		own, ok := strings.CutPrefix(key, prefix)
		if !ok {
			continue
		}
		if err := contained(func() error { return readChange(&kv, live[key]) }); err != nil {
			return err
		}
		if err := visit(Entry{Key: own, Value: kv.Value, Revision: kv.ModRevision}); err != nil {
			return err
		}
	}
	return nil
}

// liveAt are the last changes of all keys that there are at a revision.
func liveAt(keys *bbolt.Bucket, at int64, reserve func(bytes int64) error) (map[string][]byte, error) {
	live := map[string][]byte{}
	var kv mvccpb.KeyValue
	var before revision
	asked := 0
	cursor := keys.Cursor()
	for name, value := cursor.First(); name != nil; name, value = cursor.Next() {
		r, err := parseRevision(name)
		if err != nil {
			return nil, err
		}
		if r.main < before.main || r.main == before.main && r.sub <= before.sub && before != (revision{}) {
			return nil, damaged("revision %d is behind revision %d", r.main, before.main)
		}
		if before = r; r.main > at {
			break
		}
		if err := readChange(&kv, value); err != nil {
			return nil, fmt.Errorf("revision %d: %w", r.main, err)
		}
		if r.deletion {
			delete(live, string(kv.Key))
			continue
		}
		if kv.ModRevision != r.main {
			return nil, damaged("revision %d: key %q says that it is of revision %d", r.main, kv.Key, kv.ModRevision)
		}
		if _, have := live[string(kv.Key)]; !have {
			if asked += len(kv.Key) + entryMemory; asked > 1<<20 {
				if err := reserve(int64(asked)); err != nil {
					return nil, err
				}
				asked = 0
			}
		}
		live[string(kv.Key)] = value
	}
	return live, nil
}

// readChange reads what was written to a key. It takes memory that kv has.
func readChange(kv *mvccpb.KeyValue, b []byte) error {
	*kv = mvccpb.KeyValue{Key: kv.Key[:0], Value: kv.Value[:0]}
	if err := kv.Unmarshal(b); err != nil {
		return damaged("a change cannot be read: %s", strings.TrimPrefix(err.Error(), "proto: "))
	}
	if len(kv.Key) == 0 {
		return damaged("a change has no key")
	}
	return nil
}
