package backup

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/private"
)

// Listed is a backup as a list of them shows it.
type Listed struct {
	// Name is that of its directory, Path the whole of it.
	Name, Path string
	Head       Head
	// Objects is how many it has entries of.
	Objects int
	// sealed is when it was finished.
	sealed time.Time
	// Unreadable says why nothing else is known; nil for a backup that was finished.
	Unreadable error
}

// List looks at the backups in a directory, the newest first: their names start with the
// second, and of those of one second the one counts that was finished later. Of each it reads the head; whether all of it is whole, Open says. A directory
// that is not there has none.
func List(dir string) ([]Listed, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	found, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []Listed
	for _, f := range slices.Backward(found) {
		if !f.IsDir() {
			continue
		}
		l := Listed{Name: f.Name(), Path: filepath.Join(dir, f.Name())}
		l.Unreadable = l.read()
		list = append(list, l)
	}
	slices.SortStableFunc(list, func(a, b Listed) int {
		return cmp.Or(strings.Compare(second(b.Name), second(a.Name)), b.sealed.Compare(a.sealed))
	})
	return list, nil
}

// second is the time at the start of a name.
func second(name string) string {
	at, _, _ := strings.Cut(name, "-")
	return at
}

func (l *Listed) read() (err error) {
	dir, err := private.Enter(l.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	f, err := dir.Open(manifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrUnsealed
	}
	if err != nil {
		return err
	}
	if info, err := f.Stat(); err == nil {
		l.sealed = info.ModTime()
	}
	b := Backup{dir: dir}
	entries, _, err := b.manifest(f, &holding{})
	l.Head, l.Objects = b.Head, len(entries)
	return errors.Join(err, f.Close())
}
