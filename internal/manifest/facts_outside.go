package manifest

import (
	"bytes"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// outsideFacts covers the kinds of object.HasOutsideFacts: the fields by which their controllers
// decide about outside resources. Kinds of other versions may have other types: a value that is no
// string, boolean or list of strings is left out, and is no Problem. Package finalizer has the
// sources.
var outsideFacts = &factKind{
	fields: outsideFields("deletionPolicy", "managementPolicies", "reclaimPolicy", "cleanPolicy", "destroyResourcesOnDeletion",
		"destroyOnFinalize", "preview", "destroyOnDeletion", "deleteResource", "preserveOnDelete", "preserveResourcesOnDeletion", "suspend"),
	facts: readOutside,
}

// clusterFacts covers Cluster API: the field of a Cluster that pauses the controllers of all its parts.
var clusterFacts = &factKind{kind: object.CAPICluster, lenient: true, fields: outsideFields("paused"), facts: readOutside}

// connectorFacts and contextFacts cover Config Connector: the fields that pause its controllers.
var (
	connectorFacts = &factKind{kind: object.ConfigConnector, lenient: true, fields: outsideFields("mode", "actuationMode"), facts: readOutside}
	contextFacts   = &factKind{kind: object.ConfigConnectorContext, lenient: true, fields: outsideFields("actuationMode"), facts: readOutside}
)

func readOutside(f *facts, _ *object.Object) object.Facts {
	if !f.specified {
		return nil
	}
	return &object.OutsideFacts{Fields: sortedFields(f.outside)}
}

// sortedFields returns a copy of the fields, sorted by name.
func sortedFields(fields []object.FieldValue) []object.FieldValue {
	fields = slices.Clone(fields)
	slices.SortFunc(fields, func(a, b object.FieldValue) int { return strings.Compare(a.Field, b.Field) })
	return fields
}

// outsideFields returns fields of the spec.
func outsideFields(names ...string) []factField {
	fields := make([]factField, len(names))
	for i, name := range names {
		fields[i] = factField{path: "spec." + name, keep: keepValue, read: (*lexer).outsideField}
		if name == "managementPolicies" {
			fields[i].keep = keepStrings
		}
	}
	return fields
}

// outsideField reads a string, a boolean, or a list of strings, which it joins.
func (l *lexer) outsideField(it *item, path string, _ bool) error {
	var value []byte
	switch l.token() {
	case '"':
		text, err := l.text(nil, path)
		if err != nil {
			return err
		}
		value = text
	case 't', 'f':
		yes, _, err := l.boolean(path)
		if err != nil {
			return err
		}
		value = []byte("false")
		if yes {
			value = []byte("true")
		}
	case '[':
		list, ok, err := l.textsOnly()
		if err != nil || !ok {
			return err
		}
		value = list
	default:
		return l.skip()
	}
	return l.keepOutside(it, path, value)
}

// textsOnly reads a list and joins its strings with commas. ok is false if it has another value.
func (l *lexer) textsOnly() (joined []byte, ok bool, err error) {
	ok, first := true, true
	err = l.elements("a list", func() (err error) {
		if l.token() != '"' {
			ok, first = false, false
			return l.skip()
		}
		if !first {
			joined = append(joined, ',')
		}
		first = false
		if joined, err = l.text(joined, "a list"); err == nil {
			err = l.charge(entryBytes)
		}
		return err
	})
	return joined, ok, err
}

// keepOutside adds a field to the outside facts of an object.
func (l *lexer) keepOutside(it *item, name string, value []byte) error {
	it.facts.outside = append(it.facts.outside, object.FieldValue{Field: name, Value: l.rd.in.Bytes(value)})
	return l.charge(2 * entryBytes)
}

// isOutsideAnnotation reports whether the current key is an annotation of object.IsOutsideAnnotation.
// Most keys are not, and cost no copy.
func isOutsideAnnotation(key []byte) bool {
	return bytes.HasSuffix(key, []byte("-policy")) && object.IsOutsideAnnotation(string(key))
}

// outsideAnnotation reads an annotation that decides about outside resources. It ignores one that
// occurs again, and one that is no string.
func (l *lexer) outsideAnnotation(it *item) error {
	key := l.rd.in.Bytes(l.key)
	again := slices.ContainsFunc(it.facts.outside, func(f object.FieldValue) bool { return f.Field == key })
	if again || l.token() != '"' {
		return l.skip()
	}
	value, err := l.text(nil, key)
	if err != nil {
		return err
	}
	return l.keepOutside(it, key, value)
}
