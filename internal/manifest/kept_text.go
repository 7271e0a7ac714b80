package manifest

// keptText is the kept part of a spec or status, or of the other fields, while the kind is unknown:
// the JSON of the fields that any kind needs, and their lines.
type keptText struct {
	json  []byte
	marks []lineMark
}

func (k *keptText) empty() bool { return len(k.json) == 0 }

// again returns an empty text with the same buffers.
func (k *keptText) again() keptText { return keptText{k.json[:0], k.marks[:0]} }

// copied returns a copy that doesn't share buffers.
func (k *keptText) copied() keptText {
	if k.empty() {
		return keptText{}
	}
	return keptText{append([]byte(nil), k.json...), append([]lineMark(nil), k.marks...)}
}

func (k *keptText) mark(l *lexer) {
	k.marks = append(k.marks, lineMark{len(k.json), l.here()})
}

// member appends the current key and the kept part of its value to an unclosed object.
func (k *keptText) member(l *lexer, keeps *keep) error {
	if k.empty() {
		k.mark(l)
	}
	sep := byte(',')
	if k.empty() {
		sep = '{'
	}
	k.json = append(appendJSON(append(k.json, sep), l.key), ':')
	return k.value(l, keeps, false)
}

// value appends the kept part of the value at the current position.
func (k *keptText) value(l *lexer, keeps *keep, flat bool) error {
	c := l.token()
	if !l.free {
		k.mark(l)
	}
	if err := l.charge(2 * entryBytes); err != nil {
		return err
	}
	switch c {
	case '{':
		return k.mapping(l, keeps, flat)
	case '[':
		return k.list(l, keeps, flat)
	case '"':
		return k.text(l)
	}
	text, err := l.scalar()
	k.json = append(k.json, text...)
	return err
}

func (k *keptText) mapping(l *lexer, keeps *keep, flat bool) error {
	if keeps.fields == nil && keeps.any == nil {
		k.json = append(k.json, "{}"...)
		return l.skip()
	}
	k.json = append(k.json, '{')
	in, err := l.object("")
	some := false
	for first := true; in && err == nil; first = false {
		if in, err = l.member(first); !in || err != nil {
			break
		}
		if flat {
			lowerFirst(l.key)
		}
		below := keeps.below(l.key)
		if below == nil {
			err = l.skip()
			continue
		}
		if some {
			k.json = append(k.json, ',')
		}
		some = true
		k.json = append(appendJSON(k.json, l.key), ':')
		err = k.value(l, below, flat)
	}
	k.json = append(k.json, '}')
	return err
}

func (k *keptText) list(l *lexer, keeps *keep, flat bool) error {
	if keeps.each == nil {
		k.json = append(k.json, "[]"...)
		return l.skip()
	}
	k.json = append(k.json, '[')
	in, err := l.array("")
	for first := true; in && err == nil; first = false {
		if in, err = l.element(first); !in || err != nil {
			break
		}
		if !first {
			k.json = append(k.json, ',')
		}
		err = k.value(l, keeps.each, flat)
	}
	k.json = append(k.json, ']')
	return err
}

// text appends a string as it is written, unchecked: the later reader checks it.
func (k *keptText) text(l *lexer) error {
	marked := l.mark >= 0 // the surrounding object is being held, too
	if !marked {
		l.mark = l.pos
	}
	from := l.pos - l.mark
	err := l.skipString()
	text := l.buf[l.mark+from : l.pos]
	if !marked {
		l.mark = -1
	}
	if err == nil {
		err = l.charge(len(text))
	}
	if err == nil {
		k.json = append(k.json, text...)
	}
	return err
}
