package kept

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Record is a history that was kept: a history.Record.
type Record struct {
	annals *annals
	files  []*file
	// writes are what came and went in each place, in order.
	writes map[place][]write
	// torn are the files whose end was lost.
	torn []string
}

// write is what a place held from a revision on.
type write struct {
	revision       uint64
	uid            types.UID
	added, deleted bool
}

// segmentName is what a segment of a directory is called.
var segmentName = regexp.MustCompile(`^(\d{8})\.history$`)

// segments are the numbers of the segments in a directory, sorted.
func segments(dir string) ([]int, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var list []int
	for _, e := range entries {
		if m := segmentName.FindStringSubmatch(e.Name()); m != nil {
			n, err := strconv.Atoi(m[1])
			if err != nil {
				return nil, err
			}
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list, nil
}

func nameOf(segment int) string { return fmt.Sprintf("%08d.history", segment) }

// IsDirectory reports whether a directory has segments of a history.
func IsDirectory(dir string) bool {
	list, err := segments(dir)
	return err == nil && len(list) > 0
}

// Open reads a file of history, or a directory of them. The key may be nil for one that is not
// encrypted.
func Open(ctx context.Context, path string, key Key) (*Record, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	r := &Record{annals: newAnnals()}
	if !info.IsDir() {
		err = r.read(ctx, path, path, key)
	} else {
		err = r.readAll(ctx, path, key)
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	r.index()
	return r, nil
}

func (r *Record) readAll(ctx context.Context, dir string, key Key) error {
	list, err := segments(dir)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return fmt.Errorf("%s holds no history", dir)
	}
	for i, n := range list {
		if i > 0 && list[i-1] != n-1 {
			r.annals.lacks = "a file of the history is missing"
		}
		torn := len(r.torn)
		if err := r.read(ctx, filepath.Join(dir, nameOf(n)), nameOf(n), key); err != nil {
			return r.without(err)
		}
		if len(r.torn) > torn {
			r.annals.lacks = "the end of a file was lost"
		}
	}
	return nil
}

// without says what is not known without a file that is damaged.
func (r *Record) without(err error) error {
	if _, damaged := errors.AsType[*DamageError](err); !damaged || r.annals.to == 0 {
		return err
	}
	return fmt.Errorf("%w; without this file nothing is known from revision %d on until the next file: move it away to read the others", err, r.annals.to)
}

// read reads one file into the annals.
func (r *Record) read(ctx context.Context, path, name string, key Key) error {
	f, err := openFile(path, name, key)
	if errors.Is(err, errTorn) {
		r.torn = append(r.torn, name)
		return nil
	}
	if err != nil {
		return err
	}
	r.files = append(r.files, f)
	torn, err := f.each(len(r.files)-1, func(e *entry, at spot) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.annals.take(e, at); err != nil {
			return damaged(name, at.frame, fmt.Sprintf("line %d: %s", at.line+1, err))
		}
		return nil
	})
	if torn {
		r.torn = append(r.torn, name)
	}
	return err
}

// index sorts the writes by their places.
func (r *Record) index() {
	r.writes = map[place][]write{}
	for _, k := range r.annals.order() {
		s := r.annals.kinds[k]
		for _, o := range s.first {
			w := write{uid: o.UID}
			if s.begin > r.annals.from {
				w.revision = s.begin
			}
			r.writes[placeOf(o.Ref)] = append(r.writes[placeOf(o.Ref)], w)
		}
	}
	for i := range r.annals.changes {
		c := &r.annals.changes[i]
		at := placeOf(c.Object.Ref)
		r.writes[at] = append(r.writes[at], write{c.Revision, c.Object.UID, c.Type == object.Added, c.Type == object.Deleted})
	}
	for at := range r.writes {
		slices.SortStableFunc(r.writes[at], func(a, b write) int {
			switch {
			case a.revision < b.revision:
				return -1
			case a.revision > b.revision:
				return 1
			}
			return 0
		})
	}
}

// Past is what was kept of a window.
func (r *Record) Past(_ context.Context, w history.Window) (*history.Past, error) {
	return r.annals.past(w)
}

// Cluster is whose history it is.
func (r *Record) Cluster() Cluster { return r.annals.cluster }

// To is the revision up to which everything was seen; 0 where that is not known.
func (r *Record) To() uint64 { return r.annals.to }

// Torn are the files whose end was not on the disk, and is lost: those of a crash.
func (r *Record) Torn() []string { return r.torn }

// Close lets go of the files.
func (r *Record) Close() {
	for _, f := range r.files {
		f.close()
	}
}
