package etcd

import (
	"encoding/binary"
	"fmt"
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
