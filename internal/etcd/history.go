package etcd

import (
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"
	"google.golang.org/protobuf/encoding/protowire"
)

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
