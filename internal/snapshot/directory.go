package snapshot

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
)

// The files of a directory tree are read concurrently, a few at a time. Each file has its own
// reader, which shares only the memory account with the others. Results are merged in the order of
// the paths, so that they equal those of reading the files one after the other.

const (
	// mostFiles is the number of files that are read concurrently.
	mostFiles = 4
	// mostUnmerged is the number of files that may wait, read but unmerged, for an earlier one.
	// Each gets this fraction of the transient memory that Limits allow. A file that needs more is
	// read again with all of it when its turn comes.
	mostUnmerged = 8
)

// errStopped ends the reading of a file after its result has become useless.
var errStopped = errors.New("stopped")

// directoryFile is a file below a directory, or a directory that could not be listed.
type directoryFile struct {
	// path is the path for opening the file, name the path within the input.
	path, name string
	// unlisted is why a directory could not be listed; nil for a file.
	unlisted error
}

// fileResult is the content of one file.
type fileResult struct {
	reader *reader
	input  *input
	// err ends the reading of the whole input.
	err error
}

// readDirectory reads all files below a directory and merges their results in the order of their
// paths.
func (r *reader) readDirectory(in *input, root string) error {
	files := r.filesIn(in, root, "", nil)
	if r.workers == 1 {
		for _, f := range files {
			if err := r.merge(in, f, r.readOne(in, f, r.intern, 1, nil)); err != nil {
				return err
			}
		}
		return nil
	}
	type job struct {
		file directoryFile
		done chan *fileResult // buffered: one result
	}
	jobs, unmerged, stop := make(chan job), make(chan job, mostUnmerged), make(chan struct{})
	var working sync.WaitGroup
	defer working.Wait()
	defer close(stop)
	working.Go(func() {
		defer close(unmerged)
		defer close(jobs)
		for _, f := range files {
			j := job{f, make(chan *fileResult, 1)}
			select {
			case unmerged <- j:
			case <-stop:
				return
			}
			select {
			case jobs <- j:
			case <-stop:
				return
			}
		}
	})
	for range r.workers {
		working.Go(func() {
			intern := manifest.NewInterner()
			for j := range jobs {
				j.done <- r.readOne(in, j.file, intern, mostUnmerged, stop)
			}
		})
	}
	for j := range unmerged {
		result := <-j.done
		if err := result.err; errors.Is(err, ErrLimit) && !errors.Is(err, ErrSize) && !errors.Is(err, ErrFiles) { // it may need more memory
			r.memory.forget(result.reader.counted)
			result = r.readOne(in, j.file, r.intern, 1, nil)
		}
		if err := r.merge(in, j.file, result); err != nil {
			return err
		}
	}
	return nil
}

// readOne reads a file with its own reader, which may use 1/share of the transient memory that the
// limits allow. It only reads r and in, and only parts of them that merge doesn't change.
func (r *reader) readOne(in *input, f directoryFile, intern *manifest.Interner, share int64, stop <-chan struct{}) *fileResult {
	limits := r.limits
	limits.MemoryBytes /= share
	one := &reader{options: r.options, limits: limits, intern: intern, seen: map[typeName]*kindSeen{}, memory: r.memory, stop: stop}
	around := &input{name: in.name, discoveries: map[string]bool{}, meter: meter{limits: limits, in: &counter{}}}
	result := &fileResult{reader: one, input: around}
	if f.unlisted != nil {
		result.err = one.tolerateCut(around, shownName(f.path), f.unlisted)
		return result
	}
	err := one.readPath(around, f.path, func(_ *os.File, content io.Reader) error {
		return one.readEntry(around, stream{name: in.name}, f.name, func() (io.Reader, error) {
			return &metered{r: content, m: &around.meter, whole: true}, nil
		})
	})
	result.err = one.tolerate(around, locate(f.name), shownName(f.path), err)
	return result
}

// merge adds the content of a file.
func (r *reader) merge(in *input, f directoryFile, result *fileResult) error {
	if result.err != nil {
		return result.err
	}
	if err := in.merge(result.input); err != nil {
		return inputError(in.name+": "+shownName(f.name), err)
	}
	one := result.reader
	r.objects = append(r.objects, one.objects...)
	for name, k := range one.seen {
		r.addSeen(name, k)
	}
	r.failed = append(r.failed, one.failed...)
	r.documents.merge(&one.documents)
	r.source.Ignored += one.source.Ignored
	r.source.KubernetesVersion = newer(r.source.KubernetesVersion, one.source.KubernetesVersion)
	r.problems = append(r.problems, one.problems...)
	r.at(one.moment)
	r.kubelets.merge(one.kubelets)
	r.skipped.merge(&one.skipped)
	r.stored = append(r.stored, one.stored...)
	r.readBack += one.readBack
	r.revisionRead = r.revisionRead || one.revisionRead
	r.counted += one.counted
	if in.files%(1<<10) == 0 {
		return r.reserve(0, 0)
	}
	return nil
}

// addSeen adds what objects of a kind show about their resource.
func (r *reader) addSeen(name typeName, k *kindSeen) {
	have := r.seen[name]
	if have == nil {
		r.seen[name] = k
		return
	}
	have.namespaced = have.namespaced || k.namespaced
	have.plural = cmp.Or(have.plural, k.plural)
}

// filesIn appends the files below a directory in the order of their paths. inside is the
// directory's path within the input. Links, pipes and devices are skipped: they can lead anywhere
// or nowhere.
func (r *reader) filesIn(in *input, root, inside string, files []directoryFile) []directoryFile {
	names, err := r.namesIn(in, root, len(files))
	if err != nil {
		return append(files, directoryFile{path: root, unlisted: err})
	}
	for _, name := range names {
		below := directoryFile{path: filepath.Join(root, name.Name()), name: path.Join(inside, name.Name())}
		if name.IsDir() {
			files = r.filesIn(in, below.path, below.name, files)
		} else {
			files = append(files, below)
		}
	}
	return files
}

// namesIn returns the sorted names of the files and directories in a directory. known is the number
// of files of the input so far.
func (r *reader) namesIn(in *input, path string, known int) (names []fs.DirEntry, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	for {
		const some = 1 << 10
		entries, err := f.ReadDir(some)
		for _, d := range entries {
			if d.IsDir() || d.Type().IsRegular() {
				names = append(names, d)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && known+len(names) > r.limits.Entries {
			err = in.meter.tooMany()
		}
		if err == nil {
			err = r.reserve(0, 0)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", shownName(path), err)
		}
	}
	slices.SortFunc(names, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return names, nil
}

// memory requests memory on behalf of all readers. It is safe for concurrent use.
type memory struct {
	// room is Options.Memory, limits are passed to it.
	room   func(bytes int64, objects int, limits Limits) error
	limits Limits

	mu sync.Mutex
	// objects is the number of objects read so far.
	objects int
}

// ask requests memory after so many more objects were read.
func (m *memory) ask(bytes int64, more int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.objects += more
	if m.room == nil {
		return nil
	}
	return m.room(bytes, m.objects, m.limits)
}

// forget subtracts the objects of an abandoned reader.
func (m *memory) forget(objects int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.objects -= objects
}
