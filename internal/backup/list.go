package backup

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Listed is a backup as a list of backups shows it.
type Listed struct {
	// Name is the name of its directory, Path the absolute path.
	Name, Path string
	Head       Head
	// Objects is the number of its entries. Main is the most telling one: a namespace, else a CRD,
	// else the first that was deleted.
	Objects int
	Main    object.Ref
	// Undone is when its last undo began, zero if there was none. Partly reports that its undos
	// failed to recreate some object or that the last undo did not finish.
	Undone time.Time
	Partly bool
	// sealed is when the backup was finished.
	sealed time.Time
	// Unreadable is why nothing else is known; nil for a readable, finished backup.
	Unreadable error
}

// List returns the backups in a directory, newest first. Names start with the second of creation;
// among equal seconds, the backup finished last comes first. List reads only the heads, entries and
// undos; Open verifies the rest. A missing directory has no backups.
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
		list = append(list, Describe(filepath.Join(dir, f.Name())))
	}
	slices.SortStableFunc(list, func(a, b Listed) int {
		return cmp.Or(strings.Compare(timeInName(b.Name), timeInName(a.Name)), b.sealed.Compare(a.sealed))
	})
	return list, nil
}

// Describe reads one backup as List does.
func Describe(path string) Listed {
	l := Listed{Name: filepath.Base(path), Path: path}
	l.Unreadable = l.read()
	return l
}

// Digest identifies a backup by its name and manifest, to confirm its removal. An unfinished backup
// has no manifest and is identified by its name.
func Digest(path string) (string, error) {
	dir, err := OpenDirectory(path)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\n", filepath.Base(path))
	f, err := dir.Open(manifestName)
	if err == nil {
		_, err = io.Copy(h, f)
		err = errors.Join(err, f.Close())
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), errors.Join(err, dir.Close())
}

// timeInName returns the time at the start of a name.
func timeInName(name string) string {
	at, _, _ := strings.Cut(name, "-")
	return at
}

func (l *Listed) read() (err error) {
	dir, err := OpenDirectory(l.Path)
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
	entries, _, err := b.manifest(f, &memoryUse{})
	l.Head, l.Objects = b.Head, len(entries)
	for _, kind := range []object.Kind{object.CRD, object.Namespace} {
		if i := slices.IndexFunc(entries, func(e Entry) bool { return e.Object.Is(kind) }); i >= 0 {
			l.Main = entries[i].Object
		}
	}
	if l.Main.Name == "" && len(entries) > 0 {
		l.Main = entries[max(0, slices.IndexFunc(entries, func(e Entry) bool { return e.Action == Deleted }))].Object
	}
	return errors.Join(err, f.Close(), l.readUndos())
}

// readUndos sets Undone and Partly from the journals of the undos.
func (l *Listed) readUndos() error {
	earlier, err := undosOf(l.Path, nil)
	if err != nil || len(earlier) == 0 {
		return err
	}
	made := map[object.Ref]bool{}
	for _, b := range earlier {
		l.Undone = b.Head.Created
		intents := map[int]object.Ref{}
		for i := range b.Journal {
			switch r := &b.Journal[i]; {
			case r.Kind == Intended && r.Intent.Verb == http.MethodPost:
				intents[r.Seq] = r.Intent.Object
				made[r.Intent.Object] = made[r.Intent.Object]
			case r.Kind == Answered && r.Result.Outcome == Confirmed:
				if ref, post := intents[r.Of]; post {
					made[ref] = true
				}
			}
		}
	}
	l.Partly = !earlier[len(earlier)-1].Ended
	for _, is := range made {
		l.Partly = l.Partly || !is
	}
	return nil
}

// Remove deletes a backup. It is an error if path is no backup. The manifest is removed first, so
// an interrupted removal leaves nothing that can be undone.
func Remove(path string) error {
	if !Is(path) {
		return fmt.Errorf("%s is not a backup", path)
	}
	if err := os.Remove(filepath.Join(path, manifestName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.RemoveAll(path)
}
