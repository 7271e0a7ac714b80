package kept

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/go-json-experiment/json"
	"github.com/klauspost/compress/zstd"
)

// Is reports whether a file begins as one of history does.
func Is(begin []byte) bool { return bytes.HasPrefix(begin, []byte(mark)) }

// mostTitle bounds the first line of a file.
const mostTitle = 1024

// file is one that is being read.
type file struct {
	name    string
	f       *os.File
	sealing *sealing
	unpack  *zstd.Decoder
	key     Key
	// from is where the frames begin.
	from int64
}

// openFile reads the first line of a file.
func openFile(path, name string, key Key) (*file, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r := &file{name: name, f: f, key: key}
	if err := r.open(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return r, nil
}

func (r *file) open() error {
	info, err := r.f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a plain file", r.name)
	}
	line, err := bufio.NewReader(io.LimitReader(r.f, mostTitle)).ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		err = &DamageError{File: r.name, Why: "it does not begin as a history does"}
		if begins := min(len(line), len(mark)); len(line) < mostTitle && string(line[:begins]) == mark[:begins] {
			err = errTorn
		}
	}
	if err != nil {
		return err
	}
	var t title
	switch err := json.Unmarshal(line, &t); {
	case err != nil || !Is(line):
		return &DamageError{File: r.name, Why: "it does not begin as a history does"}
	case t.Format != formatVersion:
		return fmt.Errorf("%s: its format has version %d, this program reads %d", r.name, t.Format, formatVersion)
	case !t.wrote(line):
		return &DamageError{File: r.name, Why: "its first line is not what was written"}
	case t.Encrypted && r.key == nil:
		return fmt.Errorf("%s: %w", r.name, errNoKey)
	case !t.Encrypted:
		r.key = nil
	}
	r.from = int64(len(line))
	if r.sealing, err = newSealing(t.ID, r.key); err != nil {
		return err
	}
	r.unpack, err = newUnpacker()
	return err
}

func (r *file) close() {
	if r.unpack != nil {
		r.unpack.Close()
	}
	_ = r.f.Close()
}

// spot is where an entry stands.
type spot struct {
	file   int
	offset int64
	frame  uint64
	line   int
}

// errTooMuch ends the reading of a file that unpacks to more than a history has.
var errTooMuch = errors.New("it unpacks to far more than a history does")

// A history unpacks to about ten times its size. What is far beyond that was made to fill the
// memory.
const (
	mostRatio = 100
	freeBytes = 64 << 20
)

// each hands over the entries of a file with where they stand. Torn says that the end of the file
// was lost.
func (r *file) each(number int, take func(*entry, spot) error) (torn bool, err error) {
	info, err := r.f.Stat()
	if err != nil {
		return false, err
	}
	if _, err := r.f.Seek(r.from, io.SeekStart); err != nil {
		return false, err
	}
	in := bufio.NewReaderSize(r.f, 1<<20)
	at := spot{file: number, offset: r.from}
	room := info.Size()*mostRatio + freeBytes
	for ; ; at.frame++ {
		entries, size, err := r.sealing.next(in, r.unpack, at.frame)
		switch {
		case errors.Is(err, io.EOF):
			return false, nil
		case errors.Is(err, errTorn):
			return true, nil
		case errors.Is(err, errWrongKey):
			return false, fmt.Errorf("%s: %w, or it is damaged", r.name, err)
		case err != nil:
			return false, damaged(r.name, at.frame, err.Error())
		}
		if room -= int64(len(entries)); room < 0 {
			return false, damaged(r.name, at.frame, errTooMuch.Error())
		}
		if err := eachLine(entries, func(line int, text []byte) error {
			var e entry
			if err := json.Unmarshal(text, &e); err != nil {
				return damaged(r.name, at.frame, fmt.Sprintf("line %d: %s", line+1, err))
			}
			at.line = line
			return take(&e, at)
		}); err != nil {
			return false, err
		}
		at.offset += size
	}
}

// eachLine calls take for every line of a frame.
func eachLine(entries []byte, take func(line int, text []byte) error) error {
	for n := 0; len(entries) > 0; n++ {
		line, rest, _ := bytes.Cut(entries, []byte{'\n'})
		if err := take(n, line); err != nil {
			return err
		}
		entries = rest
	}
	return nil
}

// errFound ends a search through the lines of a frame.
var errFound = errors.New("found")

// at reads the entry at a spot.
func (r *file) at(s spot) (*entry, error) {
	if _, err := r.f.Seek(s.offset, io.SeekStart); err != nil {
		return nil, err
	}
	entries, _, err := r.sealing.next(r.f, r.unpack, s.frame)
	if err != nil {
		return nil, damaged(r.name, s.frame, err.Error())
	}
	var e entry
	err = eachLine(entries, func(line int, text []byte) error {
		if line != s.line {
			return nil
		}
		if err := json.Unmarshal(text, &e); err != nil {
			return damaged(r.name, s.frame, err.Error())
		}
		return errFound
	})
	if err == nil {
		err = damaged(r.name, s.frame, "it has changed since it was read")
	}
	if !errors.Is(err, errFound) {
		return nil, err
	}
	return &e, nil
}
