package main

import (
	"reflect"
	"slices"
)

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
