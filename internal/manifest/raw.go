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

// wholeObject keeps all of an object or list, and knows the items of a list.
var wholeObject = func() *keep {
	k := &keep{loose: true, any: everything}
	k.fields = map[string]*keep{"items": {each: k}}
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

// shows notes that an object was handed over whose text may be wanted.
func (rd *reading) shows(o *object.Object) {
	if rd.h.Raw != nil && (rd.h.Wants == nil || rd.h.Wants(o)) {
		rd.shown = o
	}
}

// objectAndText reads the object or list at the current position, and hands over its
// text.
func (rd *reading) objectAndText(l *lexer, it *item, ls *listing) error {
	l.mark = l.pos
	before := ls.waitingItems()
	if err := rd.object(l, it, ls); err != nil {
		return err
	}
	return rd.captured(l, ls, before)
}

// captured hands over the text of the object that l has read, from its mark on. A
// list has none: its items had theirs.
func (rd *reading) captured(l *lexer, ls *listing, before int) error {
	from := l.mark
	l.mark = -1
	if from < 0 {
		rd.shown = nil
		return nil
	}
	return rd.giveText(l.buf[from:l.pos], ls, before)
}

// giveText hands over a text for the object that was handed over last, or leaves it
// with the item that waits for its kind.
func (rd *reading) giveText(text []byte, ls *listing, before int) error {
	o := rd.shown
	rd.shown = nil
	switch {
	case o != nil:
		return rd.stop(rd.h.Raw(o, text))
	case ls != nil && len(ls.waiting) > before:
		ls.waiting[len(ls.waiting)-1].text = bytes.Clone(text)
	}
	return nil
}

// scannedText hands over as JSON what a scan has read of an object, which begins at
// line and is the item of a list or a document of its own. A text that the full
// parser refuses, or would need too much memory for, is empty.
func (rd *reading) scannedText(text []byte, line int, ls *listing, before int) error {
	waits := ls != nil && len(ls.waiting) > before
	if rd.h.Raw == nil || rd.shown == nil && !waits {
		return nil
	}
	c := converter{rd: rd}
	documents, err := rd.parseYAML(text, line)
	if err == nil && len(documents) == 1 {
		n := documents[0]
		if ls != nil && len(n.Content) == 1 {
			n = n.Content[0]
		}
		if err := c.node(n, everything); err != nil {
			c.out = nil
		}
	}
	return rd.giveText(c.out, ls, before)
}

// waitingItems counts the items of a list that wait for its kind.
func (ls *listing) waitingItems() int {
	if ls == nil {
		return 0
	}
	return len(ls.waiting)
}
