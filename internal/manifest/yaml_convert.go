package manifest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// converter converts YAML nodes to JSON, only those that keep selects. The JSON reader then
// interprets them.
type converter struct {
	rd    *reading
	out   []byte
	marks []lineMark
	// shift is added to the line numbers of nodes.
	shift int
}

func (c *converter) mark(line int) {
	c.marks = append(c.marks, lineMark{len(c.out), line + c.shift})
}

// size returns the memory of the JSON and its marks, in bytes.
func (c *converter) size() int { return len(c.out) + 16*len(c.marks) }

// follow returns the node that an alias refers to.
func follow(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// node appends the parts of n that k keeps.
func (c *converter) node(n *yaml.Node, k *keep) error {
	n = follow(n)
	if len(c.out)+len(n.Value) > c.rd.limits.ObjectBytes {
		err := AboveLimit(c.rd.limits.ObjectBytes, "what is kept of one object")
		return c.rd.problem(n.Line+c.shift, err.Error(), err)
	}
	c.mark(n.Line)
	switch n.Kind {
	case yaml.MappingNode:
		return c.mapping(n, k)
	case yaml.SequenceNode:
		return c.sequence(n, k)
	default:
		c.scalar(n)
		return nil
	}
}

func (c *converter) sequence(n *yaml.Node, k *keep) error {
	c.out = append(c.out, '[')
	for i, e := range n.Content {
		if k.each == nil {
			break
		}
		if i > 0 {
			c.out = append(c.out, ',')
		}
		if err := c.node(e, k.each); err != nil {
			return err
		}
	}
	c.out = append(c.out, ']')
	return nil
}

func (c *converter) mapping(n *yaml.Node, k *keep) error {
	c.out = append(c.out, '{')
	some := false
	for _, m := range members(n) {
		below, err := k.keptBelow(m.key)
		if err != nil {
			return c.rd.problem(m.key.Line+c.shift, err.Error(), nil)
		}
		if below == nil {
			continue
		}
		if some {
			c.out = append(c.out, ',')
		}
		some = true
		c.mark(m.key.Line)
		c.out = append(appendJSON(c.out, m.key.Value), ':')
		if err := c.node(m.value, below); err != nil {
			return err
		}
	}
	c.out = append(c.out, '}')
	return nil
}

// keptBelow returns the keep for a key; nil if it is dropped.
func (k *keep) keptBelow(key *yaml.Node) (*keep, error) {
	if key.Kind == yaml.ScalarNode && isText(key) {
		return k.below([]byte(key.Value)), nil
	}
	if k.any == nil || k.loose {
		return nil, nil
	}
	return nil, fmt.Errorf("the key %q of a label is not a string", key.Value)
}

type yamlMember struct{ key, value *yaml.Node }

// members returns the members of a mapping. Those of merge keys follow, unless the mapping has the
// key itself.
func members(n *yaml.Node) []yamlMember {
	var list []yamlMember
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := follow(n.Content[i]), follow(n.Content[i+1])
		if key.Kind != yaml.ScalarNode || key.ShortTag() != "!!merge" {
			list = append(list, yamlMember{key, value})
			continue
		}
		if value.Kind == yaml.SequenceNode {
			merged = append(merged, value.Content...)
		} else {
			merged = append(merged, value)
		}
	}
	if merged == nil {
		return list
	}
	have := map[string]bool{}
	for _, m := range list {
		have[m.key.Value] = true
	}
	for _, from := range merged {
		for _, m := range members(follow(from)) {
			if !have[m.key.Value] {
				have[m.key.Value] = true
				list = append(list, m)
			}
		}
	}
	return list
}

// isText reports whether a scalar is a string by the rules of YAML 1.1, which Kubernetes uses.
// Times are strings, too.
func isText(n *yaml.Node) bool {
	switch n.ShortTag() {
	case "!!str":
		return n.Style != 0 || !slices.Contains(oldBooleans, n.Value)
	case "!!timestamp":
		return true
	}
	return false
}

// oldBooleans are the plain scalars that are booleans in YAML 1.1, besides those of YAML 1.2.
var oldBooleans = strings.Fields("y Y yes Yes YES on On ON n N no No NO off Off OFF")

// scalar appends a scalar. A value without a JSON form becomes one of a type that no field has.
func (c *converter) scalar(n *yaml.Node) {
	if isText(n) {
		c.out = appendJSON(c.out, n.Value)
		return
	}
	switch n.ShortTag() {
	case "!!null":
		c.out = append(c.out, "null"...)
		return
	case "!!bool", "!!str":
		var b bool
		if n.Decode(&b) == nil {
			c.out = strconv.AppendBool(c.out, b)
			return
		}
	case "!!int", "!!float":
		var i int64
		switch {
		case n.ShortTag() == "!!int" && n.Decode(&i) == nil:
			c.out = strconv.AppendInt(c.out, i, 10)
		case len(n.Value) < maxNumber && isNumber([]byte(n.Value)):
			c.out = append(c.out, n.Value...)
		default:
			c.out = append(c.out, "0.5"...)
		}
		return
	}
	c.out = append(c.out, "[]"...)
}

// appendJSON appends s as a JSON string.
func appendJSON[T string | []byte](dst []byte, s T) []byte {
	return append(appendText(append(dst, '"'), s), '"')
}

// appendText appends s escaped as in a JSON string, without quotes.
func appendText[T string | []byte](dst []byte, s T) []byte {
	const hex = "0123456789abcdef"
	from := len(dst)
	dst = append(dst, s...)
	plain := PlainRun(dst[from:])
	dst = dst[:from+plain]
	for i := plain; i < len(s); i++ {
		switch ch := s[i]; {
		case ch == '"' || ch == '\\':
			dst = append(dst, '\\', ch)
		case ch < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hex[ch>>4], hex[ch&15])
		default:
			dst = append(dst, ch)
		}
	}
	return dst
}
