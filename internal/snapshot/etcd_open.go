package snapshot

import (
	"fmt"
	"os"

	"github.com/kubectl-gc/kubectl-gc/internal/etcd"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Stored is an etcd snapshot that stays open: the cluster at its last revision, and its history.
type Stored struct {
	*Snapshot
	// Index has all changes since Oldest; Newest is the revision of the Snapshot.
	*etcd.Index
	Oldest, Newest int64

	file    *etcd.File
	reader  *reader
	decoder *etcd.Decoder
	// read is the number of past objects that were read.
	read int
}

// OpenStored opens an etcd snapshot.
func OpenStored(path string, o Options) (s *Stored, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", shownName(path), err)
		}
	}()
	r, err := newReader(o)
	if err != nil {
		return nil, err
	}
	stat, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if stat.Size() > r.limits.EntryBytes {
		return nil, fmt.Errorf("%w: it has %d bytes", ErrSize, stat.Size())
	}
	f, err := etcd.Open(path)
	if err != nil {
		return nil, err
	}
	s = &Stored{file: f, reader: r, Oldest: f.Oldest, Newest: f.Newest, decoder: etcd.NewDecoder(r.handling())}
	if err := s.readLast(path); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Stored) readLast(path string) (err error) {
	if s.Index, err = s.file.Index(s.Oldest, s.Newest, s.reader.reserveEarly); err != nil {
		return err
	}
	if err := s.reader.readIndex(shownName(path), s.Index, s.Newest); err != nil {
		return err
	}
	s.Snapshot, err = s.reader.snapshot([]string{path})
	return err
}

// Close closes the file.
func (s *Stored) Close() {
	if s.Index != nil {
		s.Index.Close()
	}
	s.file.Close()
}

// Object returns the object of a change, in the version in which it is stored.
func (s *Stored) Object(key string, place etcd.Place, c etcd.Change) (*object.Object, error) {
	const often = 1 << 10
	if s.read++; s.read%often == 0 {
		if err := s.reader.reserve(0, s.read); err != nil {
			return nil, err
		}
	}
	e, err := s.Read(key, c)
	if err != nil {
		return nil, err
	}
	return objectAt(s.decoder, place, e)
}

// Text returns the whole object of a change as JSON.
func (s *Stored) Text(key string, c etcd.Change) ([]byte, error) {
	e, err := s.Read(key, c)
	if err != nil {
		return nil, err
	}
	return s.decoder.Text(e)
}
