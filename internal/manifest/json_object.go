package manifest

import "fmt"

// value reads the JSON value at the current position: a document, or an item of the list ls.
func (rd *reading) value(l *lexer, ls *listing) error {
	c := l.token()
	line := l.here()
	switch {
	case c == '{':
		depth := 0
		if ls != nil {
			depth = ls.depth + 1
		}
		if depth > maxLists {
			return l.wrong("more than %d lists are inside one another", maxLists)
		}
		rd.depth = depth
		it := &rd.items[depth]
		it.reset(line)
		l.held = 0
		if rd.captures(l) {
			return rd.objectAndText(l, it, ls)
		}
		return rd.object(l, it, ls)
	case ls != nil:
		return l.mistyped("it", "an object")
	case c == '[':
		ls := &listing{rd: rd, line: line, known: true}
		if err := ls.items(l); err != nil {
			return err
		}
		return rd.handList(List{Position: rd.at(line), Items: ls.count})
	}
	if err := l.skip(); err != nil {
		return err
	}
	return rd.foreign(line, "a JSON value that is neither object nor array")
}

// object reads the object or list at the current position.
func (rd *reading) object(l *lexer, it *item, outer *listing) error {
	list, err := rd.fields(l, it, outer, nil)
	if err != nil {
		return err
	}
	return rd.finish(it, outer, list)
}

// fields reads the members of the object or list at the current position into it. It may be called
// for several parts: list is then the result of the previous call.
func (rd *reading) fields(l *lexer, it *item, outer *listing, list *listing) (*listing, error) {
	flat := outer != nil && outer.flat
	in, err := l.object("it")
	for first := true; in && err == nil; first = false {
		if in, err = l.member(first); !in || err != nil {
			break
		}
		switch string(l.key) {
		case "apiVersion":
			rd.recognised = true
			err = l.metadataString(it, hasAPIVersion, &it.apiVersion, "apiVersion")
		case "kind":
			rd.recognised = true
			err = l.metadataString(it, hasKind, &it.kind, "kind")
		case "metadata":
			rd.recognised = true
			err = l.metadata(it)
		case "type":
			err = l.secretType(it)
		case "lastTimestamp", "eventTime":
			err = l.moment(it)
		case "items", "Items":
			list, err = rd.itemsField(l, it, outer, list)
		case "spec":
			err = rd.specField(l, it, outer)
		case "status":
			err = rd.statusField(l, it, outer)
		case "Spec":
			err = flatField(l, it, outer, rd.specField)
		case "Status":
			err = flatField(l, it, outer, rd.statusField)
		case "selfLink":
			if outer == nil && l.token() == '"' {
				err = l.string(it, &it.link, "selfLink")
			} else {
				err = l.skip()
			}
		default:
			if flat || it.seen&hasFlatItems != 0 || outer == nil && string(l.key) == "continue" && l.token() == '"' {
				err = l.metadataField(it, string(l.key))
			} else {
				err = rd.besideField(l, it, outer)
			}
		}
	}
	return list, err
}

// itemsField reads items, if the object is a list.
func (rd *reading) itemsField(l *lexer, it *item, outer *listing, list *listing) (*listing, error) {
	flat := l.key[0] == 'I'
	if it.seen&hasKind != 0 && !isListKind(it.bytes(it.kind)) {
		return list, l.skip()
	}
	if c := l.token(); c != '[' && c != 'n' {
		return list, l.skip()
	}
	if err := l.once(it, hasItems, string(l.key)); err != nil {
		return nil, err
	}
	rd.recognised = true
	if rd.h.Raw != nil {
		l.whole, l.wholeLost = -1, false // only the texts of items are kept, not that of the list
	}
	list = &listing{rd: rd, line: it.line, flat: flat}
	if outer != nil {
		list.depth = outer.depth + 1
	}
	list.understand(it)
	if flat {
		it.seen |= hasFlatItems
		list.known = true
		list.followLink(it)
	}
	err := list.items(l)
	return list, err
}

// flatField reads the Spec or Status of an item with Go field names.
func flatField(l *lexer, it *item, outer *listing, read func(*lexer, *item, *listing) error) error {
	if outer == nil || !outer.flat {
		return l.skip()
	}
	return read(l, it, outer)
}

// finish passes on an object that was read, or ends a list.
func (rd *reading) finish(it *item, outer, list *listing) error {
	if list != nil {
		return list.end(it)
	}
	if rd.strange(it, outer) {
		return rd.foreign(it.line, "an object without apiVersion, kind and metadata")
	}
	switch string(it.bytes(it.kind)) {
	case "APIGroupList", "APIResourceList":
		return rd.foreign(it.line, "an answer of API discovery")
	}
	if isListKind(it.bytes(it.kind)) && len(it.bytes(it.name)) == 0 {
		return rd.problem(it.line, fmt.Sprintf("%s has no items", it.bytes(it.kind)), nil)
	}
	return rd.complete(it, outer)
}

// strange reports whether the value has no field of a Kubernetes object, and neither options nor
// list tell its kind.
func (rd *reading) strange(it *item, outer *listing) bool {
	if it.seen&(hasAPIVersion|hasKind|hasMetadata) != 0 || rd.o.Kind != "" {
		return false
	}
	return outer == nil || outer.known && outer.kind == "" && !outer.flat
}
