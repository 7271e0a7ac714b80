package codec

import (
	"errors"
	"time"
)

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
