package draw

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/klauspost/compress/gzip"
)

// packFrom is the minimum size of compressed data: a smaller page stays readable in an editor. With
// manyAlways objects or steps, data always exceeds it.
const (
	packFrom   = 1 << 20
	manyAlways = 16_000
)

// few reports whether the data may be smaller than packFrom.
func (p *payload) few() bool {
	return len(p.Boxes.Name) < manyAlways && (p.Plan == nil || len(p.Plan.Steps) < manyAlways)
}

// encode returns JSON for a script element: `<`, `>`, `&` and line separators are escaped. Large
// data is compressed and returned as a JSON string in base64.
func encode(p *payload) (plain, packed template.JS, err error) {
	if p.few() {
		text, err := json.Marshal(p)
		if err != nil {
			return "", "", err
		}
		if len(text) < packFrom {
			return template.JS(inked(text)), "", nil
		}
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := writeJSON(z, pack(p)); err != nil {
		return "", "", err
	}
	if err := z.Close(); err != nil {
		return "", "", err
	}
	return "", template.JS(`"` + base64.StdEncoding.EncodeToString(b.Bytes()) + `"`), nil
}

// inked escapes characters in JSON that an editor would not show, or that reverse the direction of
// a line.
func inked(text []byte) []byte {
	var b bytes.Buffer
	b.Grow(len(text))
	for _, r := range string(text) {
		switch {
		case r < unicode.MaxASCII || unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}

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

// sparse are values of only some objects, with their numbers in ascending order. Its JSON is an
// object with sorted keys, as encoding/json writes a map.
type sparse[T any] []sparseValue[T]

type sparseValue[T any] struct {
	number int
	value  T
}

func (l *sparse[T]) add(number int, value T) {
	*l = append(*l, sparseValue[T]{number, value})
}

// MarshalJSON encodes the values for small pages.
func (l sparse[T]) MarshalJSON() ([]byte, error) {
	byNumber := make(map[string]T, len(l))
	for i := range l {
		byNumber[strconv.Itoa(l[i].number)] = l[i].value
	}
	return json.Marshal(byNumber)
}

// writeJSON writes the same JSON without a map.
func (l sparse[T]) writeJSON(w *jsonWriter) {
	w.text = append(w.text, '{')
	if len(l) > 0 {
		at := make([]int32, l[len(l)-1].number+1)
		for i := range l {
			at[l[i].number] = int32(i + 1)
		}
		more := false
		for number := range byDigits(len(at)) {
			if at[number] == 0 {
				continue
			}
			if more {
				w.text = append(w.text, ',')
			}
			more = true
			w.text = append(w.text, '"')
			w.text = strconv.AppendInt(w.text, int64(number), 10)
			w.text = append(w.text, '"', ':')
			w.value(reflect.ValueOf(&l[at[number]-1].value).Elem())
		}
	}
	w.text = append(w.text, '}')
}

// byDigits returns the numbers below end in the order of their decimal digits: 0, 1, 10, 100, …
func byDigits(end int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		var from func(int) bool
		from = func(n int) bool {
			if n >= end {
				return true
			}
			if !yield(n) {
				return false
			}
			for digit := range 10 {
				if n > 0 && !from(10*n+digit) {
					return false
				}
			}
			return true
		}
		for first := range 10 {
			if !from(first) {
				return
			}
		}
	}
}
