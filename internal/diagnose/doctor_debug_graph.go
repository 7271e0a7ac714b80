package diagnose

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// SyntaxError is the place where a text is not the graph of a collector.
type SyntaxError struct {
	// Line counts from 1.
	Line int
	What string
}

// Error returns the message with the line.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d: %s", e.Line, e.What)
}

// longestLine is the maximum length of a line in bytes. The longest line is a label, with one name,
// one namespace and one kind.
const longestLine = 1 << 20

// The fixed lines.
const (
	firstLine   = "strict digraph full {"
	nodesFollow = "  // Node definitions."
	edgesFollow = "  // Edge definitions."
	endOfNode   = "  ];"
	lastLine    = "}"
)

// ReadDebugGraph reads one graph up to the end of the input. If anything is wrong with the text,
// including text after the graph, the error is a *SyntaxError.
//
// The graph is a collector's view of the objects that have owners or dependents; the debug endpoint
// leaves out all others. Nodes and edges are in the order of the text: nodes by their UIDs, which are
// unique; edges by dependent, then by owner, two if an object names an owner twice. The text does not
// show whether an edge blocks. If owners are missing, upstream writes wrong edges: one to a dependent
// of the missing owner may point to the missing owner instead. The namespace of a missing owner is
// unknown. BeingDeleted and WaitingForDependents are set when the collector learns of a deletion, and
// never cleared. (spec §4)
func ReadDebugGraph(in io.Reader) (*report.Graph, error) {
	r := &reader{lines: bufio.NewScanner(in), at: map[types.UID]int{}, graph: &report.Graph{}}
	r.lines.Buffer(make([]byte, 0, 1<<16), longestLine)
	err := r.read()
	// After a read error, the last line is incomplete, which is no syntax error.
	if failed := r.lines.Err(); failed != nil && !errors.Is(failed, bufio.ErrTooLong) {
		err = fmt.Errorf("after line %d: %w", r.n, failed)
	}
	if err != nil {
		return nil, err
	}
	return r.graph, nil
}

type reader struct {
	lines *bufio.Scanner
	// line is the current line without its end; valid until the next call of next.
	line  []byte
	n     int
	graph *report.Graph
	// at has the indexes of nodes by UID.
	at map[types.UID]int
}

func (r *reader) read() error {
	if err := r.next("the graph"); err != nil {
		return err
	}
	if !r.is(firstLine) {
		return r.wrong("the graph of a collector begins with %q, not with %s", firstLine, shorten(r.line))
	}
	for section := ""; ; {
		if err := r.next("the closing }"); err != nil {
			return err
		}
		var err error
		switch {
		case r.is(lastLine):
			return r.end()
		case r.is(nodesFollow) && section == "":
			section = nodesFollow
		case r.is(edgesFollow) && section == nodesFollow:
			section = edgesFollow
		case section == nodesFollow:
			err = r.node()
		case section == edgesFollow:
			err = r.edge()
		default:
			err = r.wrong("expected the definitions of nodes, not %s", shorten(r.line))
		}
		if err != nil {
			return err
		}
	}
}

// next reads the next line. expected is named in the error if the input ends.
func (r *reader) next(expected string) error {
	if r.lines.Scan() {
		r.n++
		r.line = r.lines.Bytes()
		return nil
	}
	r.n++
	if r.lines.Err() != nil {
		return r.wrong("longer than %d bytes", longestLine)
	}
	return r.wrong("the text ends before %s: it was cut off", expected)
}

func (r *reader) is(text string) bool { return string(r.line) == text }

func (r *reader) wrong(format string, args ...any) error {
	return &SyntaxError{Line: r.n, What: fmt.Sprintf(format, args...)}
}

// end returns an error if anything but blank lines follows.
func (r *reader) end() error {
	for r.lines.Scan() {
		r.n++
		if r.line = r.lines.Bytes(); len(bytes.TrimSpace(r.line)) > 0 {
			return r.wrong("something follows the end of the graph: %s", shorten(r.line))
		}
	}
	if r.lines.Err() != nil {
		r.n++
		return r.wrong("longer than %d bytes", longestLine)
	}
	return nil
}

// node reads one node. Its first line is the current one.
func (r *reader) node() error {
	id, ok := bytes.CutPrefix(r.line, []byte("  "))
	if ok {
		id, ok = bytes.CutSuffix(id, []byte(" ["))
	}
	if !ok {
		return r.wrong("expected a node, not %s", shorten(r.line))
	}
	uid, err := r.unquote(id)
	if err != nil {
		return err
	}
	begin := r.n
	var n report.Node
	var own, label, group, version string
	for _, a := range [...]struct {
		key  string
		text *string
		flag *bool
	}{
		{key: "label", text: &label}, // the other attributes have all of it
		{key: "group", text: &group}, {key: "version", text: &version}, {key: "kind", text: &n.Ref.Kind},
		{key: "namespace", text: &n.Ref.Namespace}, {key: "name", text: &n.Ref.Name}, {key: "uid", text: &own},
		{key: "missing", flag: &n.Missing}, {key: "beingDeleted", flag: &n.BeingDeleted},
		{key: "deletingDependents", flag: &n.WaitingForDependents}, {key: "virtual", flag: &n.Virtual},
	} {
		if err := r.next("the attribute " + a.key); err != nil {
			return err
		}
		if a.text != nil {
			*a.text, err = r.value(a.key)
		} else {
			*a.flag, err = r.flag(a.key)
		}
		if err != nil {
			return err
		}
		if a.text == &own && own != uid {
			return r.wrong("the uid is %s, and the node is called %s", shorten([]byte(own)), shorten([]byte(uid)))
		}
	}
	n.Ref.UID, n.Observed = types.UID(uid), !n.Virtual && !n.Missing
	if n.Ref.APIVersion, err = r.apiVersion(group, version); err != nil {
		return err
	}
	if err := r.next("the end of the node"); err != nil {
		return err
	}
	if !r.is(endOfNode) {
		return r.wrong("expected the end of the node, not %s", shorten(r.line))
	}
	return r.add(n, begin)
}

// apiVersion joins group and version. Both are empty for an apiVersion that does not parse.
func (r *reader) apiVersion(group, version string) (string, error) {
	if group == "" {
		return version, nil
	}
	text := group + "/" + version
	if g, v := object.SplitAPIVersion(text); g != group || v != version {
		return "", r.wrong("group %s and version %s are no apiVersion", shorten([]byte(group)), shorten([]byte(version)))
	}
	return text, nil
}

// add adds a node. The text may have a missing owner once for each of its dependents.
func (r *reader) add(n report.Node, line int) error {
	i, twice := r.at[n.Ref.UID]
	switch {
	case !twice:
		r.at[n.Ref.UID] = len(r.graph.Nodes)
		r.graph.Nodes = append(r.graph.Nodes, n)
	case n.Missing: // the existing node has at least the same information
	case r.graph.Nodes[i].Missing:
		r.graph.Nodes[i] = n
	default:
		return &SyntaxError{Line: line, What: "a second node " + shorten([]byte(n.Ref.UID))}
	}
	return nil
}

// edge reads the edge in the current line.
func (r *reader) edge() error {
	text, ok := bytes.CutPrefix(r.line, []byte("  "))
	if ok {
		text, ok = bytes.CutSuffix(text, []byte(";"))
	}
	from, err := strconv.QuotedPrefix(string(text))
	to, arrow := bytes.CutPrefix(text[min(len(from), len(text)):], []byte(" -> "))
	if !ok || err != nil || !arrow {
		return r.wrong("expected an edge, not %s", shorten(r.line))
	}
	var e report.Edge
	for _, end := range []struct {
		text []byte
		uid  *types.UID
	}{{[]byte(from), &e.Dependent}, {to, &e.Owner}} {
		uid, err := r.unquote(end.text)
		if err != nil {
			return err
		}
		i, known := r.at[types.UID(uid)]
		if !known {
			return r.wrong("there is no node %s", shorten([]byte(uid)))
		}
		*end.uid = r.graph.Nodes[i].Ref.UID
	}
	r.graph.Edges = append(r.graph.Edges, e)
	return nil
}

// value returns the value of the attribute in the current line.
func (r *reader) value(key string) (string, error) {
	text, err := r.quoted(key)
	if err != nil {
		return "", err
	}
	return r.unquote(text)
}

func (r *reader) flag(key string) (bool, error) {
	text, err := r.quoted(key)
	if err != nil {
		return false, err
	}
	switch string(text) {
	case `"true"`:
		return true, nil
	case `"false"`:
		return false, nil
	}
	return false, r.wrong("%s is %s, which is neither true nor false", key, shorten(text))
}

// quoted returns the value of the attribute in the current line, still quoted.
func (r *reader) quoted(key string) ([]byte, error) {
	text, ok := bytes.CutPrefix(r.line, []byte("    "))
	if ok {
		text, ok = bytes.CutPrefix(text, []byte(key))
	}
	if ok {
		text, ok = bytes.CutPrefix(text, []byte("="))
	}
	if !ok {
		return nil, r.wrong("expected the attribute %s, not %s", key, shorten(r.line))
	}
	return text, nil
}

// unquote reads a string in Go syntax, with double quotes only.
func (r *reader) unquote(text []byte) (string, error) {
	if len(text) >= 2 && text[0] == '"' {
		if s, err := strconv.Unquote(string(text)); err == nil {
			return s, nil
		}
	}
	return "", r.wrong("%s is not a quoted string", shorten(text))
}

// shorten returns foreign text for a message: short and without control characters.
func shorten(text []byte) string {
	const most = 60
	if len(text) > most {
		return strconv.QuoteToASCII(strings.ToValidUTF8(string(text[:most]), "")) + "…"
	}
	return strconv.QuoteToASCII(string(text))
}
