package manifest

import "bytes"

// scan reads the block style of YAML that kubectl writes, line by line, and builds only the JSON of
// the kept parts. It understands a subset of YAML exactly. For everything else it returns false,
// and the full parser reads the text. Its rules are stricter than YAML, never looser.
type scan struct {
	c converter
	// line is the number of the current line.
	line   int
	frames []frame
	// open is true if the last line ended in a key or dash without a value. openKeep and openAt are
	// its keep and its column.
	open     bool
	openDash bool
	openKeep *keep
	openAt   int
	openLine int
	// memberAt is the offset of the last kept member in the JSON.
	memberAt int
	// plain is true if the last line ended in a plain scalar, which a deeper line continues.
	// plainKept is true if this scalar is kept.
	plain, plainKept bool
	// quote is the quote of an unfinished scalar, which began in a mapping or list at column
	// quoteAt. quoteKept is true if it is kept.
	quote     byte
	quoteAt   int
	quoteKept bool
	// gap is true if there was a blank line within the scalar.
	gap   bool
	block blockScalar
	// whole is true if the text is complete, including the end of its last line.
	whole bool
}

// frame is an open mapping or list.
type frame struct {
	indent int
	list   bool
	// keep is what is kept of the mapping, or of each entry of the list; nil for nothing.
	keep *keep
	some bool
}

// blockScalar is the state of reading a literal or folded scalar.
type blockScalar struct {
	on bool
	// least is the minimum indent; indent is 0 until known.
	least, indent int
	// blank is the length of the longest blank line before the first text.
	blank int
	// kept is true if the scalar is kept, text after its first text. breaks is the number of line
	// breaks before the next text. chomp determines how many of them are kept at the end.
	kept, text bool
	breaks     int
	chomp      byte
}

func (s *scan) reset(line int) {
	*s = scan{c: converter{rd: s.c.rd, out: s.c.out[:0], marks: s.c.marks[:0]}, line: line, frames: s.frames[:0]}
}

func (s *scan) top() *frame { return &s.frames[len(s.frames)-1] }

// push opens a mapping or list. It returns false if keep expects a single value.
func (s *scan) push(indent int, list bool, k *keep) bool {
	if len(s.frames) >= maxDepth/2 {
		return false
	}
	bracket := byte('{')
	if list {
		bracket = '['
		if k != nil {
			if k = k.each; k == nil {
				return false
			}
		}
	} else if k != nil && k.fields == nil && k.any == nil {
		return false
	}
	if k != nil {
		s.c.mark(s.line)
		s.c.out = append(s.c.out, bracket)
	}
	s.frames = append(s.frames, frame{indent: indent, list: list, keep: k})
	return true
}

// pop closes the innermost mapping or list.
func (s *scan) pop() {
	if f := s.top(); f.keep != nil {
		if f.list {
			s.c.out = append(s.c.out, ']')
		} else {
			s.c.out = append(s.c.out, '}')
		}
	}
	s.frames = s.frames[:len(s.frames)-1]
}

// opened records that the line ends in a key or dash at column at, without a value.
func (s *scan) opened(dash bool, k *keep, at int) {
	s.open, s.openDash, s.openKeep, s.openAt, s.openLine = true, dash, k, at, s.line
}

// settle appends null for the last key or dash if it has no value.
func (s *scan) settle() {
	if s.open && s.openKeep != nil {
		s.c.mark(s.openLine)
		s.c.out = append(s.c.out, "null"...)
	}
	s.open = false
}

// next reads one line, without its end. It returns false if the meaning of the line is uncertain.
func (s *scan) next(b []byte) bool {
	n := indentOf(b)
	if s.block.on {
		inside, ok := s.block.take(b, n)
		if inside && ok && s.block.kept {
			ok = s.literal(b, n)
		}
		if inside || !ok {
			return ok
		}
		s.endBlock()
	}
	if n == len(b) {
		s.gap = true
		return true
	}
	if !printable(b[n:]) {
		return false
	}
	if s.quote != 0 {
		return n > s.quoteAt && s.quoted(b[n:])
	}
	if s.plain {
		if n > s.top().indent {
			ok := continuesPlain(b[n:]) && (!s.plainKept || s.breakLine())
			if ok && s.plainKept {
				s.add(bytes.TrimRight(b[n:], " "))
			}
			return ok
		}
		s.plain = false
	}
	if b[n] == '#' {
		return false
	}
	return s.place(b, n) && s.entry(b, n)
}

// place opens and closes mappings and lists so that the line at indent n is an entry of the
// innermost one.
func (s *scan) place(b []byte, n int) bool {
	dash := isDash(b[n:])
	if s.open {
		switch {
		case n > s.openAt, n == s.openAt && dash && !s.openDash:
			s.open = false
			return s.push(n, dash, s.openKeep)
		}
		s.settle()
	}
	for len(s.frames) > 1 && (s.top().indent > n || s.top().indent == n && s.top().list && !dash) {
		s.pop()
	}
	return s.top().indent == n && s.top().list == dash
}

// entry reads the line from column n on: an entry of the innermost mapping or list.
func (s *scan) entry(b []byte, n int) bool {
	for s.top().list {
		f := s.top()
		k := f.keep
		if k != nil {
			if f.some {
				s.c.out = append(s.c.out, ',')
			}
			f.some = true
		}
		at := n + 1 + indentOf(b[n+1:])
		switch {
		case at >= len(b):
			s.opened(true, k, n)
			return true
		case isDash(b[at:]):
			if !s.push(at, true, k) {
				return false
			}
		case keyEnd(b[at:]) > 0:
			if !s.push(at, false, k) {
				return false
			}
		default:
			return s.value(b[at:], n, k)
		}
		n = at
	}
	return s.member(b, n)
}

// member reads a key at column n, and its value if it is on the same line.
func (s *scan) member(b []byte, n int) bool {
	end := keyEnd(b[n:])
	if end <= 0 {
		return false
	}
	key := b[n : n+end]
	var k *keep
	f := s.top()
	if f.keep != nil {
		k = f.keep.below(key)
		if f.keep.any != nil && plainKind(key) != plainText && string(key) != "." {
			return false
		}
	}
	rest := b[n+end+1:]
	rest = rest[indentOf(rest):]
	if k != nil {
		s.memberAt = len(s.c.out)
		if f.some {
			s.c.out = append(s.c.out, ',')
		}
		f.some = true
		s.c.mark(s.line)
		s.c.out = append(appendJSON(s.c.out, key), ':')
	}
	if len(rest) == 0 {
		s.opened(false, k, n)
		return true
	}
	return s.value(rest, n, k)
}

// value reads a value that starts on this line, in a mapping or list at column at.
func (s *scan) value(b []byte, at int, k *keep) bool {
	b = bytes.TrimRight(b, " ")
	if k != nil {
		s.c.mark(s.line)
	}
	switch b[0] {
	case '"', '\'':
		return s.startQuoted(b, at, k)
	case '|', '>':
		return s.startBlock(b, at, k)
	case '{', '[':
		if text := string(b); text != "{}" && text != "[]" {
			return false
		}
		if k != nil {
			s.c.out = append(s.c.out, b...)
		}
		return true
	}
	if !startsPlain(b) || !insidePlain(b) {
		return false
	}
	s.plain, s.plainKept, s.gap = true, k != nil, false
	if k == nil {
		return true
	}
	switch plainKind(b) {
	case plainText:
		s.c.out = appendJSON(s.c.out, b)
	case plainJSON:
		s.c.out = append(s.c.out, b...)
	default:
		return false
	}
	return true
}

// finish is called after the last line, when no quoted text is open. It closes all but the outer
// mappings and lists.
func (s *scan) finish(outer int) {
	s.endBlock()
	s.settle()
	for len(s.frames) > outer {
		s.pop()
	}
}

// clear makes the next entry of the innermost mapping or list its first one, and starts new JSON
// for it.
func (s *scan) clear() {
	s.c.out, s.c.marks = s.c.out[:0], s.c.marks[:0]
	s.open, s.plain, s.quote, s.block = false, false, 0, blockScalar{}
	s.top().some = false
}
