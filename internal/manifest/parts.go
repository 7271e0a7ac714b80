package manifest

import (
	"bytes"
	"errors"
	"io"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Part is a part of a text that is one list: a list of its own, which says of itself what the
// whole one says, and has some of its items.
type Part struct {
	text io.ReaderAt
	// head is the text up to the first item, tail what follows the last one; from and to are
	// those of the items of the part.
	head, from, to, tail, size int64
	// ended tells that the items of the list that was read ended where those of the part do.
	ended bool
}

// itemsEnd is where the items of the part end in its text.
func (p *Part) itemsEnd() int { return int(p.head + p.to - p.from) }

// errPart is the error of a part that cannot be read by itself, for whatever reason.
var errPart = errors.New("not to be read in parts")

const (
	// edge is where the first item begins, and how long what follows the last may be.
	edge = 64 << 10
	// partWindow is where the start of an item is looked for, partTries how much is read to
	// find it.
	partWindow = 1 << 20
	partTries  = 8 << 20
)

// Parts divides a text into so many parts or fewer, in order; nil where it is not a list as kubectl
// writes it. Where items begin is guessed: it is proven once all parts have been read.
func Parts(text io.ReaderAt, size int64, most int) []*Part {
	start, end := make([]byte, min(size, edge)), make([]byte, min(size, edge))
	if _, err := text.ReadAt(start, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil
	}
	if _, err := text.ReadAt(end, size-int64(len(end))); err != nil && !errors.Is(err, io.EOF) {
		return nil
	}
	find := nextItemYAML
	head, tail := headYAML(start), bytes.LastIndex(end, []byte("\nkind: "))+1
	if isJSON(start, false) {
		find = nextItemJSON
		head, tail = headJSON(start), bytes.LastIndexByte(end, ']')
	}
	p := Part{text: text, head: int64(head), from: int64(head), tail: size - int64(len(end)-tail), size: size}
	if head <= 0 || tail <= 0 || p.tail <= p.head {
		return nil
	}
	var parts []*Part
	each := (p.tail - p.head) / int64(most)
	for i := range most - 1 {
		at := p.head + int64(i+1)*each
		window := make([]byte, min(partWindow, p.tail-at))
		if _, err := text.ReadAt(window, at); err != nil {
			return nil
		}
		if to, next := find(window); next > 0 && at+int64(to) > p.from {
			part := p
			part.to = at + int64(to)
			parts = append(parts, &part)
			p.from = at + int64(next)
		}
	}
	p.to = p.tail
	return append(parts, &p)
}

// Read reads a part. What it tells h of all parts of a text Read tells of the whole text, but for
// positions of objects, and for List, which comes once for each part with the number of its own items.
// An error says only that the parts cannot be relied on.
func (p *Part) Read(o Options, h Handler) error {
	rd := newReading(o, p.only(h))
	rd.of = p
	p.ended = false
	err := rd.run(io.MultiReader(io.NewSectionReader(p.text, 0, p.head),
		io.NewSectionReader(p.text, p.from, p.to-p.from), io.NewSectionReader(p.text, p.tail, p.size-p.tail)))
	if err == nil && !p.ended {
		return errPart
	}
	return err
}

// only is told of the items of one list.
func (p *Part) only(h Handler) Handler {
	lists := 0
	list, item := h.List, h.Object
	h.List = func(l List) error {
		if lists++; lists > 1 {
			return errPart
		}
		return list(l)
	}
	h.Object = func(o *object.Object, inList bool, at Position) error {
		if !inList {
			return errPart
		}
		return item(o, inList, at)
	}
	h.Foreign = func(Position, string) error { return errPart }
	return h
}

// headJSON is the length of the text up to the first item of a list; 0 where there is none.
func headJSON(start []byte) int {
	var l lexer
	l.rd = newReading(Options{}, Handler{})
	l.over(start, 0, nil)
	in, err := l.object("")
	for first := true; in && err == nil; first = false {
		if in, err = l.member(first); !in || err != nil {
			break
		}
		if string(l.key) == "items" && l.token() == '[' {
			return l.pos + 1
		}
		err = l.skip()
	}
	return 0
}

// headYAML is headJSON for YAML as kubectl writes it.
func headYAML(start []byte) int {
	const items = "\nitems:\n"
	i := bytes.Index(start, []byte(items+"- "))
	if i < 0 {
		return 0
	}
	return i + len(items)
}

// nextItemYAML finds where an item ends and the next one begins; 0 where none does. Only items begin
// with a dash in the first column, or what ends a scalar that nothing else has ended.
func nextItemYAML(window []byte) (to, next int) {
	i := bytes.Index(window, []byte("\n- ")) + 1
	return i, i
}

// nextItemJSON is nextItemYAML for JSON. What has metadata, and one of that behind it, is taken for an
// item: there are lists in objects, but few of objects.
func nextItemJSON(window []byte) (to, next int) {
	var l lexer
	l.rd = newReading(Options{}, Handler{})
	for at, left := 0, partTries; left > 0; {
		i := bytes.IndexByte(window[at:], '{')
		if i < 0 {
			break
		}
		next, at = at+i, at+i+1
		before := bytes.TrimRight(window[:next], " \r\n\t")
		to = len(before) - 1
		if to < 0 || before[to] != ',' || !bytes.HasSuffix(bytes.TrimRight(before[:to], " \r\n\t"), []byte("}")) {
			continue
		}
		l.over(window[next:], 0, nil)
		if l.hasMetadata() && l.token() == ',' {
			if l.pos++; l.hasMetadata() {
				return to, next
			}
		}
		left -= l.pos
	}
	return 0, 0
}

// hasMetadata passes over an object, and reports whether it has metadata.
func (l *lexer) hasMetadata() bool {
	has := false
	if l.token() != '{' {
		return false
	}
	in, err := l.object("")
	for first := true; in && err == nil; first = false {
		if in, err = l.member(first); !in || err != nil {
			break
		}
		has = has || string(l.key) == "metadata"
		err = l.skip()
	}
	return has && err == nil
}
