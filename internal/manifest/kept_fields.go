package manifest

import (
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// keep selects the parts of a YAML document that are passed to the JSON reader.
type keep struct {
	// fields are the kept keys of a mapping; any applies to every other key.
	fields map[string]*keep
	any    *keep
	// each applies to the entries of a list.
	each *keep
	// loose drops keys that are no strings. Otherwise they are a Problem.
	loose bool
	// outside keeps the annotations that decide about outside resources.
	outside bool
}

// below returns the keep for a key; nil if it is dropped.
func (k *keep) below(key []byte) *keep {
	if b, ok := k.fields[string(key)]; ok {
		return b
	}
	if k.outside && isOutsideAnnotation(key) {
		return keepValue
	}
	return k.any
}

var (
	keepValue   = &keep{}
	keepStrings = &keep{each: keepValue}
)

func keepFields(fields map[string]*keep, names ...string) *keep {
	if fields == nil {
		fields = map[string]*keep{}
	}
	for _, name := range names {
		fields[name] = keepValue
	}
	return &keep{fields: fields}
}

// keepMetadata is what is kept of metadata.
var keepMetadata = keepFields(map[string]*keep{
	"labels":     {any: keepValue},
	"finalizers": keepStrings,
	"annotations": withOutside(keepFields(nil, slices.Concat(object.FinalizerAnnotations(), []string{mirrorAnnotation, object.ProtectAnnotation, object.ResourcePolicyAnnotation,
		object.SyncOptionsAnnotation, object.FluxPruneKey, object.FluxReconcileKey, object.FluxApplyKey,
		object.TrackerAnnotation, object.ApprovalAnnotation, object.RevisionAnnotation, object.WaveAnnotation, object.WeightAnnotation, object.ProvisionerAnnotation, object.MigratedToAnnotation,
		object.AccountNameAnnotation, object.AccountUIDAnnotation})...)),
	"ownerReferences": {each: keepFields(nil,
		"apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion")},
}, "name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp",
	"deletionTimestamp", "deletionGracePeriodSeconds", "continue")

func withOutside(k *keep) *keep {
	k.outside = true
	return k
}

// keepEntries keeps the entries of a list as empty mappings: only their existence matters.
var keepEntries = &keep{each: keepFields(nil)}

// keepSpec, keepStatus and keepBeside are what is kept for any kind in factKinds.
var (
	keepSpec   = keepSection(func(k *factKind) *section { return &k.spec })
	keepStatus = keepSection(func(k *factKind) *section { return &k.status })
	keepBeside = keepSection(func(k *factKind) *section { return &k.beside })
)

// keepObject is what is kept of an object or list.
var keepObject = func() *keep {
	k := keepFields(maps.Clone(keepBeside.fields), "apiVersion", "kind", "type", "lastTimestamp", "eventTime")
	k.fields["metadata"], k.fields["spec"], k.fields["status"] = keepMetadata, keepSpec, keepStatus
	k.fields["items"] = &keep{each: k}
	return k
}()

// keepItems is what is kept of the items of a list.
var keepItems = keepObject.fields["items"]

// Fields are the requested parts of the text of an object. They are immutable and may be shared.
type Fields struct{ keep *keep }

// Everything requests the whole object.
var Everything = &Fields{everything}

// FieldsOf returns the fields that decoding into values of these types reads, by their JSON tags:
// decoding the partial text gives the same result as the whole one.
func FieldsOf(values ...any) *Fields {
	k := &keep{loose: true}
	for _, v := range values {
		k = k.and(keepOf(reflect.TypeOf(v)))
	}
	return &Fields{k}
}

var keysOf = regexp.MustCompile(`\['([^']+)'\]|([^.\[]+(?:\[\])?)`)

// KeysOf returns the keys of a path. One with dots is in brackets: metadata.annotations['example.com/secret']
func KeysOf(path string) (keys []string) {
	return object.Mapped(keysOf.FindAllStringSubmatch(path, -1), func(m []string) string { return m[1] + m[2] })
}

// FieldsAt returns the fields at these paths. In a path, [] after a key stands for each entry of a list,
// and a * at the end for everything below: spec.tls[].secretName, spec.selector.*
func FieldsAt(paths ...string) *Fields {
	all := &keep{loose: true}
	for _, path := range paths {
		k := keepValue
		keys := KeysOf(path)
		for i := len(keys) - 1; i >= 0; i-- {
			key, each := strings.CutSuffix(keys[i], "[]")
			if key == "*" {
				k = everything
				continue
			}
			if each {
				k = &keep{loose: true, each: k}
			}
			k = &keep{loose: true, fields: map[string]*keep{key: k}}
		}
		all = all.and(k)
	}
	return &Fields{all}
}

// And returns the union of both.
func (f *Fields) And(g *Fields) *Fields { return &Fields{f.keep.and(g.keep)} }

var decodesItself = reflect.TypeFor[json.Unmarshaler]()

// keepOf returns what decoding into a type reads.
func keepOf(t reflect.Type) *keep {
	if t.Implements(decodesItself) || reflect.PointerTo(t).Implements(decodesItself) {
		return everything
	}
	switch t.Kind() {
	case reflect.Pointer:
		return keepOf(t.Elem())
	case reflect.Slice, reflect.Array:
		return &keep{loose: true, each: keepOf(t.Elem())}
	case reflect.Map:
		return &keep{loose: true, any: keepOf(t.Elem())}
	case reflect.Interface:
		return everything
	case reflect.Struct:
		return keepOfStruct(t)
	default:
		return keepValue
	}
}

func keepOfStruct(t reflect.Type) *keep {
	k := &keep{loose: true, fields: map[string]*keep{}}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "" && f.Anonymous:
			k = k.and(keepOf(f.Type))
		case name == "":
			k.fields[f.Name] = keepOf(f.Type)
		case name != "-":
			k.fields[name] = keepOf(f.Type)
		}
	}
	return k
}

// and returns the union of both.
func (k *keep) and(other *keep) *keep {
	switch {
	case k == nil || other == everything:
		return other
	case other == nil || k == everything:
		return k
	}
	both := &keep{loose: k.loose || other.loose, outside: k.outside || other.outside, any: k.any.and(other.any), each: k.each.and(other.each)}
	for _, from := range []*keep{k, other} {
		for key, below := range from.fields {
			if both.fields == nil {
				both.fields = map[string]*keep{}
			}
			both.fields[key] = both.fields[key].and(below)
		}
	}
	return both
}

// keptText is the kept part of a spec or status, or of the other fields, while the kind is unknown:
// the JSON of the fields that any kind needs, and their lines.
type keptText struct {
	json  []byte
	marks []lineMark
}

func (k *keptText) empty() bool { return len(k.json) == 0 }

// again returns an empty text with the same buffers.
func (k *keptText) again() keptText { return keptText{k.json[:0], k.marks[:0]} }

// copied returns a copy that doesn't share buffers.
func (k *keptText) copied() keptText {
	if k.empty() {
		return keptText{}
	}
	return keptText{append([]byte(nil), k.json...), append([]lineMark(nil), k.marks...)}
}

func (k *keptText) mark(l *lexer) {
	k.marks = append(k.marks, lineMark{len(k.json), l.here()})
}

// member appends the current key and the kept part of its value to an unclosed object.
func (k *keptText) member(l *lexer, keeps *keep) error {
	if k.empty() {
		k.mark(l)
	}
	sep := byte(',')
	if k.empty() {
		sep = '{'
	}
	k.json = append(appendJSON(append(k.json, sep), l.key), ':')
	return k.value(l, keeps, false)
}

// value appends the kept part of the value at the current position.
func (k *keptText) value(l *lexer, keeps *keep, flat bool) error {
	c := l.token()
	if !l.free {
		k.mark(l)
	}
	if err := l.charge(2 * entryBytes); err != nil {
		return err
	}
	switch c {
	case '{':
		return k.mapping(l, keeps, flat)
	case '[':
		return k.list(l, keeps, flat)
	case '"':
		return k.text(l)
	}
	text, err := l.scalar()
	k.json = append(k.json, text...)
	return err
}

func (k *keptText) mapping(l *lexer, keeps *keep, flat bool) error {
	if keeps.fields == nil && keeps.any == nil {
		k.json = append(k.json, "{}"...)
		return l.skip()
	}
	k.json = append(k.json, '{')
	some := false
	err := l.members("", flat, func() error {
		below := keeps.below(l.key)
		if below == nil {
			return l.skip()
		}
		if some {
			k.json = append(k.json, ',')
		}
		some = true
		k.json = append(appendJSON(k.json, l.key), ':')
		return k.value(l, below, flat)
	})
	k.json = append(k.json, '}')
	return err
}

func (k *keptText) list(l *lexer, keeps *keep, flat bool) error {
	if keeps.each == nil {
		k.json = append(k.json, "[]"...)
		return l.skip()
	}
	k.json = append(k.json, '[')
	some := false
	err := l.elements("", func() error {
		if some {
			k.json = append(k.json, ',')
		}
		some = true
		return k.value(l, keeps.each, flat)
	})
	k.json = append(k.json, ']')
	return err
}

// text appends a string as it is written, unchecked: the later reader checks it.
func (k *keptText) text(l *lexer) error {
	marked := l.mark >= 0 // the surrounding object is being held, too
	if !marked {
		l.mark = l.pos
	}
	from := l.pos - l.mark
	err := l.skipString()
	text := l.buf[l.mark+from : l.pos]
	if !marked {
		l.mark = -1
	}
	if err == nil {
		err = l.charge(len(text))
	}
	if err == nil {
		k.json = append(k.json, text...)
	}
	return err
}
