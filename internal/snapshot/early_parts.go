package snapshot

import (
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
)

const (
	// partsFrom is the size from which on a file is read in parts.
	partsFrom = 8 << 20
	// partsEach is how many parts there are for each that is read at a time: some take longer.
	partsEach = 2
)

// readInParts reads a large file of one list before its turn, its parts beside one another. What
// it returns, unless it is nil, has to be called when the file has been told. As of a directory,
// what cannot be read so is read again, alone.
func (r *reader) readInParts(in *input, path string) (done func()) {
	if r.workers < 2 || r.options.Raw != nil || r.options.Wants != nil {
		return nil
	}
	e := &early{reader: r, stop: make(chan struct{})}
	f := &earlyFile{path: path}
	r.told.Store(int64(len(r.objects) + r.readBack))
	err := f.open(in.name, nameHint(in.name), func(file *os.File, _ io.Reader) error {
		if f.then.Size() < r.partsFrom || f.options.SkipText {
			return errNotEarly
		}
		parts := manifest.Parts(file, f.then.Size(), r.workers*partsEach)
		if len(parts) < 2 {
			return errNotEarly
		}
		return e.readParts(f, parts)
	})
	if err != nil {
		e.forget(f)
		return nil
	}
	f.whole = true
	r.early = f
	return func() {
		e.forget(f)
		r.early = nil
	}
}

// readParts reads all parts of a file. The list is told behind the last of them, with the items of all.
func (e *early) readParts(f *earlyFile, parts []*manifest.Part) error {
	lists := make([]manifest.List, len(parts))
	for range parts {
		f.told = append(f.told, &told{})
	}
	var next atomic.Int64
	var failed error
	var once sync.Once
	var working sync.WaitGroup
	for range min(e.reader.workers, len(parts)) {
		working.Go(func() {
			intern := manifest.NewInterner()
			for i := int(next.Add(1)) - 1; i < len(parts); i = int(next.Add(1)) - 1 {
				if err := e.readPart(f, parts[i], f.told[i], &lists[i], intern); err != nil {
					once.Do(func() {
						failed = err
						close(e.stop)
					})
					return
				}
			}
		})
	}
	working.Wait()
	if failed != nil {
		return failed
	}
	last := len(lists) - 1
	for _, l := range lists[:last] {
		lists[last].Items += l.Items
	}
	return f.told[last].listen().List(lists[last])
}

func (e *early) readPart(f *earlyFile, part *manifest.Part, t *told, list *manifest.List, intern *manifest.Interner) error {
	h := t.listen()
	h.List = func(l manifest.List) error {
		*list = l
		return nil
	}
	if err := part.Read(e.options(f, t, intern), h); err != nil {
		return err
	}
	return e.reserve(t, 0, 0)
}
