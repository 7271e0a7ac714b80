package manifest

import (
	"bytes"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// everything keeps a whole YAML value. It drops keys that are no strings, which JSON can't
// represent.
var everything = func() *keep {
	k := &keep{loose: true}
	k.any, k.each = k, k
	return k
}()

// wholeObject keeps a whole object or list, and knows its items. Problems are the same as without
// texts.
var wholeObject = func() *keep {
	k := &keep{loose: true, any: everything}
	k.fields = map[string]*keep{
		"items":    {each: k},
		"metadata": {loose: true, any: everything, fields: map[string]*keep{"labels": keepMetadata.fields["labels"]}},
	}
	return k
}()

// ofObject returns what is kept of an object that the full parser has read: all of it if Raw is
// set.
func (rd *reading) ofObject() *keep {
	if rd.h.Raw != nil {
		return wholeObject
	}
	return keepObject
}

// captures reports whether the text that l reads is requested. The text of a scan is incomplete and
// taken elsewhere.
func (rd *reading) captures(l *lexer) bool {
	return rd.h.Raw != nil && (l != &rd.converted || !rd.scanned)
}

// shows records the object that was passed on if its text is requested. The scan doesn't have the
// text of items of nested lists.
func (rd *reading) shows(o *object.Object) error {
	if rd.h.Raw == nil {
		return nil
	}
	rd.wanted = Everything
	if rd.h.Wants != nil {
		rd.wanted = rd.h.Wants(o)
	}
	if rd.wanted == nil {
		return nil
	}
	if rd.scanned && rd.depth > 1 {
		return rd.stop(rd.h.Raw(o, nil))
	}
	rd.shown = o
	return nil
}

// objectAndText reads the object or list at the current position, and passes on its text.
//
// If Wants is set, the text of an object above the limit for one value is dropped.
func (rd *reading) objectAndText(l *lexer, it *item, ls *listing) error {
	l.whole, l.wholeLost, l.mayLose = l.pos, false, rd.h.Wants != nil
	before := ls.waitingItems()
	if err := rd.object(l, it, ls); err != nil {
		return err
	}
	return rd.captured(l, ls, before)
}

// captured passes on the text of the object that l has just read. A list has none: its items had
// theirs.
func (rd *reading) captured(l *lexer, ls *listing, before int) error {
	from, lost := l.whole, l.wholeLost
	l.whole, l.wholeLost = -1, false
	switch {
	case lost:
		return rd.giveText(nil)
	case from < 0:
		rd.shown = nil
		return nil
	}
	text := l.buf[from:l.pos]
	if rd.shown == nil {
		ls.leave(text, before)
		return nil
	}
	return rd.giveText(rd.only(text))
}

// giveText passes on a text for the object that was passed on last.
func (rd *reading) giveText(text []byte) error {
	o := rd.shown
	rd.shown = nil
	if o == nil {
		return nil
	}
	return rd.stop(rd.h.Raw(o, text))
}

// leave stores a text with the last waiting item, if more than before items are waiting.
func (ls *listing) leave(text []byte, before int) {
	if ls.waitingItems() > before {
		ls.waiting[len(ls.waiting)-1].text = bytes.Clone(text)
	}
}

// only returns the requested parts of a JSON text.
func (rd *reading) only(text []byte) []byte {
	if rd.wanted == Everything {
		return text
	}
	rd.parts.rd, rd.parts.free = rd, true
	rd.parts.over(text, 0, nil)
	rd.part = rd.part.again()
	if err := rd.part.value(&rd.parts, rd.wanted.keep, false); err != nil {
		return nil
	}
	return rd.part.json
}

// scannedText passes on the requested parts, as JSON, of an object that a scan has read. They are
// empty if the full parser refuses the text, or would need too much memory.
func (d *yamlDocument) scannedText(before int) error {
	rd, text := d.rd, d.l.buf[d.l.mark:d.l.pos]
	k := everything
	switch {
	case rd.h.Raw == nil || rd.shown == nil && d.list.waitingItems() == before:
		return nil
	case rd.shown != nil:
		k = rd.wanted.keep
	}
	out, ok := rd.scanText(text, d.list != nil, d.indent, k)
	if !ok {
		out = d.parsedText(text, k)
	}
	if rd.shown == nil {
		d.list.leave(out, before)
		return nil
	}
	return rd.giveText(out)
}

// scanText converts the parts of an object that k keeps to JSON. The object is the item at column
// indent of a list, or a document. It returns false if the text needs the full parser.
func (rd *reading) scanText(text []byte, inList bool, indent int, k *keep) ([]byte, bool) {
	s := &rd.texts
	s.c.rd = rd
	s.reset(0)
	s.whole = true
	outer := 0
	if inList {
		s.frames = append(s.frames, frame{}, frame{indent: indent, list: true, keep: k})
		outer = len(s.frames)
	} else if !s.push(0, false, k) {
		return nil, false
	}
	if len(text) == 0 || text[len(text)-1] != '\n' {
		return nil, false
	}
	for len(text) > 0 {
		end := bytes.IndexByte(text, '\n')
		if !s.next(bytes.TrimSuffix(text[:end], []byte{'\r'})) || s.c.size() > rd.limits.ObjectBytes {
			return nil, false
		}
		text = text[end+1:]
	}
	if s.quote != 0 {
		return nil, false
	}
	s.finish(outer)
	return s.c.out, true
}

// parsedText is scanText with the full parser. It returns nil for an error.
func (d *yamlDocument) parsedText(text []byte, k *keep) []byte {
	documents, err := d.rd.parseYAML(text, d.line)
	if err != nil || len(documents) != 1 {
		return nil
	}
	n := documents[0]
	if d.list != nil && len(n.Content) == 1 {
		n = n.Content[0]
	}
	c := converter{rd: d.rd}
	if c.node(n, k) != nil {
		return nil
	}
	return c.out
}

// waitingItems returns the number of items that wait for the kind of their list.
func (ls *listing) waitingItems() int {
	if ls == nil {
		return 0
	}
	return len(ls.waiting)
}
