package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// schemaDirectory is where the schemas of documents are.
const schemaDirectory = "docs/schema"

// node is a JSON Schema, as far as documents need it.
type node struct {
	Schema      string   `json:"$schema,omitempty"`
	ID          string   `json:"$id,omitempty"`
	Ref         string   `json:"$ref,omitempty"`
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Type        string   `json:"type,omitempty"`
	Format      string   `json:"format,omitempty"`
	Const       string   `json:"const,omitempty"`
	Enum        []string `json:"enum,omitempty"`
	Pattern     string   `json:"pattern,omitempty"`
	AnyOf       []*node  `json:"anyOf,omitempty"`
	Items       *node    `json:"items,omitempty"`
	Required    []string `json:"required,omitempty"`
	// Dependent are the fields without which another one is not there.
	Dependent  map[string][]string `json:"dependentRequired,omitempty"`
	Properties properties          `json:"properties,omitempty"`
	Defs       properties          `json:"$defs,omitempty"`
}

// properties keep their order.
type properties []property

type property struct {
	name string
	node *node
}

// MarshalJSON writes an object.
func (p properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, one := range p {
		if i > 0 {
			b.WriteByte(',')
		}
		value, err := marshal(one.node)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:%s", one.name, value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// marshal leaves < and > as they are.
func marshal(n *node) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(n)
	return b.Bytes(), err
}

// schemaPages are the schemas of all documents, by file name.
func schemaPages() (map[string][]byte, error) {
	source, err := readSource("internal/object/ref.go", "internal/report/*.go", "internal/reason/*.go")
	if err != nil {
		return nil, err
	}
	words := vocabulary()
	used := map[string]bool{}
	pages := map[string][]byte{}
	for kind, t := range report.Scheme.KnownTypes(report.GroupVersion) {
		b := builder{source: source, words: words, used: used, defs: map[string]*node{}}
		_, b.abbreviated = reflect.TypeAssert[report.Abbreviated](reflect.Zero(reflect.PointerTo(t)))
		raw, err := marshal(b.document(kind, t))
		if err != nil {
			return nil, err
		}
		var page bytes.Buffer
		if err := json.Indent(&page, raw, "", "  "); err != nil {
			return nil, err
		}
		pages[schemaDirectory+"/"+strings.ToLower(kind)+".json"] = page.Bytes()
	}
	for field := range words {
		if !used[field] {
			return nil, fmt.Errorf("the list of words has the field %s, which no document has", field)
		}
	}
	return pages, nil
}

// builder makes the schema of one document.
type builder struct {
	source source
	words  map[string]wording
	used   map[string]bool
	defs   map[string]*node
	// abbreviated tells that the document names objects by their uids.
	abbreviated bool
}

func (b *builder) document(kind string, t reflect.Type) *node {
	n := b.object(t)
	n.Schema = "https://json-schema.org/draft/2020-12/schema"
	n.ID = "urn:kubectl-gc.io:v1alpha1:" + strings.ToLower(kind)
	n.Title = kind
	for _, p := range n.Properties {
		switch p.name {
		case "apiVersion":
			*p.node = node{Const: report.APIVersion}
		case "kind":
			*p.node = node{Const: kind}
		}
	}
	b.defs["Line"] = lineOf(n, t)
	for _, name := range slices.Sorted(maps.Keys(b.defs)) {
		n.Defs = append(n.Defs, property{name, b.defs[name]})
	}
	return n
}

// object is a struct. What it embeds has its fields in it, as JSON has.
func (b *builder) object(t reflect.Type) *node {
	n := &node{Description: b.source.types[t.Name()], Type: "object"}
	b.fields(n, t)
	return n
}

func (b *builder) fields(n *node, t reflect.Type) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		if f.Anonymous && name == "" {
			b.fields(n, f.Type)
			continue
		}
		value := b.value(f.Type)
		if w, ok := b.words[t.Name()+"."+name]; ok {
			b.used[t.Name()+"."+name] = true
			w.say(value)
		}
		if whole := wholeReferences[t.Name()+"."+name]; whole && b.abbreviated {
			value = inWhole(value)
		}
		value.Description = b.source.fields[t.Name()+"."+f.Name]
		n.Properties = append(n.Properties, property{name, value})
		if options != "omitempty" && options != "omitzero" {
			n.Required = append(n.Required, name)
		}
	}
}

// value is a type wherever it occurs; structs and enumerations have one definition.
func (b *builder) value(t reflect.Type) *node {
	switch t.Kind() {
	case reflect.Pointer:
		return b.value(t.Elem())
	case reflect.Slice:
		return &node{Type: "array", Items: b.value(t.Elem())}
	case reflect.Bool:
		return &node{Type: "boolean"}
	case reflect.Int, reflect.Int64:
		return &node{Type: "integer"}
	case reflect.String:
		if values := b.source.constants[t.Name()]; len(values) > 0 {
			return b.define(t.Name(), func() *node {
				return &node{Description: b.source.types[t.Name()], Type: "string", Enum: values}
			})
		}
		return &node{Type: "string"}
	case reflect.Struct:
		return b.define(t.Name(), func() *node {
			if b.abbreviated && t == reflect.TypeFor[object.Ref]() {
				return byUID(b.object(t))
			}
			return b.object(t)
		})
	default:
		panic("reference: a document has a field of kind " + t.Kind().String())
	}
}

func (b *builder) define(name string, as func() *node) *node {
	if _, ok := b.defs[name]; !ok {
		b.defs[name] = nil // it may refer to itself
		b.defs[name] = as()
	}
	return &node{Ref: "#/$defs/" + name}
}

// lineOf is a line of -o jsonl: the document without its lists of objects, or an entry of one.
func lineOf(document *node, t reflect.Type) *node {
	lists := &node{Description: "How many lines there are of each list.", Type: "object"}
	head := &node{Description: "The first line: the document without its lists of objects.", Type: "object"}
	line := &node{Description: "A line of -o jsonl. All but the first say which list they are an entry of.", AnyOf: []*node{head}}
	for _, p := range document.Properties {
		required := slices.Contains(document.Required, p.name)
		if !isList(t, p.name) {
			head.Properties = append(head.Properties, p)
			if required {
				head.Required = append(head.Required, p.name)
			}
			continue
		}
		lists.Properties = append(lists.Properties, property{p.name, &node{Type: "integer"}})
		if required {
			lists.Required = append(lists.Required, p.name)
		}
		entry := *p.node.Items
		entry.Required = append(slices.Clone(entry.Required), "list")
		entry.Properties = properties{{"list", &node{Const: p.name}}}
		line.AnyOf = append(line.AnyOf, &entry)
	}
	head.Properties = append(head.Properties, property{"lists", lists})
	head.Required = append(head.Required, "lists")
	return line
}

// isList reports whether a field of a document is a list of objects.
func isList(t reflect.Type, name string) bool {
	for f := range t.Fields() {
		if tag := f.Tag.Get("json"); tag == name || len(tag) > len(name) && tag[:len(name)+1] == name+"," {
			return f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct
		}
	}
	return false
}

// wholeReferences are the fields, by type and name in JSON, with the whole reference of an object. Other
// fields of such a document have only its uid.
var wholeReferences = map[string]bool{"Effect.object": true, "Seed.targets": true}

// byUID returns the schema of a reference that is whole or has only the uid.
func byUID(whole *node) *node {
	n := *whole
	n.Description += " Where the uid leads to one effect, which has the whole reference, it stands alone."
	n.Required = []string{"uid"}
	n.Dependent = map[string][]string{"namespace": wholeFields}
	for _, field := range wholeFields {
		n.Dependent[field] = slices.DeleteFunc(slices.Clone(wholeFields), func(other string) bool { return other == field })
	}
	return &n
}

// wholeFields are the required fields of a whole reference, in addition to the uid.
var wholeFields = []string{"apiVersion", "kind", "name"}

// inWhole is a reference, or a list of them, that is always in whole.
func inWhole(n *node) *node {
	if n.Items != nil {
		n.Items = inWhole(n.Items)
		return n
	}
	return &node{Ref: n.Ref, Required: wholeFields}
}
