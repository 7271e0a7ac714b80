package draw

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html/template"
	"strconv"
	"unicode"
	"unicode/utf16"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"github.com/klauspost/compress/gzip"
)

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
