// Package etcdfile writes databases of etcd as an API server fills them, for tests.
package etcdfile

import (
	"encoding/binary"
	"errors"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"
	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/runtime"
)

// Write is a key, behind /registry/, and what is written to it; nothing for a deletion.
type Write [2]string

// Create writes a database with one revision for each write, counted from one, that was
// compacted at a revision if that is not 0: what is superseded by then is gone.
func Create(t testing.TB, compacted int, writes ...Write) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "snapshot.db")
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	last := map[string]int{}
	for i, w := range writes[:compacted] {
		last[w[0]] = i
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		meta, err := tx.CreateBucket([]byte("meta"))
		if err == nil && compacted > 0 {
			err = meta.Put([]byte("finishedCompactRev"), revision(compacted))
		}
		if err != nil {
			return err
		}
		keys, err := tx.CreateBucket([]byte("key"))
		if err != nil {
			return err
		}
		for i, w := range writes {
			if i < compacted && (last[w[0]] != i || w[1] == "") {
				continue
			}
			if err := put(keys, i+1, w); err != nil {
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

func revision(main int) []byte {
	return append(binary.BigEndian.AppendUint64(nil, uint64(main)), '_', 0, 0, 0, 0, 0, 0, 0, 0)
}

func put(keys *bbolt.Bucket, main int, w Write) error {
	key, value := w[0], w[1]
	at := revision(main)
	if value == "" {
		at = append(at, 't')
	}
	return keys.Put(at, KeyValue("/registry/"+key, value, int64(main)))
}

// KeyValue is what etcd writes to a key at a revision; a deletion has nothing but the key.
func KeyValue(key, value string, revision int64) []byte {
	b := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), key)
	if value == "" {
		return b
	}
	b = protowire.AppendVarint(protowire.AppendTag(b, 3, protowire.VarintType), uint64(revision))
	return protowire.AppendString(protowire.AppendTag(b, 5, protowire.BytesType), value)
}

// Message is an object as an API server stores those of built-in kinds.
func Message(t testing.TB, apiVersion, kind string, o interface{ Marshal() ([]byte, error) }) string {
	t.Helper()
	raw, err := o.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	u := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: apiVersion, Kind: kind}, Raw: raw}
	b, err := u.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return "k8s\x00" + string(b)
}
