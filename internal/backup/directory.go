package backup

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	directoryMode = 0o700
	fileMode      = 0o600
)

// directory is an open directory that belongs to the user and that nobody else
// can write to. Nothing is reached through it that is outside of it.
type directory struct {
	root *os.Root
	path string
	// create opens a new file for writing.
	create func(name string) (file, error)
}

// enter opens a directory. It refuses what somebody else could exchange or fill.
func enter(path string) (*directory, error) {
	seen, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if err := private(path, seen); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return within(root, path, seen)
}

// within makes sure that what was opened is what was looked at.
func within(root *os.Root, path string, seen fs.FileInfo) (*directory, error) {
	opened, err := root.Stat(".")
	if err == nil && !os.SameFile(seen, opened) {
		err = fmt.Errorf("%s was exchanged while it was opened", path)
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	d := &directory{root: root, path: path}
	d.create = func(name string) (file, error) {
		return d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|noFollow, fileMode)
	}
	return d, nil
}

// private refuses a directory that is not one, is not ours, or is open to the
// writing of others.
func private(path string, info fs.FileInfo) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a symbolic link: name the directory itself", path)
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", path)
	case !ours(info):
		return fmt.Errorf("%s belongs to another user", path)
	case shared(info):
		return fmt.Errorf("%s can be written to by others (mode %04o): chmod go-w it or name another directory", path, info.Mode().Perm())
	}
	return nil
}

// makeAll makes the directories that are missing, each of them for the user
// alone and on the disk.
func makeAll(path string) error {
	if _, err := os.Lstat(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	above := filepath.Dir(path)
	if err := makeAll(above); err != nil {
		return err
	}
	if err := os.Mkdir(path, directoryMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	f, err := os.Open(above)
	if err != nil {
		return err
	}
	return errors.Join(syncDirectory(f), f.Close())
}

// maxSame is how many backups of one plan can be begun in one second.
const maxSame = 100

// below makes a new directory in d and enters it.
func (d *directory) below(name string) (*directory, error) {
	unique := name
	for n := 2; ; n++ {
		err := d.root.Mkdir(unique, directoryMode)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) || n > maxSame {
			return nil, err
		}
		unique = fmt.Sprintf("%s-%d", name, n)
	}
	seen, err := d.root.Lstat(unique)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(d.path, unique)
	if err := private(path, seen); err != nil {
		return nil, err
	}
	root, err := d.root.OpenRoot(unique)
	if err != nil {
		return nil, err
	}
	return within(root, path, seen)
}

// put writes a file that is there as a whole or not at all. It is on the disk
// once the directory is synced.
func (d *directory) put(name string, content []byte) error {
	part := name + ".part"
	f, err := d.create(part)
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(d.path, name), err)
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = d.root.Rename(part, name)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(d.path, name), errors.Join(err, d.root.Remove(part)))
	}
	return nil
}

// sync makes the names of the directory durable.
func (d *directory) sync() error {
	f, err := d.root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(syncDirectory(f), f.Close())
}

// open opens a plain file of ours for reading.
func (d *directory) open(name string) (*os.File, error) {
	seen, err := d.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !seen.Mode().IsRegular() {
		return nil, &DamageError{File: name, Why: "it is not a plain file"}
	}
	if !ours(seen) || shared(seen) {
		return nil, &DamageError{File: name, Why: "others can write to it"}
	}
	f, err := d.root.OpenFile(name, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return nil, err
	}
	opened, err := f.Stat()
	if err == nil && !os.SameFile(seen, opened) {
		err = &DamageError{File: name, Why: "it was exchanged while it was opened"}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// read returns the content of a file of at most limit bytes.
func (d *directory) read(name string, limit int64) ([]byte, error) {
	f, err := d.open(name)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = &DamageError{File: name, Why: fmt.Sprintf("it has more than %d bytes", limit)}
	}
	return content, errors.Join(err, f.Close())
}

func (d *directory) close() error { return d.root.Close() }
