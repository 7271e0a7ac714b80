package backup

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// File is a file that is open for writing.
type File interface {
	io.WriteCloser
	Sync() error
}

const (
	directoryMode = 0o700
	fileMode      = 0o600
)

// Directory is an open directory that belongs to the user and that no other user can write to. Its
// methods can't reach files outside of it. A file is durable once WriteFile and then Sync have
// returned without an error.
type Directory struct {
	root *os.Root
	// Path is the path by which it was opened.
	Path string
	// Create opens a new file for writing. It fails if the file exists.
	Create func(name string) (File, error)
}

// OpenDirectory opens a directory. It refuses a directory that another user could replace or write
// to.
func OpenDirectory(path string) (*Directory, error) {
	seen, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if err := checkPrivate(path, seen); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return newDirectory(root, path, seen)
}

// newDirectory returns the opened directory. It fails if that is not the one that was checked as
// seen.
func newDirectory(root *os.Root, path string, seen fs.FileInfo) (*Directory, error) {
	opened, err := root.Stat(".")
	if err == nil && !os.SameFile(seen, opened) {
		err = fmt.Errorf("%s was replaced while it was being opened", path)
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	d := &Directory{root: root, Path: path}
	d.Create = func(name string) (File, error) {
		return d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|noFollow, fileMode)
	}
	return d, nil
}

// checkPrivate refuses a path that is not a directory, belongs to another user or is writable by
// others.
func checkPrivate(path string, info fs.FileInfo) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a symbolic link: name the directory itself", path)
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", path)
	case !isOwn(info):
		return fmt.Errorf("%s belongs to another user", path)
	case isWritableByOthers(info):
		return fmt.Errorf("%s is writable by other users (mode %04o): run chmod go-w on it, or name another directory", path, info.Mode().Perm())
	}
	return nil
}

// MkdirAll creates the missing directories of a path with access for the user only, and syncs them
// to the disk.
func MkdirAll(path string) error {
	if _, err := os.Lstat(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(path)
	if err := MkdirAll(parent); err != nil {
		return err
	}
	if err := os.Mkdir(path, directoryMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	f, err := os.Open(parent)
	if err != nil {
		return err
	}
	return errors.Join(syncDirectory(f), f.Close())
}

// maxSuffix is the maximum number of directories with one name and different suffixes.
const maxSuffix = 100

// CreateDirectory creates a new directory in d and opens it. A taken name gets a suffix: name-2,
// name-3.
func (d *Directory) CreateDirectory(name string) (*Directory, error) {
	unique := name
	for n := 2; ; n++ {
		err := d.root.Mkdir(unique, directoryMode)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) || n > maxSuffix {
			return nil, err
		}
		unique = fmt.Sprintf("%s-%d", name, n)
	}
	seen, err := d.root.Lstat(unique)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(d.Path, unique)
	if err := checkPrivate(path, seen); err != nil {
		return nil, err
	}
	root, err := d.root.OpenRoot(unique)
	if err != nil {
		return nil, err
	}
	return newDirectory(root, path, seen)
}

// WriteFile writes a file atomically and replaces an existing one. It is durable after Sync.
func (d *Directory) WriteFile(name string, content []byte) error {
	part := name + ".part"
	f, err := d.Create(part)
	if err == nil {
		write := func(f File) error {
			_, err := f.Write(content)
			return err
		}
		err = commit(f, write, func() error { return d.root.Rename(part, name) }, func() error { return d.root.Remove(part) })
	}
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(d.Path, name), err)
	}
	return nil
}

// commit writes, syncs and closes a new file and renames it. If any of that fails, it removes it.
func commit(f File, write func(File) error, rename, remove func() error) error {
	err := write(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = rename()
	}
	if err != nil {
		return errors.Join(err, remove())
	}
	return nil
}

// Sync makes created, renamed and removed names in the directory durable.
func (d *Directory) Sync() error {
	f, err := d.root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(syncDirectory(f), f.Close())
}

// Open opens a regular file of the user for reading.
func (d *Directory) Open(name string) (*os.File, error) {
	seen, err := d.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !seen.Mode().IsRegular() {
		return nil, &DamageError{File: name, Why: "it is not a regular file"}
	}
	if !isOwn(seen) || isWritableByOthers(seen) {
		return nil, &DamageError{File: name, Why: "other users can write to it"}
	}
	f, err := d.root.OpenFile(name, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return nil, err
	}
	opened, err := f.Stat()
	if err == nil && !os.SameFile(seen, opened) {
		err = &DamageError{File: name, Why: "it was replaced while it was being opened"}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Read returns the content of a file. It fails for more than limit bytes.
func (d *Directory) Read(name string, limit int64) ([]byte, error) {
	f, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = &DamageError{File: name, Why: fmt.Sprintf("it has more than %d bytes", limit)}
	}
	return content, errors.Join(err, f.Close())
}

// Rename renames a file and replaces an existing one.
func (d *Directory) Rename(from, to string) error { return d.root.Rename(from, to) }

// Remove deletes a file.
func (d *Directory) Remove(name string) error { return d.root.Remove(name) }

// Close closes the directory.
func (d *Directory) Close() error { return d.root.Close() }

// WriteFile writes a file atomically, with access for the user only. It replaces an existing file.
// It does not check who can write to the directory of path.
func WriteFile(path string, write func(File) error) error {
	part := path + ".partial"
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL|noFollow, fileMode)
	if err != nil {
		return err
	}
	return commit(f, write, func() error { return os.Rename(part, path) }, func() error {
		if err := os.Remove(part); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

// DamageError reports that a file is not, or may not be, as this program wrote it.
type DamageError struct {
	File string
	// Line is counted from 1; 0 for the whole file.
	Line int
	Why  string
}

// Error names the file, the line and the damage.
func (e *DamageError) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Why
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Why)
}
