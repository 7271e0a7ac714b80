// Package codec opens compressed streams and bbolt databases with implementations that a program
// links by importing package codec/all. A Go test that uses package gctest reads neither, and so
// its module does not depend on their libraries.
package codec

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"time"
)

// Compression is a format of compressed data.
type Compression string

// The compressions. LZMA2 is the data of an xz block, without the container.
const (
	Gzip  Compression = "gzip"
	Zstd  Compression = "zstd"
	LZMA2 Compression = "xz"
	LZ4   Compression = "lz4"
)

// ErrWindow is in the error chain if a stream needs a larger window than it was opened with.
var ErrWindow = errors.New("the window is too large")

// Codec compresses and decompresses one format. A nil function means that it can't.
type Codec struct {
	// Reader decompresses a stream with a window of at most window bytes.
	Reader func(r io.Reader, window int) (io.ReadCloser, error)
	// Writer compresses a stream. If sequential is true, it starts no goroutines and uses less
	// memory.
	Writer func(w io.Writer, sequential bool) (io.WriteCloser, error)
}

// codecs has the linked codecs. Only init functions write to it.
var codecs = map[Compression]Codec{
	Gzip: {
		Reader: func(r io.Reader, _ int) (io.ReadCloser, error) { return gzip.NewReader(r) },
		Writer: func(w io.Writer, _ bool) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
	},
}

// Link makes a codec available. Call it only from an init function.
func Link(c Compression, codec Codec) { codecs[c] = codec }

// NewReader decompresses a stream. window bounds its window in bytes for Zstd and is the size of the
// dictionary for LZMA2. Gzip and LZ4 ignore it.
func NewReader(c Compression, r io.Reader, window int) (io.ReadCloser, error) {
	open := codecs[c].Reader
	if open == nil {
		return nil, notLinked(string(c))
	}
	return open(r, window)
}

// NewWriter compresses a stream.
func NewWriter(c Compression, w io.Writer, sequential bool) (io.WriteCloser, error) {
	create := codecs[c].Writer
	if create == nil {
		return nil, notLinked(string(c))
	}
	return create(w, sequential)
}

// notLinked says that this program has no implementation of a format.
func notLinked(format string) error {
	return fmt.Errorf("this program is built without %s", format)
}

// Database is a bbolt database that is open for reading.
type Database interface {
	// Begin returns a view of the database. It shows no later write.
	Begin() (View, error)
	Close() error
}

// View is a consistent view of a database.
type View interface {
	// Cursor returns a cursor over the entries of a bucket; nil if there is no such bucket.
	Cursor(bucket []byte) Cursor
	Close()
}

// Cursor moves over the sorted entries of a bucket. Keys and values are valid until the view is
// closed. A nil key means that there is no such entry.
type Cursor interface {
	First() (key, value []byte)
	Last() (key, value []byte)
	Next() (key, value []byte)
	// Seek moves to the first key that is not before the given one.
	Seek(key []byte) (found, value []byte)
}

// ErrLocked is in the error chain if another process has the database open.
var ErrLocked = errors.New("another process has the database open")

// openDatabase opens a database. Only init functions write to it.
var openDatabase func(path string, lock time.Duration) (Database, error)

// LinkDatabase makes OpenDatabase available. Call it only from an init function.
func LinkDatabase(open func(path string, lock time.Duration) (Database, error)) { openDatabase = open }

// OpenDatabase opens a bbolt database for reading. lock is how long it waits for another process to
// close it. bbolt trusts its files: check the pages first.
func OpenDatabase(path string, lock time.Duration) (Database, error) {
	if openDatabase == nil {
		return nil, notLinked("bbolt")
	}
	return openDatabase(path, lock)
}
