package manifest

import (
	"bytes"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// everything keeps all of a YAML value. A key that is no text has no place in JSON.
var everything = func() *keep {
	k := &keep{loose: true}
	k.any, k.each = k, k
	return k
}()

// wholeObject keeps all of an object or list, and knows the items of a list. What is a
// Problem without texts is one with them.
var wholeObject = func() *keep {
	k := &keep{loose: true, any: everything}
	k.fields = map[string]*keep{
		"items":    {each: k},
		"metadata": {loose: true, any: everything, fields: map[string]*keep{"labels": keepMetadata.fields["labels"]}},
	}
	return k
}()

// ofObject is what is kept of an object that the full parser has read: all of it if
// somebody asks for the text of objects.
func (rd *reading) ofObject() *keep {
	if rd.h.Raw != nil {
		return wholeObject
	}
	return keepObject
}

// captures reports whether the text that l reads is wanted: where a scan has left
// things out, the text is what it has read.
func (rd *reading) captures(l *lexer) bool {
	return rd.h.Raw != nil && (l != &rd.converted || !rd.scanned)
}

// shows notes that an object was handed over whose text may be wanted. Of the items of a
// list in a list the scan knows no text.
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

// objectAndText reads the object or list at the current position, and hands over its
// text.
//
// Where only parts of it are wanted, the text of an object above the limit for one value is none.
func (rd *reading) objectAndText(l *lexer, it *item, ls *listing) error {
	l.whole, l.wholeLost, l.mayLose = l.pos, false, rd.h.Wants != nil
	before := ls.waitingItems()
	if err := rd.object(l, it, ls); err != nil {
		return err
	}
	return rd.captured(l, ls, before)
}

// captured hands over the text of the object that l has read, from where that begins. A
// list has none: its items had theirs.
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
		return ls.leave(text, before)
	}
	return rd.giveText(rd.only(text))
}

// giveText hands over a text for the object that was handed over last.
func (rd *reading) giveText(text []byte) error {
	o := rd.shown
	rd.shown = nil
	if o == nil {
		return nil
	}
	return rd.stop(rd.h.Raw(o, text))
}

// leave leaves a text with the item that waits for its kind, if one does since there were
// so many of them.
func (ls *listing) leave(text []byte, before int) error {
	if ls.waitingItems() > before {
		ls.waiting[len(ls.waiting)-1].text = bytes.Clone(text)
	}
	return nil
}

// only is what is wanted of a JSON text.
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

// scannedText hands over as JSON what is wanted of an object that a scan has read. A text
// that the full parser refuses, or would need too much memory for, is empty.
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
		return d.list.leave(out, before)
	}
	return rd.giveText(out)
}

// scanText makes JSON of what k keeps of an object, which is the item at column indent of a
// list or a document of its own. It returns false where it takes the full parser.
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

// parsedText is scanText by the full parser; empty where it cannot be had.
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

// waitingItems counts the items of a list that wait for its kind.
func (ls *listing) waitingItems() int {
	if ls == nil {
		return 0
	}
	return len(ls.waiting)
}
