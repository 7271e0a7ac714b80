package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// nextLine returns the line at the current position, including its end, without consuming it. It is
// empty at the end of the input, and valid until the next call.
func (l *lexer) nextLine() []byte {
	from := 0
	for {
		b := l.buf[l.pos:l.end]
		if i := bytes.IndexByte(b[from:], '\n'); i >= 0 {
			return b[:from+i+1]
		}
		from = len(b)
		if !l.fill() {
			if errors.Is(l.failed, ErrLimit) {
				l.pos = l.end // a truncated line is dropped
			}
			return l.buf[l.pos:l.end]
		}
	}
}

// boundary is the role of a line in separating documents.
type boundary int

const (
	inside   boundary = iota
	starts            // --- and at most a comment
	contains          // --- with the start of the content after it
	closes            // ...
)

// boundaryOf returns the role of a line. No YAML scalar can contain a line that starts with --- or
// ... and a blank: it is a boundary anywhere.
func boundaryOf(line []byte) boundary {
	if len(line) > 0 && line[0] == byteOrderMark[0] {
		line = bytes.TrimPrefix(line, byteOrderMark)
	}
	if len(line) < 3 || line[0] != '-' && line[0] != '.' || line[1] != line[0] || line[2] != line[0] {
		return inside
	}
	if len(line) > 3 && line[3] != ' ' && line[3] != '\t' && line[3] != '\r' && line[3] != '\n' {
		return inside
	}
	rest := bytes.TrimLeft(line[3:], " \t\r\n")
	switch {
	case len(rest) > 0 && rest[0] != '#':
		return contains
	case line[0] == '-':
		return starts
	default:
		return closes
	}
}

// documentYAML reads the next document. more is false at the end of the input.
func (rd *reading) documentYAML(l *lexer) (more bool, err error) {
	more, err = rd.skipHead(l)
	if err != nil || !more {
		return false, err
	}
	rd.document++
	rd.yaml, rd.last, rd.open = true, false, false
	d := yamlDocument{rd: rd, l: l, s: &rd.scan, it: &rd.items[0], line: l.here()}
	l.mark = l.pos
	if rd.fullOnly || boundaryOf(l.nextLine()) == contains {
		return d.fromMark()
	}
	return d.read()
}

// fromMark reads a document with the full parser.
func (d *yamlDocument) fromMark() (more bool, err error) {
	d.l.pos = d.l.mark
	more, err = d.rd.gather(d.l)
	if err != nil {
		return false, err
	}
	text := d.l.buf[d.l.mark:d.l.pos]
	if err := d.rd.cutOff(text, d.line); err != nil {
		return false, err
	}
	return more, d.rd.whole(text, d.line, !more)
}

// cutOff returns a Problem for a text, starting at line, with a last line that may be a truncated
// line of metadata: half a name would be that of another object.
//
//	metadata:
//	  name: web-12    without a newline: web-123 may be meant
//	  uid: 5b4139a0-86b0-40d2-9e74-7dc65f06eb36    whole
//
// Programs that write YAML end the last line, but a shell's $(…) and editors remove that newline.
func (rd *reading) cutOff(text []byte, line int) error {
	if len(text) == 0 || text[len(text)-1] == '\n' || endsWhole(text[bytes.LastIndexByte(text, '\n')+1:]) {
		return nil
	}
	inner, uid := len(text), false
	for rest := text; len(rest) > 0; {
		start := bytes.LastIndexByte(rest, '\n') + 1
		l := bytes.TrimRight(rest[start:], " \r")
		rest = rest[:max(start-1, 0)]
		n := indentOf(l)
		for n < len(l) && isDash(l[n:]) {
			n += 1 + indentOf(l[n+1:])
		}
		if n >= len(l) || l[n] == '#' || n >= inner {
			uid = uid || n == inner && bytes.HasPrefix(l[n:], []byte("uid: "))
			continue
		}
		if inner < len(text) && string(l[n:]) == "metadata:" && !uid {
			return rd.problem(line+bytes.Count(text, newline), "the input ends in the middle of a line of metadata; if it is whole, end it with a newline", ErrTruncated)
		}
		inner, uid = n, false
	}
	return nil
}

// isUUID matches the form of a UID. With its four dashes it can't be a number or a time.
var isUUID = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// endsWhole reports whether a line of YAML can't be the beginning of a longer one: its value is a
// quoted string, an empty flow collection or a UUID.
func endsWhole(line []byte) bool {
	_, value, ok := bytes.Cut(bytes.TrimRight(line, " \r"), []byte(": "))
	value = bytes.TrimSpace(value)
	if !ok || len(value) < 2 {
		return false
	}
	switch first, last := value[0], value[len(value)-1]; first {
	case '"', '\'':
		return last == first && bytes.IndexByte(value[1:], first) == len(value)-2
	case '{', '[':
		return string(value) == "{}" || string(value) == "[]"
	}
	return isUUID.Match(value)
}

// skipHead moves to the first line of the next document, over comments, blank lines and directives.
// It returns false at the end of the input.
func (rd *reading) skipHead(l *lexer) (bool, error) {
	for {
		line := l.nextLine()
		if len(line) == 0 {
			if l.failed != nil {
				return false, l.unexpected("")
			}
			return false, nil
		}
		if bytes.HasPrefix(line, byteOrderMark) {
			l.pos += len(byteOrderMark)
			continue
		}
		text := bytes.TrimSpace(line)
		switch b := boundaryOf(line); {
		case b == contains:
			return true, nil
		case b == inside && len(text) > 0 && text[0] != '#' && !bytes.HasPrefix(line, []byte("%YAML 1.")):
			return true, nil
		}
		l.pos += len(line)
	}
}

// gather consumes the lines of a document and its end. It returns false at the end of the input.
func (rd *reading) gather(l *lexer) (more bool, err error) {
	for first := true; ; first = false {
		line := l.nextLine()
		if len(line) == 0 {
			if l.failed != nil {
				return false, l.unexpected("")
			}
			return false, nil
		}
		switch b := boundaryOf(line); {
		case first && b == contains && line[0] == '-':
		case b == starts || b == closes:
			return true, nil
		case b == contains && line[0] == '-':
			return true, nil
		case b == contains:
			return false, l.wrong("there is text behind the end of a document")
		}
		l.pos += len(line)
		if l.pos-l.mark > rd.maxOdd() {
			return false, rd.oddYAML(l.here())
		}
	}
}

// whole reads documents with the full parser. last is true if the input ends with them.
func (rd *reading) whole(text []byte, line int, last bool) error {
	documents, err := rd.parseYAML(text, line)
	if err != nil {
		return err
	}
	for i, n := range documents {
		if i > 0 {
			rd.document++
		}
		if err := rd.wholeDocument(n, line, last && i == len(documents)-1); err != nil {
			return err
		}
	}
	return nil
}

func (rd *reading) wholeDocument(n *yaml.Node, line int, last bool) error {
	k := rd.ofObject()
	switch n.Kind {
	case yaml.MappingNode:
	case yaml.SequenceNode:
		k = &keep{each: k}
	default:
		if n.ShortTag() == "!!null" {
			return nil
		}
		return rd.foreign(line+n.Line-1, "a YAML document that is neither mapping nor list")
	}
	c := converter{rd: rd, shift: line - 1}
	if err := c.node(n, k); err != nil {
		return err
	}
	rd.last, rd.open = last, last && n.Kind == yaml.SequenceNode && n.Style&yaml.FlowStyle == 0
	return rd.value(rd.convert(&c), nil)
}

// kindless returns the Problem for a YAML list without a kind. With sorted keys the kind follows
// the items, so a missing one at the end of the input means that the input was truncated.
func (rd *reading) kindless(line int) error {
	if rd.last {
		return rd.problem(line, fmt.Sprintf("a list does not say its kind: %v", ErrTruncated), ErrTruncated)
	}
	return rd.problem(line, "a list does not say its kind", nil)
}

// convert returns a lexer over the JSON of c.
func (rd *reading) convert(c *converter) *lexer {
	rd.converted.rd = rd
	rd.converted.over(c.out, 0, c.marks)
	return &rd.converted
}

// parseYAML parses all documents of a text, starting at line, with the full parser.
func (rd *reading) parseYAML(text []byte, line int) (documents []*yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = rd.problem(line, fmt.Sprintf("the YAML parser gives up: %v", r), nil)
		}
	}()
	if err := rd.checkOdd(text, line); err != nil {
		return nil, err
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var root yaml.Node
		switch err := d.Decode(&root); {
		case errors.Is(err, io.EOF):
			return documents, nil
		case err != nil:
			return nil, rd.yamlProblem(err, line)
		}
		if len(root.Content) == 0 {
			continue
		}
		if err := rd.checkAliases(&root, line); err != nil {
			return nil, err
		}
		documents = append(documents, root.Content[0])
	}
}

// yamlProblem returns the Problem for an error of the YAML parser.
func (rd *reading) yamlProblem(err error, line int) error {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	at := line
	if rest, ok := strings.CutPrefix(message, "line "); ok {
		if number, text, ok := strings.Cut(rest, ": "); ok {
			if n, e := strconv.Atoi(number); e == nil {
				at, message = line+n-1, text
			}
		}
	}
	var cause error
	if strings.Contains(message, "unexpected end of stream") {
		cause = ErrTruncated
	}
	return rd.problem(at, "not valid YAML: "+message, cause)
}

// maxExpansion is the maximum number of nodes of a document with expanded aliases.
const maxExpansion = 1 << 20

// checkAliases returns a Problem for cyclic aliases, and for aliases that expand to more nodes than
// any realistic document has.
func (rd *reading) checkAliases(root *yaml.Node, line int) error {
	x := expansion{sizes: map[*yaml.Node]int{}}
	if !x.aliases(root) {
		return nil
	}
	if size := x.size(root); size < 0 || size > maxExpansion {
		return rd.problem(line, "the YAML aliases of the document expand without bounds", nil)
	}
	return nil
}

// expansion counts nodes with all aliases expanded. The parser's own limit on nesting bounds the
// recursion.
type expansion struct{ sizes map[*yaml.Node]int }

func (x *expansion) aliases(n *yaml.Node) bool {
	return n.Kind == yaml.AliasNode || slices.ContainsFunc(n.Content, x.aliases)
}

// size returns the number of nodes; -1 for a cyclic alias.
func (x *expansion) size(n *yaml.Node) int {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if len(n.Content) == 0 {
		return 1
	}
	if size, ok := x.sizes[n]; ok {
		return size
	}
	x.sizes[n] = -1
	total := 1
	for _, c := range n.Content {
		size := x.size(c)
		if size < 0 {
			return -1
		}
		total = min(total+size, maxExpansion+1)
	}
	x.sizes[n] = total
	return total
}
