package render

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// parsedDOT is the parsed content of a graph.
type parsedDOT struct {
	vertices, edges int
	attributes      map[string]bool
}

// parseDOT parses only the part of the DOT language that the two writers use: an identifier or
// keyword from a name that has escaped its quotes is an error.
func parseDOT(text string) (parsedDOT, error) {
	p := &dotParser{got: parsedDOT{attributes: map[string]bool{}}}
	var err error
	if p.tokens, err = dotTokens(text); err != nil {
		return p.got, err
	}
	p.accept("strict")
	if err := p.expect("digraph"); err != nil {
		return p.got, err
	}
	if err := p.graph(); err != nil {
		return p.got, err
	}
	if len(p.tokens) > 0 {
		return p.got, fmt.Errorf("text after the graph: %q", p.tokens[0])
	}
	return p.got, nil
}

type dotParser struct {
	tokens []string
	got    parsedDOT
}

func (p *dotParser) peek() string {
	if len(p.tokens) == 0 {
		return ""
	}
	return p.tokens[0]
}

func (p *dotParser) take() string {
	t := p.peek()
	if t != "" {
		p.tokens = p.tokens[1:]
	}
	return t
}

func (p *dotParser) accept(token string) bool {
	if p.peek() == token {
		p.take()
		return true
	}
	return false
}

func (p *dotParser) expect(token string) error {
	if t := p.take(); t != token {
		return fmt.Errorf("%q where %q is due", t, token)
	}
	return nil
}

// graph parses an identifier and a block of statements.
func (p *dotParser) graph() error {
	p.take()
	if err := p.expect("{"); err != nil {
		return err
	}
	for !p.accept("}") {
		if p.peek() == "" {
			return fmt.Errorf("the graph does not end")
		}
		if p.accept("subgraph") {
			if err := p.graph(); err != nil {
				return err
			}
			continue
		}
		if err := p.statement(); err != nil {
			return err
		}
	}
	return nil
}

// statement parses a vertex, an edge or an attribute of the graph.
func (p *dotParser) statement() error {
	id := p.take()
	switch {
	case p.accept("="):
		p.got.attributes[id] = true
		p.take()
		return p.expect(";")
	case p.accept("->"):
		p.got.edges++
		if to := p.take(); !identifier(id) || !identifier(to) {
			return fmt.Errorf("edge from %q to %q", id, to)
		}
	default:
		p.got.vertices++
		if !identifier(id) {
			return fmt.Errorf("vertex %q", id)
		}
	}
	if p.accept("[") {
		for !p.accept("]") {
			key := p.take()
			p.got.attributes[key] = true
			if err := p.expect("="); err != nil {
				return err
			}
			if value := p.take(); !strings.HasPrefix(value, `"`) {
				return fmt.Errorf("attribute %s is %q", key, value)
			}
			p.accept(",")
		}
	}
	return p.expect(";")
}

func identifier(t string) bool {
	if strings.HasPrefix(t, `"`) {
		return true
	}
	return len(t) > 1 && t[0] == 'n' && strings.Trim(t[1:], "0123456789") == ""
}

// dotTokens splits text into words, signs and quoted strings. A string ends at the first quote
// without a backslash before it; a raw control in one is an error.
func dotTokens(text string) ([]string, error) {
	var tokens []string
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n':
			i++
		case strings.HasPrefix(text[i:], "//"):
			end := strings.IndexByte(text[i:], '\n')
			i += end
		case strings.HasPrefix(text[i:], "->"):
			tokens = append(tokens, "->")
			i += 2
		case strings.IndexByte("{}[]=,;", c) >= 0:
			tokens = append(tokens, string(c))
			i++
		case c == '"':
			end := i + 1
			for ; end < len(text) && text[end] != '"'; end++ {
				if text[end] == '\\' {
					end++
				}
			}
			if end >= len(text) {
				return nil, fmt.Errorf("a string does not end: %q", text[i:])
			}
			for _, r := range text[i : end+1] {
				if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
					return nil, fmt.Errorf("%q in the string %q", r, text[i:end+1])
				}
			}
			tokens = append(tokens, text[i:end+1])
			i = end + 1
		default:
			end := i
			for end < len(text) && (text[end] == '_' || text[end] < utf8.RuneSelf && unicode.IsLetter(rune(text[end])) || text[end] >= '0' && text[end] <= '9') {
				end++
			}
			if end == i {
				return nil, fmt.Errorf("stray %q", text[i:min(i+20, len(text))])
			}
			tokens = append(tokens, text[i:end])
			i = end
		}
	}
	return tokens, nil
}

func TestParseDOTRefusesWhatBreaksOut(t *testing.T) {
	for _, text := range []string{
		`digraph g { n1[label="a"]; evil[label="b"]; }`,
		`digraph g { n1[label=<b>]; }`,
		`digraph g { n1[label="a]; }`,
		"digraph g { n1[label=\"a\x1b\"]; }",
		`digraph g { n1[label="a"]; `,
		`digraph g { } }`,
	} {
		if _, err := parseDOT(text); err == nil {
			t.Errorf("no error for %s", text)
		}
	}
}
