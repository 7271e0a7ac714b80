package manifest

import (
	"bytes"
	"errors"
	"slices"

	"go.yaml.in/yaml/v3"
)

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
