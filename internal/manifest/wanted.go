package manifest

import (
	"encoding/json"
	"reflect"
	"strings"
)

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
	both := &keep{loose: k.loose || other.loose, any: k.any.and(other.any), each: k.each.and(other.each)}
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
