package manifest

import (
	"bytes"
	"errors"
	"slices"

	"go.yaml.in/yaml/v3"
)

// yamlDocument is a YAML document that the scan reads. Parts that the scan doesn't understand go to
// the full parser: the whole document, one item of its list, or the rest from the current item on.
type yamlDocument struct {
	rd *reading
	l  *lexer
	s  *scan
	// line is the line of the document, then of the current item, then of the text after the list.
	// Text from the lexer's mark on was not passed on yet.
	line int
	// it is the document itself. list is its list, with items at column indent. behind is true
	// after the end of the list.
	it     *item
	list   *listing
	indent int
	behind bool
}

// read reads the document. It returns false at the end of the input.
func (d *yamlDocument) read() (more bool, err error) {
	d.s.c.rd = d.rd
	d.s.reset(d.line)
	d.s.push(0, false, keepObject)
	for {
		line := d.l.nextLine()
		if len(line) == 0 && d.l.full && d.s.line > d.line {
			err := AboveLimit(d.l.most(), "the text of one object of YAML, which begins here; JSON has no such limit")
			return false, d.rd.problem(d.line, err.Error(), err)
		}
		if len(line) == 0 && d.l.failed != nil {
			return false, d.l.unexpected("")
		}
		if len(line) == 0 || boundaryOf(line) != inside {
			return d.end(len(line) > 0)
		}
		text := withoutEnd(line)
		if err := d.turn(text); err != nil {
			return false, err
		}
		if d.other() || !d.s.next(text) {
			done, more, err := d.fall()
			if done || err != nil {
				return more, err
			}
			continue
		}
		d.l.pos += len(line)
		d.s.line++
		if size := d.s.c.size(); size > d.rd.limits.ObjectBytes {
			return false, d.l.above(AboveLimit(d.rd.limits.ObjectBytes, "what is kept of one object"))
		}
	}
}

// withoutEnd returns a line without its line ending. It is called for every line of a dump.
func withoutEnd(line []byte) []byte {
	n := len(line)
	if n > 0 && line[n-1] == '\n' {
		n--
	}
	if n > 0 && line[n-1] == '\r' {
		n--
	}
	return line[:n]
}

// other reports whether the supposed list is an object of some kind.
func (d *yamlDocument) other() bool {
	return d.list != nil && d.list.kind != "" && !isListKind(d.it.bytes(d.it.kind))
}

// turn detects whether the line begins the list of the document, begins an item of the list, or
// follows the list.
func (d *yamlDocument) turn(text []byte) error {
	n := indentOf(text)
	if n == len(text) || d.s.quote != 0 || d.behind {
		return nil
	}
	dash := isDash(text[n:])
	switch {
	case d.list == nil:
		if dash && d.s.open && len(d.s.frames) == 1 && d.s.openKeep == keepItems {
			return d.begin(n)
		}
	case dash && n == d.indent:
		if err := d.endItem(); err != nil {
			return err
		}
		d.restart(2)
	case n <= d.indent && text[n] != '#':
		if err := d.endItem(); err != nil {
			return err
		}
		d.behind = true
		d.restart(1)
		d.s.c.out = append(d.s.c.out, '{')
	}
	return nil
}

// restart makes the current line the first one that was not passed on, and keeps only the given
// number of open frames.
func (d *yamlDocument) restart(frames int) {
	d.s.frames = d.s.frames[:frames]
	d.s.clear()
	d.line = d.s.line
	d.l.mark = d.l.pos
}

// begin reads the text before the items as the head of a list.
func (d *yamlDocument) begin(indent int) error {
	d.s.c.out = append(d.s.c.out[:d.s.memberAt], '}')
	d.it.reset(d.line)
	if _, err := d.rd.fields(d.rd.convert(&d.s.c), d.it, nil, nil); err != nil {
		return err
	}
	d.it.seen |= hasItems
	d.list = &listing{rd: d.rd, line: d.line}
	d.list.understand(d.it)
	if d.other() {
		return nil
	}
	d.indent = indent
	d.s.frames = append(d.s.frames, frame{indent: indent, list: true, keep: keepObject})
	d.restart(2)
	return nil
}

// endItem passes on the item that was read, if there is one.
func (d *yamlDocument) endItem() error {
	d.s.settle()
	for len(d.s.frames) > 2 {
		d.s.pop()
	}
	if len(d.s.c.out) == 0 {
		return nil
	}
	before := d.list.waitingItems()
	d.rd.scanned = true
	err := d.list.item(d.rd.convert(&d.s.c))
	d.rd.scanned = false
	if err != nil {
		return err
	}
	return d.scannedText(before)
}

// end is called after the last line of the document.
func (d *yamlDocument) end(more bool) (bool, error) {
	d.rd.last = !more
	if d.s.quote != 0 {
		_, more, err := d.fall()
		return more, err
	}
	if err := d.rd.cutOff(d.l.buf[d.l.mark:d.l.pos], d.line); err != nil {
		return false, err
	}
	if d.list == nil {
		d.s.finish(0)
		d.rd.scanned = true
		err := d.rd.value(d.rd.convert(&d.s.c), nil)
		d.rd.scanned = false
		if err != nil {
			return more, err
		}
		return more, d.scannedText(0)
	}
	if !d.behind {
		if err := d.endItem(); err != nil {
			return false, err
		}
		d.rd.open = !more && !bytes.HasSuffix(d.l.buf[:d.l.pos], newline)
		return more, d.rd.finish(d.it, nil, d.list)
	}
	d.s.finish(0)
	if _, err := d.rd.fields(d.rd.convert(&d.s.c), d.it, nil, d.list); err != nil {
		return false, err
	}
	return more, d.rd.finish(d.it, nil, d.list)
}

// fall reads with the full parser what the scan doesn't understand. done is true if that was the
// rest of the document.
func (d *yamlDocument) fall() (done, more bool, err error) {
	d.l.pos = d.l.mark
	switch {
	case d.list == nil || d.other():
		more, err = d.fromMark()
		return true, more, err
	case d.behind:
		more, err = d.rest("items: []\n", false)
		return true, more, err
	}
	if done, err := d.oneItem(); done || err != nil {
		return false, true, err
	}
	d.l.pos = d.l.mark
	more, err = d.rest("items:\n", true)
	return true, more, err
}

// oneItem reads the current item with the full parser. It returns false if the item can't be read
// without the following text.
func (d *yamlDocument) oneItem() (bool, error) {
	if err := d.gatherItem(); err != nil {
		return false, err
	}
	if err := d.rd.cutOff(d.l.buf[d.l.mark:d.l.pos], d.line); err != nil {
		return false, err
	}
	text := append([]byte("items:\n"), d.l.buf[d.l.mark:d.l.pos]...)
	documents, err := d.rd.parseYAML(text, d.line-1)
	if errors.Is(err, ErrLimit) {
		return false, err
	}
	if err != nil || len(documents) != 1 || len(documents[0].Content) != 2 {
		return false, nil //nolint:nilerr // the error may come from the cut; then the whole rest is read
	}
	items := documents[0].Content[1]
	if items.Kind != yaml.SequenceNode || len(items.Content) != 1 || anchored(items) {
		return false, nil
	}
	if err := d.handNode(items.Content[0]); err != nil {
		return false, err
	}
	d.s.line = d.line + bytes.Count(text, newline) - 1
	d.restart(2)
	return true, nil
}

// handNode passes on an item that the full parser has read.
func (d *yamlDocument) handNode(n *yaml.Node) error {
	c := converter{rd: d.rd, shift: d.line - 2}
	if err := c.node(n, d.rd.ofObject()); err != nil {
		return err
	}
	return d.list.item(d.rd.convert(&c))
}

// anchored reports whether n has an anchor or alias, which can connect items.
func anchored(n *yaml.Node) bool {
	return n.Anchor != "" || n.Kind == yaml.AliasNode || slices.ContainsFunc(n.Content, anchored)
}

// gatherItem consumes the lines up to the next one that looks like the start of an item, or the end
// of the list.
func (d *yamlDocument) gatherItem() error {
	for first := true; ; first = false {
		line := d.l.nextLine()
		if len(line) == 0 && d.l.failed != nil {
			return d.l.unexpected("")
		}
		if len(line) == 0 || boundaryOf(line) != inside {
			return nil
		}
		text := bytes.TrimRight(line, "\r\n")
		n := indentOf(text)
		if !first && n < len(text) && n <= d.indent && text[n] != '#' {
			return nil
		}
		d.l.pos += len(line)
		if d.l.pos-d.l.mark > d.rd.maxOdd() {
			return d.rd.oddYAML(d.l.here())
		}
	}
}

// rest reads the remaining document with the full parser. head replaces the part that was read
// already.
func (d *yamlDocument) rest(head string, items bool) (bool, error) {
	more, err := d.rd.gather(d.l)
	if err != nil {
		return false, err
	}
	if err := d.rd.cutOff(d.l.buf[d.l.mark:d.l.pos], d.line); err != nil {
		return false, err
	}
	documents, err := d.rd.parseYAML(append([]byte(head), d.l.buf[d.l.mark:d.l.pos]...), d.line-1)
	if err != nil {
		return false, err
	}
	if len(documents) == 0 || documents[0].Kind != yaml.MappingNode || items && documents[0].Content[1].Kind != yaml.SequenceNode {
		return false, d.rd.problem(d.line, "not valid YAML: a list does not go on as it began", nil)
	}
	if items {
		for _, n := range documents[0].Content[1].Content {
			if err := d.handNode(n); err != nil {
				return false, err
			}
		}
	}
	d.rd.last = !more && len(documents) == 1
	if err := d.tail(documents[0]); err != nil {
		return false, err
	}
	for i, n := range documents[1:] {
		d.rd.document++
		if err := d.rd.wholeDocument(n, d.line-1, !more && i == len(documents)-2); err != nil {
			return false, err
		}
	}
	return more, nil
}

// tail reads the fields of a document after its list.
func (d *yamlDocument) tail(root *yaml.Node) error {
	tail := *root
	tail.Content = root.Content[2:]
	c := converter{rd: d.rd, shift: d.line - 2}
	if err := c.node(&tail, keepObject); err != nil {
		return err
	}
	if _, err := d.rd.fields(d.rd.convert(&c), d.it, nil, d.list); err != nil {
		return err
	}
	return d.rd.finish(d.it, nil, d.list)
}
