package snapshot

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// input is one path that the user named.
type input struct {
	name  string
	meter meter
	// sightings are the lists of this input. Their directories decide what they prove.
	sightings []*sighting
	// files is the number of files in a directory or archive.
	files int
	// discoveries are the directories with discovery documents.
	discoveries map[string]bool
	// runs are the runs of sonobuoy, bundles those of troubleshoot, by root.
	runs    map[string]*sonobuoyRun
	bundles map[string]*bundleRun
	// unread is true if a part could not be read. cut is true if it is unknown which part: an
	// archive that ends early may have contained the errors of a list.
	unread, cut bool
}

// merge adds the content of one file. It returns an error if the files together are too large.
func (in *input) merge(one *input) error {
	in.sightings = append(in.sightings, one.sightings...)
	in.files += one.files
	maps.Copy(in.discoveries, one.discoveries)
	for root, run := range one.runs {
		in.run(root).merge(run)
	}
	for root, b := range one.bundles {
		in.bundle(root).merge(b)
	}
	in.unread, in.cut = in.unread || one.unread, in.cut || one.cut
	return in.meter.merge(&one.meter)
}

// readInput reads one path.
func (r *reader) readInput(path string) error {
	in := &input{name: shownName(path), discoveries: map[string]bool{}}
	in.meter = meter{limits: r.limits, in: &counter{}}
	before, problems := r.amount(), len(r.problems)
	err := r.openInput(in, path)
	if err == nil && r.amount() == before && len(in.sightings) == 0 && len(r.problems) == problems {
		why := "it holds no Kubernetes objects"
		if in.files > 0 {
			why = fmt.Sprintf("none of its %d files is one of Kubernetes objects", in.files)
		}
		r.skipped.inputs = append(r.skipped.inputs, unread{in.name, why})
	}
	if err != nil {
		if !r.options.AllowPartial || errors.Is(err, ErrLimit) || errors.Is(err, errFormat) || errors.Is(err, fs.ErrNotExist) {
			return err
		}
		r.problems = append(r.problems, Problem{Kind: Unread, File: in.name, Message: err.Error()})
		in.unread, in.cut = true, true
	}
	if in.cut { // any of its lists may lack the unread part
		for _, s := range in.sightings {
			for _, at := range s.shown {
				r.failed = append(r.failed, failure{spot: at, reason: reason.Truncated, text: in.name + " could not be read to its end"})
			}
		}
		return nil
	}
	decideDirectories(in.sightings, in.discoveries)
	r.sightings = append(r.sightings, in.sightings...)
	for _, root := range slices.Sorted(maps.Keys(in.runs)) {
		in.runs[root].unread = in.unread
		r.runs = append(r.runs, in.runs[root])
	}
	for _, root := range slices.Sorted(maps.Keys(in.bundles)) {
		if !in.unread { // the unread part may be the missing file
			r.bundles = append(r.bundles, in.bundles[root])
		}
	}
	return nil
}

func (r *reader) openInput(in *input, path string) error {
	if path == "-" {
		if r.options.Stdin == nil {
			return errors.New("standard input is not available")
		}
		in.name = "standard input"
		in.meter.in.r = r.options.Stdin
		return r.readStream(in, stream{name: in.name, location: nameHint(in.name)}, in.meter.in)
	}
	stat, err := os.Stat(path)
	if err != nil {
		return err
	}
	switch {
	case stat.IsDir():
		return r.readDirectory(in, path)
	case stat.Mode()&fs.ModeDevice != 0:
		return fmt.Errorf("%s: a device is not a dump", in.name)
	}
	return r.readPath(in, path, func(f *os.File, content io.Reader) error {
		s := stream{name: in.name, location: nameHint(in.name)}
		if stat.Mode().IsRegular() {
			s.file = &sized{f, stat.Size()}
		}
		return r.readStream(in, s, content)
	})
}

// ignore counts a file without relevant content.
func (r *reader) ignore() { r.source.Ignored++ }

// shownName returns a path for messages. It is quoted if printing it as it is could confuse a
// terminal.
func shownName(path string) string {
	if quoted := fmt.Sprintf("%q", path); quoted != `"`+path+`"` {
		return quoted
	}
	return path
}

// readPath opens and reads a file. It returns an error if the file changed meanwhile: a file that
// is still being written is not a whole list.
// (spec N26)
func (r *reader) readPath(in *input, path string, read func(*os.File, io.Reader) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	before, err := f.Stat()
	if err != nil {
		return err
	}
	in.meter.in.r = f
	if err := read(f, in.meter.in); err != nil {
		return err
	}
	after, err := f.Stat()
	if err != nil {
		return err
	}
	if before.Mode().IsRegular() && (before.Size() != after.Size() || !before.ModTime().Equal(after.ModTime())) {
		return fmt.Errorf("%s: the file changed while it was read", shownName(path))
	}
	return nil
}

// tolerate turns the error of a file at a location into a problem if the user allows it. The file's
// list is then incomplete.
func (r *reader) tolerate(in *input, l location, file string, err error) error {
	if err == nil || !r.options.AllowPartial || errors.Is(err, ErrLimit) || errors.Is(err, errFormat) {
		return err
	}
	r.problems = append(r.problems, Problem{Kind: Unread, File: file, Message: err.Error()})
	in.unread = true
	if l.resource != "" {
		r.failed = append(r.failed, failure{location: l, reason: reason.Truncated, text: err.Error()})
	}
	return nil
}

// tolerateCut is tolerate for an archive or directory, which may contain files of any name.
func (r *reader) tolerateCut(in *input, name string, err error) error {
	in.cut = in.cut || err != nil
	return r.tolerate(in, location{}, name, err)
}

// readEntry reads one file of a directory or an archive. around is the latter.
func (r *reader) readEntry(in *input, around stream, name string, open func() (io.Reader, error)) error {
	if err := in.meter.entry(); err != nil {
		return fmt.Errorf("%s: %w", around.name, err)
	}
	name = path.Join(around.path, cleanName(name))
	l := locate(name)
	in.files++
	if in.files%(1<<10) == 0 {
		if err := r.reserve(0, 0); err != nil {
			return fmt.Errorf("%s: %w", in.name, err)
		}
	}
	if l.role == foreign && !l.archive {
		r.ignore()
		return nil
	}
	content, err := open()
	if err != nil {
		return err
	}
	s := stream{name: in.name + ": " + shownName(name), path: name, location: l,
		unpacked: around.unpacked, archives: around.archives + 1, counted: true}
	err = r.readStream(in, s, content)
	if l.resource == "" {
		return r.tolerateCut(in, s.name, err)
	}
	return r.tolerate(in, l, s.name, err)
}

// sized is a file that can be read at any offset.
type sized struct {
	io.ReaderAt
	size int64
}

// zipFile is a zip archive as a file. Reads count as input. Reads of its directory, which are
// proportional to the number of listed files, are limited.
type zipFile struct {
	sized
	in *counter
	// left is how many bytes of the directory may still be read; -1 after it was read.
	left int64
}

var errDirectory = errors.New("the directory is too large")

func (z *zipFile) ReadAt(p []byte, at int64) (int, error) {
	n, err := z.sized.ReadAt(p, at)
	if z.in != nil {
		z.in.n += int64(n)
	}
	if z.left >= 0 {
		if z.left -= int64(n); z.left < 0 {
			z.left = 0
			return 0, errDirectory
		}
	}
	return n, err
}

// endOfZip is the size of the part that is searched for the end of a zip directory: a record and a
// comment, 64 KiB at most.
const endOfZip = 128 << 10

func (r *reader) readZip(in *input, s stream, content io.Reader) error {
	z := &zipFile{in: in.meter.in, left: int64(r.limits.directoryBytes()) + endOfZip}
	if s.file == nil {
		held, err := readAll(content, r.limits.valueBytes(), "a zip archive that is not a file")
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		z.sized = sized{bytes.NewReader(held), int64(len(held))}
		z.in = nil // all of it was counted
	} else {
		z.sized = *s.file
	}
	archive, err := zip.NewReader(z, z.size)
	if errors.Is(err, errDirectory) {
		return fmt.Errorf("%s: %w", s.name, manifest.AboveLimit(r.limits.directoryBytes(), "the directory of a zip archive"))
	}
	z.left = -1
	if err != nil {
		return fmt.Errorf("%s: not a whole zip archive: %w", s.name, err)
	}
	for _, f := range archive.File {
		if !f.Mode().IsRegular() {
			continue
		}
		if err := r.readZipEntry(in, s, f); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) readZipEntry(in *input, s stream, f *zip.File) error {
	var closer io.Closer
	err := r.readEntry(in, s, f.Name, func() (io.Reader, error) {
		content, err := f.Open()
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", s.name, shownName(f.Name), err)
		}
		closer = content
		return &metered{r: content, m: &in.meter, whole: true}, nil
	})
	if closer != nil {
		_ = closer.Close()
	}
	return err
}

func (r *reader) readTar(in *input, s stream, content io.Reader) error {
	stream := &tarStream{counter: counter{r: content}}
	archive := tar.NewReader(stream)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			// The checksum of the surrounding compression follows the archive.
			if _, err = io.Copy(io.Discard, stream); err == nil && stream.zeros < tarBlock {
				err = io.ErrUnexpectedEOF
			}
		}
		if err == nil && header == nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: not a whole tar archive: %w", s.name, err)
		}
		if header.Typeflag != tar.TypeReg {
			if err := in.meter.entry(); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			continue
		}
		entry := &tarEntry{archive: archive, around: &stream.counter, m: &in.meter}
		if err := r.readEntry(in, s, header.Name, func() (io.Reader, error) { return entry, nil }); err != nil {
			return err
		}
	}
}

// tarStream is the input of a tar archive. A tar archive ends with a block of zeros: one that was
// cut off between two files has none.
type tarStream struct {
	counter
	// zeros is the number of trailing zero bytes so far.
	zeros int
}

func (t *tarStream) Read(p []byte) (int, error) {
	n, err := t.counter.Read(p)
	if rest := len(bytes.TrimRight(p[:n], "\x00")); rest > 0 {
		t.zeros = n - rest
	} else {
		t.zeros += n
	}
	return n, err
}

// tarEntry is one file of a tar archive. Reads through the archive are metered already; only holes
// of sparse files are not.
type tarEntry struct {
	archive io.Reader
	around  *counter
	m       *meter
	read    int64
}

func (t *tarEntry) Read(p []byte) (int, error) {
	before := t.around.n
	n, err := t.archive.Read(p)
	if t.read += int64(n); t.read > t.m.limits.EntryBytes {
		return 0, fmt.Errorf("%w: a file has more than %s", ErrSize, manifest.Size(t.m.limits.EntryBytes))
	}
	if hole := int64(n) - (t.around.n - before); hole > 0 {
		if grown := t.m.grow(hole); grown != nil {
			return 0, grown
		}
	}
	return n, err
}
