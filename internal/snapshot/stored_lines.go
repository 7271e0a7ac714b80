package snapshot

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
)

// lineReader reads lines and hashes them.
type lineReader struct {
	ahead *ahead
	sum   *sum
	// block is what was read last. The next line starts at next, lines up to taken count, and
	// those up to hashed are hashed.
	block               []byte
	next, taken, hashed int
	// line is the current one, long the room for those that are in several blocks.
	line, long []byte
	// number is that of the current line, objects how many were read before it.
	number, objects int
	limits          Limits
	// reserve asks for memory, with how many objects were read here; nil where nobody
	// counts it. unasked is how much was read since.
	reserve func(bytes int64, objects int) error
	unasked int
}

// lines are the lines of a file of our own format, to be closed before anything else is read of it.
func (r *reader) lines(content *bufio.Reader) *lineReader {
	a := readAhead(content)
	return &lineReader{ahead: a, sum: newSum(a), limits: r.limits, reserve: r.reserve}
}

// close ends what goes on beside.
func (l *lineReader) close() {
	l.ahead.close()
	l.sum.close()
}

// reserveEach is how much is read between two questions for memory.
const reserveEach = 128 << 10

// check asks whether the current line may be decoded.
func (l *lineReader) check() error {
	weight := int64(0)
	if len(l.line) > 4<<10 {
		if err := l.limits.checkDecoding(l.line); err != nil {
			return l.at(err)
		}
		weight = manifest.Weight(l.line)
	}
	return l.ask(len(l.line), weight)
}

// ask asks for memory behind so many more bytes of the file.
func (l *lineReader) ask(read int, memory int64) error {
	if l.unasked += read; l.reserve == nil || memory+int64(l.unasked) < reserveEach {
		return nil
	}
	l.unasked = 0
	return l.at(l.reserve(memory, l.objects))
}

// at says in which line something is wrong.
func (l *lineReader) at(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("line %d: %w", l.number, err)
}

// read returns the next line without its end. The line is valid until the next
// call.
func (l *lineReader) read() ([]byte, error) {
	l.number++
	l.long = l.long[:0]
	for {
		rest := l.block[l.next:]
		end := bytes.IndexByte(rest, '\n')
		part := rest[:end+1]
		if end < 0 {
			part = rest
		}
		if most := l.limits.valueBytes(); len(l.long)+len(part) > most {
			return nil, l.at(above(most, "one value or line"))
		}
		l.next += len(part)
		if end >= 0 && len(l.long) == 0 {
			l.line = part
			return part[:end], nil
		}
		if cap(l.long)-len(l.long) < len(part) {
			l.long = slices.Grow(l.long, max(len(l.long), len(part))) // twofold makes less garbage
		}
		l.long = append(l.long, part...)
		if end >= 0 {
			l.line = l.long
			return l.line[:len(l.line)-1], nil
		}
		if len(part) > 0 {
			if err := l.ask(len(part), int64(len(l.long))); err != nil {
				return nil, err
			}
		}
		if err := l.turn(); errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%w: it ends before its last line: %w", errFormat, manifest.ErrTruncated)
		} else if err != nil {
			return nil, fmt.Errorf("%w: %w", errFormat, err)
		}
	}
}

// turn goes on to the next block.
func (l *lineReader) turn() error {
	l.sum.add(l.block[l.hashed:l.taken], l.block)
	l.block, l.next, l.hashed, l.taken = nil, 0, 0, 0
	var err error
	l.block, err = l.ahead.next()
	return err
}

// take counts the current line as part of what the trailer vouches for.
func (l *lineReader) take() {
	if len(l.long) > 0 {
		l.sum.addCopy(l.line)
		l.hashed = l.next
	}
	l.taken = l.next
}

// hash is the hash of all lines that were taken.
func (l *lineReader) hash() []byte {
	l.sum.add(l.block[l.hashed:l.taken], nil)
	l.hashed = l.taken
	return l.sum.value()
}

// ends is an error if something follows the current line.
func (l *lineReader) ends() error {
	var err error
	if l.next == len(l.block) {
		err = l.turn()
	}
	switch {
	case err == nil:
		return fmt.Errorf("%w: something follows its last line", errFormat)
	case !errors.Is(err, io.EOF):
		return fmt.Errorf("%w: %w", errFormat, err)
	}
	return nil
}
