package manifest

import "bytes"

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
			return false, d.l.above(aboveLimit(d.rd.limits.ObjectBytes, "what is kept of one object"))
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

// turn detects whether the line begins the list of the document, begins an item of it, or follows
// it.
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

// begin takes the text before the items as the head of a list.
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
