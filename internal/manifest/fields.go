package manifest

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

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

// specField reads the spec, or keeps it if the kind is still unknown.
func (rd *reading) specField(l *lexer, it *item, outer *listing) error {
	if err := l.once(it, hasSpec, "spec"); err != nil {
		return err
	}
	kind, known := rd.factsNow(it, outer)
	if !known {
		return it.spec.value(l, keepSpec, outer != nil && outer.flat)
	}
	if kind == nil {
		return l.skip()
	}
	return l.spec(it, kind, outer != nil && outer.flat)
}

// statusField reads the status, or keeps it if the kind is still unknown.
func (rd *reading) statusField(l *lexer, it *item, outer *listing) error {
	if err := l.once(it, hasStatus, "status"); err != nil {
		return err
	}
	kind, known := rd.factsNow(it, outer)
	if !known {
		return it.status.value(l, keepStatus, outer != nil && outer.flat)
	}
	if kind == nil {
		return l.skip()
	}
	return l.status(it, kind, outer != nil && outer.flat)
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
		if err := rd.kept.beside(&it, kind); err != nil {
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
