package snapshot

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// early reads the files of a directory beside one another, before it is their turn: to read text
// takes most of the time that a dump takes. What is read of a file is told in its turn, as if it
// had been read then. A file of which not all is read, for whatever reason, is read again in its
// turn, and that says what is wrong with it. It has to be closed.
type early struct {
	reader *reader
	// files are those of the directory, which nobody changes. The turn has come to so many,
	// next is the one that is read next.
	files []*earlyFile
	turns int
	next  atomic.Int64
	// room has one for each file that may be read before the turn has come to it.
	room    chan struct{}
	stop    chan struct{}
	working sync.WaitGroup
}

// earlyFile is a file that is read early.
type earlyFile struct {
	path, name string
	// done is closed when nobody reads it any more.
	done chan struct{}
	// whole tells that it was read to its end, with these options, as it was then.
	whole   bool
	options manifest.Options
	then    os.FileInfo
	// told are its parts, in order.
	told []*told
}

// told is what reading told of a file, or of a part of one.
type told struct {
	objects []toldObject
	others  []toldOther
	moment  int64
	kubelet []string
	counted int
}

type toldObject struct {
	object *object.Object
	inList bool
}

// toldOther is what was told between objects, of which there were so many before.
type toldOther struct {
	after int
	tell  func(manifest.Handler) error
}

const (
	// mostEarly is how many files are read at a time, earlyEach how many of them wait for their
	// turn for each that is being read.
	mostEarly = 4
	earlyEach = 2
	// earlyPart is the part of the limits for single values that files have which are read
	// beside one another. What needs more is read alone.
	earlyPart = 8
)

// readEarly begins to read the files of a directory; nil where there is nothing to gain. Who wants
// the text of objects gets it in the order of the files only.
func (r *reader) readEarly(in *input, root, inside string, names []fileName) *early {
	workers := r.workers
	if workers < 2 || r.options.Raw != nil || r.options.Wants != nil {
		return nil
	}
	e := &early{reader: r, room: make(chan struct{}, workers*earlyEach), stop: make(chan struct{})}
	for _, name := range names {
		if !name.directory {
			below := cleanName(inside + "/" + name.text)
			e.files = append(e.files, &earlyFile{path: filepath.Join(root, name.text), name: below, done: make(chan struct{})})
		}
	}
	if workers = min(workers, len(e.files)); workers < 2 {
		return nil
	}
	for len(r.interners) < workers {
		r.interners = append(r.interners, manifest.NewInterner())
	}
	r.told.Store(int64(len(r.objects) + r.readBack))
	for i := range workers {
		e.working.Go(func() { e.work(in, r.interners[i]) })
	}
	return e
}

func (e *early) work(in *input, intern *manifest.Interner) {
	for {
		select {
		case <-e.stop:
			return
		case e.room <- struct{}{}:
		}
		i := int(e.next.Add(1)) - 1
		if i >= len(e.files) {
			return
		}
		f := e.files[i]
		if f.whole = e.read(in, f, intern) == nil; !f.whole {
			e.forget(f)
		}
		close(f.done)
	}
}

// turn waits for the next file, which is told from now on. Afterwards done has to be called.
func (e *early) turn() {
	f := e.files[e.turns]
	<-f.done
	e.reader.early = f
	e.reader.told.Store(int64(len(e.reader.objects) + e.reader.readBack))
}

func (e *early) done() {
	e.forget(e.files[e.turns])
	e.reader.early = nil
	e.turns++
	<-e.room
}

func (e *early) forget(f *earlyFile) {
	for _, t := range f.told {
		e.reader.ahead.Add(-int64(t.counted))
	}
	f.told = nil
}

// close returns once nobody reads any more.
func (e *early) close() {
	close(e.stop)
	e.working.Wait()
	e.reader.early = nil
	for _, f := range e.files[e.turns:] {
		e.forget(f)
	}
}

var errNotEarly = errors.New("not read early")

// read reads a file of objects that is plain text.
func (e *early) read(in *input, f *earlyFile, intern *manifest.Interner) error {
	l := locate(f.name)
	if l.role == foreign {
		return errNotEarly
	}
	return f.open(in.name+": "+shownName(f.name), l, func(_ *os.File, content io.Reader) error {
		t := &told{}
		f.told = []*told{t}
		if err := manifest.Read(content, e.options(f, t, intern), t.listen()); err != nil {
			return err
		}
		return e.reserve(t, 0, 0)
	})
}

// open opens a file of objects that is plain text, and finds out how to read it.
func (f *earlyFile) open(shown string, l location, read func(file *os.File, content io.Reader) error) error {
	file, err := os.Open(f.path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if f.then, err = file.Stat(); err != nil {
		return err
	}
	buffered := newBuffered(file)
	defer buffered.release()
	start, err := buffered.Peek(tarBlock)
	if err != nil && !errors.Is(err, io.EOF) || formatOf(start) != text {
		return errNotEarly
	}
	content := asUTF8(buffered.Reader)
	if start, err = content.Peek(startBytes); err != nil && !errors.Is(err, io.EOF) || isStored(start) {
		return errNotEarly
	}
	l, ok := l.holdsObjects(start)
	if !ok {
		return errNotEarly
	}
	f.options = textOptions(shown, l, start)
	return read(file, content)
}

// options are those to read a file with, or a part of it.
func (e *early) options(f *earlyFile, t *told, intern *manifest.Interner) manifest.Options {
	o := f.options
	o.Interner, o.Limits = intern, e.reader.limits.reading(func(bytes int64, waiting int) error { return e.reserve(t, bytes, waiting) })
	o.Limits.ValueBytes /= earlyPart
	o.Limits.ObjectBytes /= earlyPart
	o.Limits.ParsedBytes /= earlyPart
	return o
}

// reserve asks for memory as the reader does.
func (e *early) reserve(t *told, bytes int64, waiting int) error {
	select {
	case <-e.stop:
		return errNotEarly
	default:
	}
	e.reader.ahead.Add(int64(len(t.objects) - t.counted))
	t.counted = len(t.objects)
	return e.reader.ask(bytes, int(e.reader.told.Load())+waiting)
}

// listen notes all that is told.
func (t *told) listen() manifest.Handler {
	other := func(tell func(manifest.Handler) error) {
		t.others = append(t.others, toldOther{len(t.objects), tell})
	}
	return manifest.Handler{
		Object: func(o *object.Object, inList bool, _ manifest.Position) error {
			t.objects = append(t.objects, toldObject{o, inList})
			return nil
		},
		List: func(l manifest.List) error {
			other(func(h manifest.Handler) error { return h.List(l) })
			return nil
		},
		Foreign: func(at manifest.Position, what string) error {
			other(func(h manifest.Handler) error { return h.Foreign(at, what) })
			return nil
		},
		Moment:  func(seconds int64) { t.moment = max(t.moment, seconds) },
		Kubelet: func(version string) { t.kubelet = append(t.kubelet, version) },
	}
}

// is reports whether a file that is read with these options was read so, and has not changed.
func (f *earlyFile) is(o manifest.Options) bool {
	if f == nil || !f.whole || f.options.File != o.File || f.options.SkipText != o.SkipText ||
		f.options.APIVersion != o.APIVersion || f.options.Kind != o.Kind || f.options.Namespace != o.Namespace {
		return false
	}
	now, err := os.Stat(f.path)
	return err == nil && now.Size() == f.then.Size() && now.ModTime().Equal(f.then.ModTime()) && os.SameFile(now, f.then)
}

// tell tells what was read as Read would. Content is read as well, since it is counted.
func (f *earlyFile) tell(content io.Reader, h manifest.Handler) error {
	// Discard by itself would read in pieces of 8 KiB.
	if _, err := io.Copy(struct{ io.Writer }{io.Discard}, content); err != nil {
		return err
	}
	for _, t := range f.told {
		if err := t.tell(h); err != nil {
			return err
		}
	}
	return nil
}

func (t *told) tell(h manifest.Handler) error {
	if t.moment != 0 {
		h.Moment(t.moment)
	}
	for _, version := range t.kubelet {
		h.Kubelet(version)
	}
	others := t.others
	for i, told := range t.objects {
		for len(others) > 0 && others[0].after == i {
			if err := others[0].tell(h); err != nil {
				return err
			}
			others = others[1:]
		}
		if err := h.Object(told.object, told.inList, manifest.Position{}); err != nil {
			return err
		}
	}
	for _, o := range others {
		if err := o.tell(h); err != nil {
			return err
		}
	}
	return nil
}
