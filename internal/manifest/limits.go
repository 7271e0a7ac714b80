package manifest

import (
	"cmp"
	"errors"
	"fmt"
)

// ErrLimit is in the error chain if an input needs more memory than Limits allow.
var ErrLimit = errors.New("the input exceeds a limit")

// The default limits in bytes. An object of a cluster has at most a few MiB: etcd accepts 1.5 MiB
// by default.
const (
	usualValue  = 64 << 20
	usualObject = 16 << 20
	usualParsed = 128 << 20
)

// Limits bound the memory that reading uses at a time. Zero means the default. Skipped text is not
// limited, except lines in YAML, because it isn't held.
type Limits struct {
	// ValueBytes bounds text that is held as written: a line of YAML or of a log, an object of
	// YAML, a spec or status before its kind, and with Raw an object. 64 MiB.
	ValueBytes int
	// ObjectBytes bounds the kept parts of one object: strings, references, entries. 16 MiB.
	ObjectBytes int
	// ParsedBytes bounds the parsed form of a text in the full YAML parser, which is about thirty
	// times as large as the text. 128 MiB.
	ParsedBytes int
	// Reserve, if not nil, is called while input is read, and before large allocations. Its
	// parameters are the number of bytes, and the number of objects that wait for the kind of their
	// list. Its error ends the Read.
	Reserve func(bytes int64, waiting int) error
}

func (l Limits) withDefaults() Limits {
	l.ValueBytes = cmp.Or(l.ValueBytes, usualValue)
	l.ObjectBytes = cmp.Or(l.ObjectBytes, usualObject)
	l.ParsedBytes = cmp.Or(l.ParsedBytes, usualParsed)
	return l
}

// AboveLimit returns the error for exceeding a limit in bytes.
func AboveLimit(bytes int, what string) error {
	return fmt.Errorf("%w: more than %s, the limit for %s", ErrLimit, Size(int64(bytes)), what)
}

// Size returns a number of bytes for people, rounded down: "64 MiB".
func Size(bytes int64) string {
	switch {
	case bytes >= 10<<30 || bytes >= 1<<30 && bytes%(1<<30) == 0:
		return fmt.Sprintf("%d GiB", bytes>>30)
	case bytes >= 1<<20:
		return fmt.Sprintf("%d MiB", bytes>>20)
	case bytes >= 1<<10:
		return fmt.Sprintf("%d KiB", bytes>>10)
	default:
		return fmt.Sprintf("%d bytes", bytes)
	}
}

// reserve requests memory.
func (rd *reading) reserve(bytes int) error {
	if rd.limits.Reserve == nil {
		return nil
	}
	return rd.limits.Reserve(int64(bytes), rd.waiting)
}

// above returns the Problem that a limit is exceeded at the current position.
func (l *lexer) above(err error) error {
	return l.rd.problem(l.here(), err.Error(), err)
}

// charge adds to the size of the kept parts of the current object.
func (l *lexer) charge(bytes int) error {
	if l.free {
		return nil
	}
	if l.held += bytes; l.held > l.rd.limits.ObjectBytes {
		return l.above(AboveLimit(l.rd.limits.ObjectBytes, "what is kept of one object"))
	}
	return nil
}

// entryBytes is the minimum cost of an entry of a list or mapping, whatever its content: its memory
// while it is read and afterwards, and the cost of sharing it.
const entryBytes = 128

// reserveEach is the number of input bytes between two requests for memory. Their decoded form
// stays well below the limit: two bytes can make a list, which takes about 400.
const reserveEach = 128 << 10

// Weight returns an upper bound of the memory, in bytes, for decoding a JSON text into structs or
// maps: a few bytes of text can become hundreds.
func Weight(text []byte) int64 {
	const perObject, perArray, perEntry = 384, 64, 128
	weight := 2 * int64(len(text))
	for _, c := range text {
		switch c {
		case '{':
			weight += perObject
		case '[':
			weight += perArray
		case ',':
			weight += perEntry
		}
	}
	return weight
}

// yamlNodes is the maximum number of nodes that a character can create in the full parser.
var yamlNodes = [256]uint8{'\n': 1, ',': 2, ':': 2, '[': 1, '{': 1, '-': 1, '?': 2, '&': 1, '*': 1, '!': 1, '#': 1}

// yamlWeight returns an upper bound of the memory that the full parser uses for a text.
func yamlWeight(text []byte) int {
	const perNode, perByte = 240, 4
	nodes := 0
	for _, c := range text {
		nodes += int(yamlNodes[c])
	}
	return nodes*perNode + len(text)*perByte
}

// checkOdd returns a Problem if the full parser would need too much memory for a text.
func (rd *reading) checkOdd(text []byte, line int) error {
	weight := yamlWeight(text)
	if weight > rd.limits.ParsedBytes {
		return rd.oddYAML(line)
	}
	if weight < reserveEach {
		return nil
	}
	if err := rd.reserve(weight); err != nil {
		return rd.problem(line, err.Error(), err)
	}
	return nil
}

// maxOdd returns the length above which the full parser certainly needs too much memory.
func (rd *reading) maxOdd() int { return rd.limits.ParsedBytes / 4 }

// oddYAML returns the Problem for YAML that only the full parser could read.
func (rd *reading) oddYAML(line int) error {
	err := fmt.Errorf("%w: reading it would take more than %s, the limit for YAML that is not in the form that kubectl writes; JSON and the form of kubectl have no such limit",
		ErrLimit, Size(int64(rd.limits.ParsedBytes)))
	return rd.problem(line, err.Error(), err)
}
