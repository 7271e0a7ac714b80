package manifest

import (
	"maps"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// factKind defines which fields of the spec, of the status and outside of both are kept of a kind.
// The JSON reader and the YAML filter are both derived from it. Annotations are read with the
// metadata.
type factKind struct {
	kind   object.Kind
	fields []factField
	// facts returns the facts that were read, nil if missing fields leave them unknown. It is nil
	// for kinds that only tell something about their cluster.
	facts func(f *facts, o *object.Object) object.Facts
	// alike returns a key that is equal for objects with equal facts, so that they can share them.
	// It is valid until the next call. nil: the facts are not shared.
	alike func(f *facts) []byte

	// lenient is true for kinds of others, which may have other types in another version: a spec or
	// status that is no mapping counts as missing, and of a field that occurs twice the first counts.
	lenient bool
	// dumpsOnly is true if the fields are read from dumps only. Of a cluster, the metadata is listed:
	// the fields hold secrets.
	dumpsOnly bool

	// beside has the fields outside of spec and status.
	spec, status, beside section
}

// factField is one field.
type factField struct {
	// path is spec.nodeName, or secrets for a field outside of spec and status. Kinds with the same
	// path share the field.
	path string
	// flat is the name of the Go field with a lower-case first letter, if it differs from the JSON
	// name.
	flat string
	keep *keep
	read func(l *lexer, it *item, path string, flat bool) error
}

// factKinds are the kinds with kept fields.
var factKinds = prepared(podFacts, namespaceFacts, crdFacts, jobFacts, pvFacts, resourceClaimFacts,
	serviceCIDRFacts, ipAddressFacts, statefulSetFacts, accountFacts, roleFacts, applicationFacts, kustomizationFacts, helmReleaseFacts, helmChartFacts, appFacts,
	helmSecretFacts, helmConfigMapFacts, volumeSnapshotFacts, groupSnapshotFacts, snapshotContentFacts, groupSnapshotContentFacts,
	leaseMoment, nodeFacts, clusterFacts, connectorFacts, contextFacts, outsideFacts)

// sharedText is a string field with a value that many objects share.
func sharedText(path string, at func(*facts) *string) factField {
	return factField{path: path, keep: keepValue, read: func(l *lexer, it *item, path string, _ bool) error {
		return l.shared(it, at(&it.facts), path)
	}}
}

// texts is a field with a list of strings.
func texts(path string, at func(*facts) *[]string) factField {
	return factField{path: path, keep: keepStrings, read: func(l *lexer, it *item, path string, _ bool) (err error) {
		*at(&it.facts), err = l.strings(path)
		return err
	}}
}

// existence returns a field that is only asked whether it has a value.
func existence(path string, at func(*facts) *bool) factField {
	return factField{path: path, keep: keepFields(nil), read: func(l *lexer, it *item, _ string, _ bool) error {
		*at(&it.facts) = l.token() != 'n'
		return l.skip()
	}}
}

// section is a spec, a status, or the fields outside of both, which has no name.
type section struct {
	name    string
	fields  []sectionField
	keep    *keep
	lenient bool
}

type sectionField struct {
	factField
	name string
	bit  uint32
}

// prepared groups the fields of kinds by section.
func prepared(kinds ...*factKind) map[string]*factKind {
	byName := map[string]*factKind{}
	for _, k := range kinds {
		k.spec, k.status, k.beside = newSection("spec", k.fields), newSection("status", k.fields), newSection("", k.fields)
		k.spec.lenient, k.status.lenient, k.beside.lenient = k.lenient, k.lenient, k.lenient
		byName[k.kind.Kind] = k
	}
	return byName
}

func newSection(name string, all []factField) section {
	s := section{name: name, keep: keepFields(nil)}
	for i, f := range all {
		in, field, nested := strings.Cut(f.path, ".")
		if !nested {
			in, field = "", f.path
		}
		if in == name {
			s.fields = append(s.fields, sectionField{f, field, 1 << i})
			s.keep.fields[field] = f.keep
			if f.flat != "" {
				s.keep.fields[f.flat] = f.keep
			}
		}
	}
	return s
}

// keepSection returns what is kept of a section of any of the kinds.
func keepSection(of func(*factKind) *section) *keep {
	all := keepFields(nil)
	for _, k := range factKinds {
		maps.Copy(all.fields, of(k).keep.fields)
	}
	return all
}

// factsOf returns the factKind of a kind; nil if nothing is kept.
func factsOf(apiVersion, kind string) *factKind {
	group := object.GroupOf(apiVersion)
	if k := factKinds[kind]; k != nil && k != outsideFacts && group == k.kind.Group {
		return k
	}
	if strings.Contains(group, ".") && object.HasOutsideFacts(group, kind) {
		return outsideFacts
	}
	return nil
}

// HasFacts reports whether parts of the spec or status of a kind are read of a cluster, so that its
// metadata alone is not enough. It is false for kinds with outside facts, of which only plans need more.
func HasFacts(apiVersion, kind string) bool {
	k := factsOf(apiVersion, kind)
	return k != nil && k.facts != nil && !k.dumpsOnly && k != outsideFacts
}

// field returns the field of that name; nil if it is not kept.
func (s *section) field(key []byte) *sectionField {
	for i := range s.fields {
		if f := &s.fields[i]; f.name == string(key) || f.flat == string(key) && f.flat != "" {
			return f
		}
	}
	return nil
}

// section reads the kept fields of a spec or status. It returns whether the section exists.
func (l *lexer) section(it *item, s *section, flat bool) (there bool, err error) {
	if s.lenient && l.token() != '{' {
		return false, l.skip()
	}
	there = l.token() == '{'
	return there, l.members(s.name, flat, func() error { return l.fieldOf(it, s, flat) })
}

// fieldOf reads the value of the current key if it is kept.
func (l *lexer) fieldOf(it *item, s *section, flat bool) error {
	f := s.field(l.key)
	if f == nil {
		return l.skip()
	}
	if it.factsSeen&f.bit != 0 {
		if s.lenient {
			return l.skip()
		}
		return l.wrong("%s is there twice", f.path)
	}
	it.factsSeen |= f.bit
	return f.read(l, it, f.path, flat)
}

// spec reads the kept fields of a kind's spec.
func (l *lexer) spec(it *item, k *factKind, flat bool) (err error) {
	it.facts.specified, err = l.section(it, &k.spec, flat)
	return err
}

// status reads the kept fields of a kind's status.
func (l *lexer) status(it *item, k *factKind, flat bool) (err error) {
	it.facts.stated, err = l.section(it, &k.status, flat)
	return err
}

// fact reads a string that many objects share. A second occurrence in one object is a Problem.
func (l *lexer) fact(it *item, f field, to *string, name string) error {
	if err := l.once(it, f, name); err != nil {
		return err
	}
	return l.shared(it, to, name)
}

// shared reads a string that many objects share.
func (l *lexer) shared(it *item, to *string, name string) error {
	var s span
	if err := l.string(it, &s, name); err != nil {
		return err
	}
	*to = l.rd.in.Bytes(it.bytes(s))
	return nil
}

// repeated reads a string and interns it.
func (l *lexer) repeated(to *string, name string) error {
	if *to != "" {
		return l.wrong("%s is there twice", name)
	}
	text, err := l.text(nil, name)
	*to = l.rd.in.Bytes(text)
	return err
}

// own reads a string that other objects don't share.
func (l *lexer) own(to *string, name string) error {
	if *to != "" {
		return l.wrong("%s is there twice", name)
	}
	text, err := l.text(nil, name)
	*to = string(text)
	return err
}

// wanted reads the members of a mapping that have a function, which gets the name of the value: prefix and key.
func (l *lexer) wanted(mapping, prefix string, flat bool, read map[string]func(name string) error) error {
	return l.members(mapping, flat, func() error {
		if read := read[string(l.key)]; read != nil {
			return read(prefix + "." + string(l.key))
		}
		return l.skip()
	})
}

// repeatedInto and ownInto are repeated and own for wanted.
func (l *lexer) repeatedInto(to *string) func(string) error {
	return func(name string) error { return l.repeated(to, name) }
}

func (l *lexer) ownInto(to *string) func(string) error {
	return func(name string) error { return l.own(to, name) }
}

// strings reads a list of strings; null is empty.
func (l *lexer) strings(name string) ([]string, error) {
	var list []string
	err := l.elements(name, func() error {
		if l.token() != '"' {
			return l.mistyped("an entry of "+name, "a string")
		}
		text, err := l.appendString(nil)
		if err == nil {
			err = l.charge(len(text) + entryBytes)
		}
		list = append(list, l.rd.in.Bytes(text))
		return err
	})
	return list, err
}
