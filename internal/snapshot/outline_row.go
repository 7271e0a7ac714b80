package snapshot

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// row is what the line of an object starts with.
type row struct {
	number          int
	namespace, name string
}

// compare orders rows as the objects of a file are ordered, for types are numbered in
// the order of their objects.
func (r row) compare(other row) int {
	return cmp.Or(
		cmp.Compare(r.number, other.number),
		strings.Compare(r.namespace, other.namespace),
		strings.Compare(r.name, other.name),
	)
}

// rowQuery says which rows are asked for.
type rowQuery struct {
	number     int
	namespaced bool
	namespace  string
	prefix     string
}

func (q rowQuery) matches(namespace, name string) bool {
	return (!q.namespaced || namespace == q.namespace) && strings.HasPrefix(name, q.prefix)
}

// first is a place that no row that is asked for stands before.
func (q rowQuery) first() row {
	r := row{number: q.number, name: q.prefix}
	if q.namespaced {
		r.namespace = q.namespace
	}
	return r
}

// precedes tells whether all rows that are asked for stand before a row.
func (q rowQuery) precedes(r row) bool {
	if !q.namespaced || r.number != q.number {
		return r.number > q.number
	}
	return r.compare(q.first()) > 0 && !q.matches(r.namespace, r.name)
}

// rowOf reads the start of a line as we write it, which is many times as fast as
// reading the line. Where it is written in another way, the whole line is read.
func rowOf(line []byte) (row, bool) {
	if r, ok := plainRow(line); ok {
		return r, true
	}
	var stored struct {
		Type      *int   `json:"t"`
		Namespace string `json:"s"`
		Name      string `json:"n"`
	}
	if err := json.Unmarshal(line, &stored); err != nil || stored.Type == nil {
		return row{}, false
	}
	return row{*stored.Type, stored.Namespace, stored.Name}, true
}

// plainRow reads {"t":7,"s":"shop","n":"web",… whose texts have no escapes. Both may
// be missing; they come in this order, and before all others.
func plainRow(line []byte) (row, bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"t":`))
	if !ok {
		return row{}, false
	}
	const mostDigits = 9
	var r row
	digits := 0
	for digits < len(rest) && digits <= mostDigits && rest[digits] >= '0' && rest[digits] <= '9' {
		r.number = r.number*10 + int(rest[digits]-'0')
		digits++
	}
	if digits == 0 || digits > mostDigits {
		return row{}, false
	}
	rest = rest[digits:]
	if r.namespace, rest, ok = plainField(rest, `,"s":"`); !ok {
		return row{}, false
	}
	if r.name, _, ok = plainField(rest, `,"n":"`); !ok {
		return row{}, false
	}
	// Without a name the fields could have come in another order.
	return r, r.name != ""
}

// plainField cuts a text without escapes from the rest of a line, empty if it is not
// the next one.
func plainField(rest []byte, key string) (value string, after []byte, ok bool) {
	text, found := bytes.CutPrefix(rest, []byte(key))
	if !found {
		return "", rest, true
	}
	end := bytes.IndexByte(text, '"')
	if end < 0 || bytes.IndexByte(text[:end], '\\') >= 0 {
		return "", nil, false
	}
	return string(text[:end]), text[end+1:], true
}

// storedObjectOf is the object of a line.
func storedObjectOf(line []byte, types []typeName, intern *manifest.Interner) (*object.Object, error) {
	var stored storedObject
	if err := json.Unmarshal(line, &stored); err != nil {
		return nil, fmt.Errorf("%w: %w", errFormat, err)
	}
	if stored.Type < 0 || stored.Type >= len(types) {
		return nil, fmt.Errorf("%w: type %d of %d", errFormat, stored.Type, len(types))
	}
	return stored.object(types[stored.Type], intern), nil
}
