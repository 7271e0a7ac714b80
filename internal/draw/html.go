package draw

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"github.com/klauspost/compress/gzip"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

var (
	//go:embed web/dist/app.js
	script string
	//go:embed web/dist/app.css
	style string
	//go:embed page.html
	frame string
)

var pageTemplate = template.Must(template.New("page").Parse(frame))

// Document is the content of a page.
type Document struct {
	// Scene places each object in a box of its own.
	Scene *Scene
	// Graph adds finalizers, and the state of objects before a plan. It may be nil.
	Graph *report.Graph
	// Plan adds its steps and effects; nil for a graph.
	Plan *report.Plan
	// Explanation adds more about one object, and its remedies; nil for a graph and a plan.
	Explanation *report.Explanation
	// Still is the drawing as SVG, for readers without scripts; empty for none.
	Still []byte
}

// LargestStill is the maximum number of boxes of a drawing for readers without scripts.
const LargestStill = 500

// WriteHTML writes a page.
func WriteHTML(w io.Writer, d Document) error {
	data, err := payloadOf(d)
	if err != nil {
		return err
	}
	plain, packed, err := encode(data)
	if err != nil {
		return err
	}
	counts := object.Mapped(d.Scene.Legend, func(e Entry) string { return fmt.Sprintf("%s: %d", e.Look, e.Count) })
	values := struct {
		Policy, Title, Source, Counts string
		Style                         template.CSS
		Script, Data, Packed          template.JS
		Still                         template.URL
	}{
		// Only the embedded script and style are allowed.
		Policy: fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; img-src data:; base-uri 'none'; form-action 'none'", hash(script), hash(style)),
		Title:  render.Escape(d.Scene.Title), Source: render.Escape(data.Source), Counts: strings.Join(counts, ", "),
		Style: template.CSS(style), Script: template.JS(script), Data: plain, Packed: packed,
	}
	if len(d.Scene.Boxes) <= LargestStill && len(d.Still) > 0 {
		values.Still = template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(d.Still))
	}
	return pageTemplate.Execute(w, values)
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// minPacked is the minimum size of compressed data: a smaller page stays readable in an editor.
const minPacked = 1 << 20

// encode returns JSON for a script element: `<`, `>`, `&` and line separators are escaped. Large
// data is compressed and returned as a JSON string in base64.
func encode(p *payload) (plain, packed template.JS, err error) {
	text, err := json.Marshal(p, jsonv1.DefaultOptionsV1())
	if err != nil {
		return "", "", err
	}
	if len(text) < minPacked {
		return template.JS(escapeInvisible(text)), "", nil
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := json.MarshalWrite(z, pack(p), jsonv1.DefaultOptionsV1()); err != nil {
		return "", "", err
	}
	if err := z.Close(); err != nil {
		return "", "", err
	}
	return "", template.JS(`"` + base64.StdEncoding.EncodeToString(b.Bytes()) + `"`), nil
}

// escapeInvisible escapes characters in JSON that an editor would not show, or that reverse the
// direction of a line.
func escapeInvisible(text []byte) []byte {
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

// sparse are values of only some objects, with their numbers in ascending order. Its JSON is an
// object with the numbers as keys.
type sparse[T any] []sparseValue[T]

type sparseValue[T any] struct {
	number int
	value  T
}

func (l *sparse[T]) add(number int, value T) {
	*l = append(*l, sparseValue[T]{number, value})
}

// MarshalJSONTo writes an object in the order of the numbers.
func (l sparse[T]) MarshalJSONTo(enc *jsontext.Encoder) error {
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for i := range l {
		if err := enc.WriteToken(jsontext.String(strconv.Itoa(l[i].number))); err != nil {
			return err
		}
		if err := json.MarshalEncode(enc, &l[i].value); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndObject)
}
