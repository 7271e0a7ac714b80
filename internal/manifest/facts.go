package manifest

import (
	"maps"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// factKind is what is kept of the spec, of the status and of the fields beside them of a kind:
// what the reader of JSON reads, and what goes on to it of YAML, follow from the fields. What
// its annotations say is read with the metadata.
type factKind struct {
	kind   object.Kind
	fields []factField
	// facts are those that were read; nil where what was not shown leaves them open. It is
	// nil for kinds that only tell something of their cluster.
	facts func(f *facts, o *object.Object) object.Facts
	// alike is what two objects have in common that may share their facts, until the next
	// call; nil where each has its own.
	alike func(f *facts) []byte

	// beside has the fields that are neither in spec nor in status.
	spec, status, beside section
}

// factField is one field.
type factField struct {
	// path is spec.nodeName, or secrets for a field outside of spec and status. Kinds that share a path
	// share the field.
	path string
	// flat is how the name of its Go field begins in lower case, where that is another one.
	flat string
	keep *keep
	read func(l *lexer, it *item, path string, flat bool) error
}

// factKinds are the kinds of whose spec and status something is kept.
var factKinds = prepared(podFacts, namespaceFacts, crdFacts, jobFacts, pvFacts, resourceClaimFacts,
	serviceCIDRFacts, ipAddressFacts, statefulSetFacts, accountFacts, roleFacts, leaseMoment, nodeFacts)

// sharedText is a string that many objects have in common.
func sharedText(path string, at func(*facts) *string) factField {
	return factField{path: path, keep: keepValue, read: func(l *lexer, it *item, path string, _ bool) error {
		return l.shared(it, at(&it.facts), path)
	}}
}

// texts is a list of strings.
func texts(path string, at func(*facts) *[]string) factField {
	return factField{path: path, keep: keepStrings, read: func(l *lexer, it *item, path string, _ bool) (err error) {
		*at(&it.facts), err = l.strings(path)
		return err
	}}
}

// section is a spec, a status, or the fields beside them, which has no name.
type section struct {
	name   string
	fields []sectionField
	keep   *keep
}

type sectionField struct {
	factField
	name string
	bit  uint32
}

// prepared divides the fields of kinds into sections.
func prepared(kinds ...*factKind) map[string]*factKind {
	byName := map[string]*factKind{}
	for _, k := range kinds {
		k.spec, k.status, k.beside = newSection("spec", k.fields), newSection("status", k.fields), newSection("", k.fields)
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

// keepSection is what is kept of a section for any of the kinds.
func keepSection(of func(*factKind) *section) *keep {
	all := keepFields(nil)
	for _, k := range factKinds {
		maps.Copy(all.fields, of(k).keep.fields)
	}
	return all
}

// factsOf is what is kept of a kind; nil for nothing.
func factsOf(apiVersion, kind string) *factKind {
	if k := factKinds[kind]; k != nil && object.GroupOf(apiVersion) == k.kind.Group {
		return k
	}
	return nil
}

// HasFacts reports whether something of the spec or status of a kind is kept: its
// metadata alone would not do.
func HasFacts(apiVersion, kind string) bool {
	k := factsOf(apiVersion, kind)
	return k != nil && k.facts != nil
}

// field is the field of that name; nil for one of which nothing is kept.
func (s *section) field(key []byte) *sectionField {
	for i := range s.fields {
		if f := &s.fields[i]; f.name == string(key) || f.flat == string(key) && f.flat != "" {
			return f
		}
	}
	return nil
}

// section reads what is kept of a spec or status. It returns whether there is one.
func (l *lexer) section(it *item, s *section, flat bool) (there bool, err error) {
	in, err := l.object(s.name)
	there = in
	for first := true; in && err == nil; first = false {
		if in, err = l.member(first); !in || err != nil {
			break
		}
		if flat {
			lowerFirst(l.key)
		}
		err = l.fieldOf(it, s, flat)
	}
	return there, err
}

// fieldOf reads the value of the key that was read, if it is kept.
func (l *lexer) fieldOf(it *item, s *section, flat bool) error {
	f := s.field(l.key)
	if f == nil {
		return l.skip()
	}
	if it.factsSeen&f.bit != 0 {
		return l.wrong("%s is there twice", f.path)
	}
	it.factsSeen |= f.bit
	return f.read(l, it, f.path, flat)
}

// beside reads what was kept of the fields beside spec and status of a kind.
func (l *lexer) beside(it *item, k *factKind) error {
	_, err := l.section(it, &k.beside, false)
	return err
}

// spec reads what is kept of the spec of a kind.
func (l *lexer) spec(it *item, k *factKind, flat bool) (err error) {
	it.facts.specified, err = l.section(it, &k.spec, flat)
	return err
}

// status reads what is kept of the status of a kind.
func (l *lexer) status(it *item, k *factKind, flat bool) (err error) {
	it.facts.stated, err = l.section(it, &k.status, flat)
	return err
}
