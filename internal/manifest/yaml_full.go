package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

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
