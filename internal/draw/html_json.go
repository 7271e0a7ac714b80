package draw

import (
	"encoding/json"
	"io"
	"reflect"
	"strconv"
	"strings"
)

// flushFrom is the number of bytes after which the buffer is flushed.
const flushFrom = 64 << 10

// writeJSON streams a payload in the format of encoding/json. A large page has millions of numbers,
// and would be in memory three times before it is compressed.
func writeJSON(out io.Writer, p *packed) error {
	w := jsonWriter{out: out}
	w.value(reflect.ValueOf(p).Elem())
	w.flush()
	return w.err
}

// jsonWriter encodes structs and lists of numbers. It stops writing after an error.
type jsonWriter struct {
	out  io.Writer
	text []byte
	err  error
}

// piece is a value that encodes itself.
type piece interface{ writeJSON(w *jsonWriter) }

func (w *jsonWriter) value(v reflect.Value) {
	switch x := v.Addr().Interface().(type) {
	case piece:
		x.writeJSON(w)
		return
	case *[]int:
		w.numbers(*x)
		return
	}
	switch {
	case v.Kind() == reflect.Pointer && !v.IsNil():
		w.value(v.Elem())
	case v.Kind() == reflect.Struct:
		w.text = append(w.text, '{')
		w.fields(v, false)
		w.text = append(w.text, '}')
	default:
		w.other(v)
	}
}

// fields writes the fields of a struct and of its embedded structs.
func (w *jsonWriter) fields(v reflect.Value, more bool) bool {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			more = w.fields(reflect.Indirect(v.Field(i)), more)
		case options == "omitempty" && empty(v.Field(i)):
		default:
			if more {
				w.text = append(w.text, ',')
			}
			more = true
			w.text = append(w.text, '"')
			w.text = append(w.text, name...)
			w.text = append(w.text, '"', ':')
			w.value(v.Field(i))
		}
	}
	return more
}

func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	default:
		return v.IsZero()
	}
}

func (w *jsonWriter) numbers(list []int) {
	if list == nil {
		w.text = append(w.text, "null"...)
		return
	}
	w.text = append(w.text, '[')
	for i, n := range list {
		if i > 0 {
			w.text = append(w.text, ',')
		}
		w.text = strconv.AppendInt(w.text, int64(n), 10)
		if len(w.text) >= flushFrom {
			w.flush()
		}
	}
	w.text = append(w.text, ']')
}

// other encodes a value with encoding/json.
func (w *jsonWriter) other(v reflect.Value) {
	text, err := json.Marshal(v.Interface())
	if w.err == nil {
		w.err = err
	}
	w.text = append(w.text, text...)
	if len(w.text) >= flushFrom {
		w.flush()
	}
}

func (w *jsonWriter) flush() {
	if w.err == nil {
		_, w.err = w.out.Write(w.text)
	}
	w.text = w.text[:0]
}
