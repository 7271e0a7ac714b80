package render

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// indent is that of kubectl.
const indent = "    "

// printJSON prints a document as kubectl does, except that our lists of objects have one entry a
// line, for there may be a million. It streams the output: kubectl's printer makes two copies in
// memory.
//
// Upstream: cli-runtime/pkg/printers/json.go JSONPrinter.PrintObj.
func printJSON(doc runtime.Object, out io.Writer) error {
	w, err := newJSONWriter(doc, out)
	if err != nil {
		return err
	}
	ours := report.Scheme.Recognizes(doc.GetObjectKind().GroupVersionKind())
	before := "{\n"
	for _, f := range w.fields {
		w.text(before, indent, f.key, ": ")
		before = ",\n"
		if ours && f.list && f.value.Len() > 0 {
			w.list(f.value)
		} else {
			w.value(f.value, jsontext.WithIndentPrefix(indent), jsontext.WithIndent(indent))
		}
	}
	w.text("\n}\n")
	return w.done()
}

// printLines prints a document as JSON Lines: first the document with the lengths of its lists
// instead of the lists, then their entries. Each entry names its list.
func printLines(doc runtime.Object, out io.Writer) error {
	w, err := newJSONWriter(doc, out)
	if err != nil {
		return err
	}
	w.text("{")
	for _, f := range w.fields {
		if !f.list {
			w.text(f.key, ":")
			w.value(f.value)
			w.text(",")
		}
	}
	w.text(`"lists":{`)
	before := ""
	for _, f := range w.fields {
		if f.list {
			w.text(before, f.key, ":", strconv.Itoa(f.value.Len()))
			before = ","
		}
	}
	w.text("}}\n")
	for _, f := range w.fields {
		for i := 0; f.list && i < f.value.Len(); i++ {
			entry := w.compact(f.value.Index(i))
			w.text(`{"list":`, f.key)
			if len(entry) > len("{}") {
				w.text(",")
			}
			w.bytes(bytes.TrimPrefix(entry, []byte("{")))
			w.text("\n")
		}
	}
	return w.done()
}

// jsonWriter writes a document in pieces. done returns the first error.
type jsonWriter struct {
	out     *bufio.Writer
	fields  []jsonField
	options json.Options
	// entry encodes list entries to scratch.
	entry   *jsontext.Encoder
	scratch bytes.Buffer
	err     error
}

func newJSONWriter(doc runtime.Object, out io.Writer) (*jsonWriter, error) {
	if doc.GetObjectKind().GroupVersionKind().Empty() {
		return nil, fmt.Errorf("a document of type %T has no kind", doc)
	}
	w := &jsonWriter{out: bufio.NewWriterSize(out, 64<<10), fields: jsonFields(reflect.ValueOf(doc).Elem()), options: jsonv1.DefaultOptionsV1()}
	if a, ok := doc.(report.Abbreviated); ok {
		w.options = json.JoinOptions(w.options, json.WithMarshalers(a.Marshalers()))
	}
	w.entry = jsontext.NewEncoder(&w.scratch, w.options)
	return w, nil
}

func (w *jsonWriter) text(parts ...string) {
	for _, p := range parts {
		w.out.WriteString(p)
	}
}

func (w *jsonWriter) bytes(b []byte) {
	if w.err == nil {
		_, w.err = w.out.Write(b)
	}
}

// value writes a field.
func (w *jsonWriter) value(v reflect.Value, options ...json.Options) {
	if w.err == nil {
		w.err = json.MarshalWrite(w.out, v.Addr().Interface(), append(options, w.options)...)
	}
}

// list writes the entries of a list, one a line.
func (w *jsonWriter) list(v reflect.Value) {
	before := "[\n"
	for i := range v.Len() {
		w.text(before, indent, indent)
		w.bytes(w.compact(v.Index(i)))
		before = ",\n"
	}
	w.text("\n", indent, "]")
}

// compact returns a value without white space. The result is valid until the next call.
func (w *jsonWriter) compact(v reflect.Value) []byte {
	w.scratch.Reset()
	if w.err == nil {
		w.err = json.MarshalEncode(w.entry, v.Addr().Interface(), w.options)
	}
	return bytes.TrimSuffix(w.scratch.Bytes(), []byte("\n"))
}

func (w *jsonWriter) done() error {
	if w.err != nil {
		return w.err
	}
	return w.out.Flush()
}

// jsonField is a field of a document.
type jsonField struct {
	// key is the quoted name.
	key   string
	value reflect.Value
	// list reports whether it is a list of objects, which makes a document long.
	list bool
}

// jsonFields returns the fields in the JSON of a document.
func jsonFields(document reflect.Value) []jsonField {
	var fields []jsonField
	for i := range document.NumField() {
		field := document.Type().Field(i)
		name, option, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous && name == "" {
			fields = append(fields, jsonFields(document.Field(i))...)
			continue
		}
		f := jsonField{key: strconv.Quote(name), value: document.Field(i)}
		f.list = field.Type.Kind() == reflect.Slice && field.Type.Elem().Kind() == reflect.Struct
		omitted := option == "omitzero" && f.value.IsZero() || option == "omitempty" && isOmitted(f.value)
		if name != "-" && !omitted {
			fields = append(fields, f)
		}
	}
	return fields
}

// isOmitted reports whether encoding/json omits a field with omitempty.
func isOmitted(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	case reflect.Struct:
		return false
	default:
		return v.IsZero()
	}
}
