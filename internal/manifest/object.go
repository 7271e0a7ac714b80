package manifest

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

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
	err := l.members("it", false, func() (err error) {
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
			err = rd.sectionField(l, it, outer, hasSpec)
		case "status":
			err = rd.sectionField(l, it, outer, hasStatus)
		case "Spec", "Status": // of an item with Go field names
			switch {
			case !flat:
				err = l.skip()
			case l.key[1] == 'p':
				err = rd.sectionField(l, it, outer, hasSpec)
			default:
				err = rd.sectionField(l, it, outer, hasStatus)
			}
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
		return err
	})
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

// partialKind is the kind of an object in a metadata-only response. It doesn't tell the kind of the
// object.
const partialKind = "PartialObjectMetadata"

// kindOf returns the apiVersion and kind of an item: its own, else those of its list, else those of
// the options. settled is false if they depend on a kind that the list hasn't had yet.
func (rd *reading) kindOf(it *item, outer *listing) (apiVersion, kind string, settled bool) {
	apiVersion, kind = rd.in.Bytes(it.bytes(it.apiVersion)), rd.in.Bytes(it.bytes(it.kind))
	if kind == partialKind && object.GroupOf(apiVersion) == "meta.k8s.io" {
		apiVersion, kind = "", ""
	}
	if apiVersion != "" && kind != "" {
		return apiVersion, kind, true
	}
	otherVersion, otherKind := rd.o.APIVersion, rd.o.Kind
	if outer != nil {
		if !outer.known {
			return apiVersion, kind, false
		}
		otherVersion, otherKind = outer.itemKind()
	}
	if kind == "" {
		kind = otherKind
	}
	if apiVersion == "" && kind == otherKind {
		apiVersion = otherVersion
	}
	return apiVersion, kind, true
}

// sectionField reads the spec or the status, or keeps it if the kind is still unknown.
func (rd *reading) sectionField(l *lexer, it *item, outer *listing, f field) error {
	name, text, keeps, read := "spec", &it.spec, keepSpec, l.spec
	if f == hasStatus {
		name, text, keeps, read = "status", &it.status, keepStatus, l.status
	}
	if err := l.once(it, f, name); err != nil {
		return err
	}
	flat := outer != nil && outer.flat
	kind, known := rd.factsNow(it, outer)
	switch {
	case !known:
		return text.value(l, keeps, flat)
	case kind == nil:
		return l.skip()
	default:
		return read(it, kind, flat)
	}
}

// besideField reads a field outside of spec and status, or keeps it if the kind is still unknown.
func (rd *reading) besideField(l *lexer, it *item, outer *listing) error {
	keeps := keepBeside.fields[string(l.key)]
	if keeps == nil {
		return l.skip()
	}
	kind, known := rd.factsNow(it, outer)
	switch {
	case !known:
		return it.beside.member(l, keeps)
	case kind == nil:
		return l.skip()
	default:
		return l.fieldOf(it, &kind.beside, false)
	}
}

// factsNow returns the factKind for reading the fields of the item. known is false while a later
// field may still change the kind.
func (rd *reading) factsNow(it *item, outer *listing) (kind *factKind, known bool) {
	if it.seen&(hasAPIVersion|hasKind) != hasAPIVersion|hasKind {
		if outer == nil || !outer.known {
			return nil, false
		}
		if _, kind := outer.itemKind(); kind == "" {
			return nil, false
		}
	}
	apiVersion, name, _ := rd.kindOf(it, outer)
	it.factsOf, it.factsRead = factsOf(apiVersion, name), true
	return it.factsOf, true
}

// complete passes on the object that was read, or lets it wait for its kind.
func (rd *reading) complete(it *item, outer *listing) error {
	apiVersion, kind, settled := rd.kindOf(it, outer)
	o := rd.build(it)
	o.APIVersion, o.Kind = apiVersion, kind
	if !settled {
		if o.Name == "" {
			return rd.problem(it.line, understood(o)+"metadata.name is missing", nil)
		}
		outer.wait(o, it)
		return nil
	}
	if lacks := lacking(o); lacks != "" && outer == nil && rd.h.Foreign != nil {
		return rd.foreign(it.line, lacks)
	}
	if err := rd.checkIdentity(o, it.line); err != nil {
		return err
	}
	if err := rd.factsAtEnd(it, outer, o); err != nil {
		return err
	}
	setToken(o, it.token())
	rd.aside(o, it)
	return rd.hand(o, outer != nil, it.line)
}

// factsAtEnd adds the facts of o after its kind is known.
func (rd *reading) factsAtEnd(it *item, outer *listing, o *object.Object) error {
	kind := factsOf(o.APIVersion, o.Kind)
	if it.factsRead && it.factsOf != kind {
		return rd.problem(it.line, fmt.Sprintf("%sthe kind comes after spec or status and is not that of the list", understood(o)), nil)
	}
	if kind == nil || !it.hasFacts() {
		return nil
	}
	if it.hasKept() {
		return rd.keptFacts(*it, kind, outer != nil && outer.flat, o)
	}
	rd.in.setFacts(o, kind, it)
	return nil
}

// keptFacts adds the facts to o that follow from the kept text. it is a copy, so that the original
// stays unchanged.
func (rd *reading) keptFacts(it item, kind *factKind, flat bool, o *object.Object) error {
	rd.kept.rd = rd
	it.text = append([]byte(nil), it.text...)
	if !it.spec.empty() {
		rd.kept.over(it.spec.json, 0, it.spec.marks)
		if err := rd.kept.spec(&it, kind, flat); err != nil {
			return err
		}
	}
	if !it.status.empty() {
		rd.kept.over(it.status.json, 0, it.status.marks)
		if err := rd.kept.status(&it, kind, flat); err != nil {
			return err
		}
	}
	if !it.beside.empty() {
		rd.kept.over(append(it.beside.json, '}'), 0, it.beside.marks)
		if _, err := rd.kept.section(&it, &kind.beside, false); err != nil {
			return err
		}
	}
	rd.aside(o, &it)
	rd.in.setFacts(o, kind, &it)
	return nil
}

// checkIdentity returns a Problem for an object without an identity.
func (rd *reading) checkIdentity(o *object.Object, line int) error {
	if lacks := lacking(o); lacks != "" {
		return rd.problem(line, lacks, nil)
	}
	return nil
}

// lacking returns what is missing from the identity of o, "" if it is complete.
func lacking(o *object.Object) string {
	var missing string
	switch {
	case o.Kind == "":
		missing = "kind"
	case o.APIVersion == "":
		missing = "apiVersion"
	case o.Name == "":
		missing = "metadata.name"
	default:
		return ""
	}
	return understood(o) + missing + " is missing"
}

// understood returns the known part of an incomplete identity, as the prefix of a message.
func understood(o *object.Object) string {
	s := o.Kind
	if o.APIVersion != "" && s != "" {
		s = o.APIVersion + " " + s
	}
	switch {
	case o.Name == "":
	case o.Namespace != "":
		s += " " + o.Namespace + "/" + o.Name
	default:
		s += " " + o.Name
	}
	if s == "" {
		return ""
	}
	if s[0] == ' ' {
		s = s[1:]
	}
	return s + ": "
}
