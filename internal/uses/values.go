package uses

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// fieldTree is a field that a path leads through or to.
type fieldTree struct {
	below   map[string]*fieldTree
	entries *fieldTree
	// rules are the indexes of the rules with this field, conditions of those with it in
	// While, With or In.
	rules, conditions []int
}

// fieldTrees has the fields of each kind with rules.
var fieldTrees = map[schema.GroupKind]*fieldTree{}

// at returns the field at a path, and adds it if it is new.
func (f *fieldTree) at(path []step) *fieldTree {
	for _, s := range path {
		if f.below == nil {
			f.below = map[string]*fieldTree{}
		}
		if f.below[s.key] == nil {
			f.below[s.key] = &fieldTree{}
		}
		if f = f.below[s.key]; s.each {
			if f.entries == nil {
				f.entries = &fieldTree{}
			}
			f = f.entries
		}
	}
	return f
}

// fieldValue is a value at the field of a rule, or of its condition.
type fieldValue struct {
	rule      int
	condition bool
	value     any
}

// valuesAt returns the values at the fields of a tree, in the order of the rules. It returns false for
// invalid JSON.
func valuesAt(f *fieldTree, raw []byte) ([]fieldValue, bool) {
	w := walk{dec: decoders.Get().(*jsontext.Decoder)}
	w.dec.Reset(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	defer decoders.Put(w.dec)
	if w.value(f) != nil {
		return nil, false
	}
	slices.SortStableFunc(w.values, func(a, b fieldValue) int { return cmp.Compare(a.rule, b.rule) })
	return w.values, true
}

// decoders keeps decoders for the next object.
var decoders = sync.Pool{New: func() any { return new(jsontext.Decoder) }}

// walk reads the values of one object.
type walk struct {
	dec    *jsontext.Decoder
	values []fieldValue
}

// value reads a value at a field.
func (w *walk) value(f *fieldTree) error {
	if f == nil {
		return w.dec.SkipValue()
	}
	if len(f.rules)+len(f.conditions) > 0 {
		return w.take(f)
	}
	switch kind := w.dec.PeekKind(); {
	case kind == '{' && f.below != nil:
		return w.each('}', func() error {
			key, err := w.dec.ReadValue()
			if err != nil {
				return err
			}
			return w.value(f.below[string(key[1:len(key)-1])])
		})
	case kind == '[' && f.entries != nil:
		return w.each(']', func() error { return w.value(f.entries) })
	default:
		return w.dec.SkipValue()
	}
}

// each reads what is between the delimiters of a mapping or list.
func (w *walk) each(end jsontext.Kind, read func() error) error {
	if _, err := w.dec.ReadToken(); err != nil {
		return err
	}
	for w.dec.PeekKind() != end {
		if err := read(); err != nil {
			return err
		}
	}
	_, err := w.dec.ReadToken()
	return err
}

// take keeps a value.
func (w *walk) take(f *fieldTree) error {
	v, err := w.whole()
	if err != nil {
		return err
	}
	for _, rule := range f.rules {
		w.values = append(w.values, fieldValue{rule, false, v})
	}
	for _, rule := range f.conditions {
		w.values = append(w.values, fieldValue{rule, true, v})
	}
	return nil
}

// whole reads a value: a text, a mapping, a truth value, or anything else as json.Unmarshal does.
func (w *walk) whole() (v any, err error) {
	switch w.dec.PeekKind() {
	case '"', 't', 'f':
		token, err := w.dec.ReadToken()
		if err != nil {
			return nil, err
		}
		if token.Kind() == '"' {
			return token.String(), nil
		}
		return token.Bool(), nil
	case '{':
		m := map[string]any{}
		return m, w.each('}', func() error {
			key, err := w.dec.ReadToken()
			if err != nil {
				return err
			}
			name := key.String()
			m[name], err = w.whole()
			return err
		})
	default:
		raw, err := w.dec.ReadValue()
		if err != nil {
			return nil, err
		}
		err = json.Unmarshal(raw, &v)
		return v, err
	}
}
