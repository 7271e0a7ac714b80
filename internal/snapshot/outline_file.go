package snapshot

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"sort"

	"github.com/go-json-experiment/json"
)

// storedFile is a file of our own format, compressed at most once.
type storedFile struct {
	file *os.File
	stat fs.FileInfo
	in   *input
	// packing is how it is compressed; text if it is not.
	packing format
}

// errForeign is the error of a file that is not of our own format.
var errForeign = errors.New("not a snapshot")

// openStored opens a file that may be of our own format, which its header shows; what
// is no file at all is errForeign.
func openStored(path string, limits Limits) (*storedFile, error) {
	limits, err := limits.withDefaults()
	if err != nil {
		return nil, err
	}
	stat, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !stat.Mode().IsRegular() { // opening a pipe waits for who writes to it
		return nil, errForeign
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f := &storedFile{file: file, in: &input{name: shownName(path), meter: meter{limits: limits, in: &counter{}}}}
	if err := f.recognise(); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

func (f *storedFile) close() { _ = f.file.Close() }

// recognise finds out how the file is compressed.
func (f *storedFile) recognise() (err error) {
	if f.stat, err = f.file.Stat(); err != nil {
		return err
	}
	var start [tarBlock]byte
	n, err := f.file.ReadAt(start[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	f.packing = formatOf(start[:n])
	return nil
}

// from reads what the file holds from an offset on, at which a part of it starts.
func (f *storedFile) from(offset int64, read func(*bufio.Reader) error) error {
	f.in.meter.in.r = io.NewSectionReader(f.file, offset, f.stat.Size()-offset)
	content := bufio.NewReaderSize(f.in.meter.in, 64<<10)
	if f.packing != gzipped && f.packing != zstandard {
		return read(content)
	}
	unpacked, closer, err := f.in.unpack(content, 0)
	if err != nil {
		return err
	}
	defer closer()
	return read(bufio.NewReaderSize(unpacked, 64<<10))
}

// lines are the lines that the file holds.
func (f *storedFile) lines(content *bufio.Reader) *lineReader {
	return &lineReader{r: content, hash: sha256.New(), limits: f.in.meter.limits}
}

// header reads the first line; errForeign if it is none of ours.
func (f *storedFile) header() (header *storedHeader, err error) {
	err = f.from(0, func(content *bufio.Reader) error {
		if start, err := content.Peek(len(formatMark)); err != nil || !isStored(start) {
			return errForeign // what is wrong with it, reading it as a dump says
		}
		header, err = readHeader(f.lines(content))
		return err
	})
	return header, f.named(err)
}

// named says which file an error is about.
func (f *storedFile) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", f.in.name, err)
}

// rows visits the lines that are objects, in their order. Those before a place may be
// left out.
func (f *storedFile) rows(from row, visit func(at row, line []byte) error) error {
	start := f.startBefore(from)
	return f.named(f.from(start, func(content *bufio.Reader) error {
		lines := f.lines(content)
		if start == 0 {
			if _, err := lines.next(); err != nil { // the header
				return err
			}
		}
		return eachRow(lines, visit)
	}))
}

// eachRow visits lines up to the last one of the file, which is no object.
func eachRow(lines *lineReader, visit func(at row, line []byte) error) error {
	for {
		line, err := lines.next()
		if err != nil {
			return err
		}
		at, ok := rowOf(line)
		if !ok {
			if isTrailer(line) {
				return nil
			}
			return fmt.Errorf("%w: a line is no object", errFormat)
		}
		if err := visit(at, line); err != nil {
			return err
		}
	}
}

func isTrailer(line []byte) bool {
	var trailer storedTrailer
	return json.Unmarshal(line, &trailer, json.RejectUnknownMembers(true)) == nil && trailer.Hash != ""
}

// startBefore is the offset of the last part that starts with an object before a place,
// so that no object from the place on stands before the part; 0 if there is none, or if
// the file does not consist of parts of ours. What decides are the lines with which
// parts start, not what the file says about itself.
func (f *storedFile) startBefore(place row) int64 {
	starts := startsOfParts(f.file, f.stat.Size(), f.packing)
	if len(starts) < 2 {
		return 0
	}
	odd := false
	// The first part starts with the header, which stands before everything.
	behind := sort.Search(len(starts)-1, func(i int) bool {
		first, ok := f.firstRow(starts[i+1])
		odd = odd || !ok
		return !ok || first.compare(place) >= 0
	})
	if odd {
		return 0
	}
	return starts[behind]
}

// mostFirst bounds how many bytes are read of the first line of a part; longer than
// any object of a cluster is as it is stored.
const mostFirst = 4 << 20

// firstRow is the first line of a part. The last line of the file, which is no object,
// counts as one behind all others.
func (f *storedFile) firstRow(offset int64) (first row, ok bool) {
	_ = f.from(offset, func(content *bufio.Reader) error { // what cannot be read is no row
		lines := f.lines(bufio.NewReaderSize(io.LimitReader(content, mostFirst), 4<<10))
		line, err := lines.next()
		if err != nil {
			return err
		}
		if first, ok = rowOf(line); !ok && isTrailer(line) {
			first, ok = row{number: math.MaxInt}, true
		}
		return nil
	})
	return first, ok
}
