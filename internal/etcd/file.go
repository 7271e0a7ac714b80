package etcd

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// File is an open etcd database that was checked.
type File struct {
	db *bbolt.DB
	// Oldest and Newest are the first and the last revision that the file can reconstruct.
	Oldest, Newest int64
}

// blockSize divides the size of a database. Additional bytes are the checksum at the end of a
// snapshot.
//
// As in hasChecksum of go.etcd.io/etcd/etcdutl/v3/snapshot.
const blockSize = 512

// lockPatience is the timeout for the file lock of another process.
const lockPatience = time.Second

// Open checks and opens a file.
func Open(path string) (*File, error) {
	if err := check(path); err != nil {
		return nil, err
	}
	f := &File{}
	err := contained(func() (err error) {
		f.db, err = bbolt.Open(path, 0, &bbolt.Options{ReadOnly: true, Timeout: lockPatience})
		if err != nil {
			return err
		}
		return f.revisions()
	})
	if errors.Is(err, bolterrors.ErrTimeout) {
		err = errors.New("etcd has it open: take a snapshot with etcdctl snapshot save, or stop the member first")
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Close closes the file.
func (f *File) Close() {
	if f.db != nil {
		_ = f.db.Close()
	}
}

// check checks the checksum of a file, if it has one, and its pages.
func check(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	stat, err := file.Stat()
	if err != nil {
		return err
	}
	size := stat.Size()
	switch size % blockSize {
	case 0:
	case sha256.Size:
		size -= sha256.Size
		if err := checkSum(file, size); err != nil {
			return err
		}
	default:
		return damaged("%d bytes are no whole number of blocks: it was not written to its end", size)
	}
	return checkPages(file, size)
}

// checkSum checks the checksum that follows the first size bytes.
func checkSum(file io.ReaderAt, size int64) error {
	sum := sha256.New()
	if _, err := io.CopyBuffer(struct{ io.Writer }{sum}, io.NewSectionReader(file, 0, size), make([]byte, 1<<20)); err != nil {
		return err
	}
	recorded := make([]byte, sha256.Size)
	if _, err := file.ReadAt(recorded, size); err != nil {
		return err
	}
	if !bytes.Equal(recorded, sum.Sum(nil)) {
		return damaged("its last %d bytes are not the checksum of those before", sha256.Size)
	}
	return nil
}

// contained calls a function that reads the memory-mapped database. A file that is changed
// meanwhile must not crash the process. This is the only place that recovers a panic.
func contained(read func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w, or it was changed while it was read: %v", errDamaged, p)
		}
	}()
	return read()
}
