package manifest

import (
	"errors"
	"fmt"
)

// ErrLimit is in the chain of the error when an input needs more memory than Limits
// allow.
var ErrLimit = errors.New("the input exceeds a limit")

// The limits where Limits say nothing, in bytes. An object of a cluster has at most a few MiB:
// etcd takes 1.5 MiB by default.
const (
	usualValue  = 64 << 20
	usualObject = 16 << 20
	usualParsed = 128 << 20
)

// Limits bound what reading holds in memory at a time. Zero is the usual limit. What is
// passed over has none, but that of lines in YAML: there is no memory in it.
type Limits struct {
	// ValueBytes bounds what is held as it was written: a line of YAML or of a log, an object of
	// YAML, a spec or status whose kind comes later, and with Raw an object. 64 MiB.
	ValueBytes int
	// ObjectBytes bounds what is kept of one object: strings, references, entries. 16 MiB.
	ObjectBytes int
	// ParsedBytes bounds what the full YAML parser makes of a text, which is some thirty times
	// as much as the text. 128 MiB.
	ParsedBytes int
	// Reserve, if it is not nil, is called as input is read, and before much memory is taken:
	// with how many bytes, and with the number of objects that wait for the kind of their list.
	// Its error ends the Read.
	Reserve func(bytes int64, waiting int) error
}

func (l Limits) withDefaults() Limits {
	for _, f := range []struct {
		value *int
		usual int
	}{{&l.ValueBytes, usualValue}, {&l.ObjectBytes, usualObject}, {&l.ParsedBytes, usualParsed}} {
		if *f.value == 0 {
			*f.value = f.usual
		}
	}
	return l
}

// aboveLimit is the error for something of more than so many bytes.
func aboveLimit(bytes int, what string) error {
	return fmt.Errorf("%w: more than %s, the limit for %s", ErrLimit, Size(int64(bytes)), what)
}

// Size is a number of bytes for people, rounded down: "64 MiB".
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

// reserve asks for memory.
func (rd *reading) reserve(bytes int) error {
	if rd.limits.Reserve == nil {
		return nil
	}
	return rd.limits.Reserve(int64(bytes), rd.waiting)
}

// above is the Problem that a limit is exceeded at the current position.
func (l *lexer) above(err error) error {
	return l.rd.problem(l.here(), err.Error(), err)
}

// charge counts what is kept of the object that is being read.
func (l *lexer) charge(bytes int) error {
	if l.free {
		return nil
	}
	if l.held += bytes; l.held > l.rd.limits.ObjectBytes {
		return l.above(aboveLimit(l.rd.limits.ObjectBytes, "what is kept of one object"))
	}
	return nil
}

// entryBytes is what an entry of a list or mapping costs at least, whatever is in it: the
// places for it while it is read and afterwards, and what sharing it takes.
const entryBytes = 128

// reserveEach is how much input is read between two questions for memory. What it can grow to
// is well below the limit: two bytes can make a list, which is remembered in some 400.
const reserveEach = 128 << 10

// Weight is an upper bound of the memory, in bytes, that decoding a JSON text into values
// takes, be it into structs or maps: a few bytes of text can make a value of hundreds.
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

// yamlNodes is how many nodes of the full parser a character can make at most.
var yamlNodes = [256]uint8{'\n': 1, ',': 2, ':': 2, '[': 1, '{': 1, '-': 1, '?': 2, '&': 1, '*': 1, '!': 1, '#': 1}

// yamlWeight is an upper bound of the memory that the full parser takes for a text.
func yamlWeight(text []byte) int {
	const perNode, perByte = 240, 4
	nodes := 0
	for _, c := range text {
		nodes += int(yamlNodes[c])
	}
	return nodes*perNode + len(text)*perByte
}

// checkOdd refuses a text that the full parser would need too much memory for.
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

// maxOdd is the length of text beyond which the full parser surely needs too much memory.
func (rd *reading) maxOdd() int { return rd.limits.ParsedBytes / 4 }

// oddYAML is the Problem of YAML that only the full parser could read.
func (rd *reading) oddYAML(line int) error {
	err := fmt.Errorf("%w: reading it would take more than %s, the limit for YAML that is not in the form that kubectl writes; JSON and the form of kubectl have no such limit",
		ErrLimit, Size(int64(rd.limits.ParsedBytes)))
	return rd.problem(line, err.Error(), err)
}
