package snapshot

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// plainWriter writes objects exactly like the JSON encoder, if their strings need no escapes. It
// encodes repeated parts once: the owners that siblings share, and the rest of the line, which most
// objects share. The JSON encoder writes all other objects.
type plainWriter struct {
	types map[typeName]int
	// name is the type of the previous object, start the beginning of its lines.
	name  typeName
	start []byte
	// owners and labels are those of the previous object, with their text.
	owners            []object.OwnerReference
	labels            object.Labels
	ownersText, lText []byte
	// ends are the ends of lines by Lifecycle, nil for objects without one.
	ends map[*object.Lifecycle][]byte

	stored  storedObject
	scratch bytes.Buffer
	encoder *jsontext.Encoder
}

func newPlainWriter(types map[typeName]int) *plainWriter {
	p := &plainWriter{types: types, ends: map[*object.Lifecycle][]byte{nil: []byte("}\n")}}
	p.encoder = jsontext.NewEncoder(&p.scratch, json.Deterministic(true))
	return p
}

// encode returns the line of a value. It is valid until the next call.
func (p *plainWriter) encode(v any) ([]byte, error) {
	p.scratch.Reset()
	if err := json.MarshalEncode(p.encoder, v); err != nil {
		return nil, err
	}
	return p.scratch.Bytes(), nil
}

// append appends the line of an object.
func (p *plainWriter) append(line []byte, o *object.Object) ([]byte, error) {
	end, err := p.end(o.Lifecycle)
	if err != nil {
		return nil, err
	}
	if longer, ok := p.plain(line, o); ok {
		return append(longer, end...), nil
	}
	p.stored.take(o, p.types[typeName{o.APIVersion, o.Kind}])
	whole, err := p.encode(&p.stored)
	return append(line, whole...), err
}

// end returns the end of an object's line.
func (p *plainWriter) end(life *object.Lifecycle) ([]byte, error) {
	if end, ok := p.ends[life]; ok {
		return end, nil
	}
	p.stored.take(&object.Object{Lifecycle: life}, 0)
	whole, err := p.encode(&p.stored)
	if err != nil {
		return nil, err
	}
	end := bytes.Clone(whole[len(`{"t":0`):])
	if len(p.ends) >= mostLifecycles {
		clear(p.ends)
	}
	p.ends[life] = end
	return end, nil
}

// plain appends the line of an object up to its end. It returns false, and an unusable line, if a
// string needs escapes.
func (p *plainWriter) plain(line []byte, o *object.Object) ([]byte, bool) {
	if name := (typeName{o.APIVersion, o.Kind}); name != p.name || p.start == nil {
		p.name = name
		p.start = strconv.AppendInt([]byte(`{"t":`), int64(p.types[name]), 10)
	}
	line = append(line, p.start...)
	ok := appendPlain(&line, `,"s":"`, o.Namespace) && appendPlain(&line, `,"n":"`, o.Name) &&
		appendPlain(&line, `,"u":"`, string(o.UID)) && appendPlain(&line, `,"v":"`, o.ResourceVersion) &&
		p.appendOwners(&line, o.Owners) && p.appendLabels(&line, o.Labels)
	if !ok {
		return line, false
	}
	if o.Created != 0 {
		line = strconv.AppendInt(append(line, `,"c":`...), o.Created, 10)
	}
	if o.Generation != 0 {
		line = strconv.AppendInt(append(line, `,"g":`...), o.Generation, 10)
	}
	return line, true
}

// appendPlain appends a member, or nothing for an empty string.
func appendPlain(line *[]byte, key, s string) bool {
	return s == "" || appendText(line, key, s)
}

// appendText appends a member. key includes the opening quote of the string.
func appendText(line *[]byte, key, s string) bool {
	to := append(*line, key...)
	from := len(to)
	to = append(to, s...)
	plain := manifest.PlainRun(to[from:]) == len(s)
	to = append(to, '"')
	*line = to
	return plain
}

func (p *plainWriter) appendOwners(line *[]byte, owners []object.OwnerReference) bool {
	if len(owners) == 0 {
		return true
	}
	if object.SameOwners(p.owners, owners) {
		*line = append(*line, p.ownersText...)
		return true
	}
	from := len(*line)
	before := `,"o":[`
	for i := range owners {
		if !appendOwner(line, before, &owners[i]) {
			return false
		}
		before = `,`
	}
	*line = append(*line, ']')
	p.owners, p.ownersText = owners, append(p.ownersText[:0], (*line)[from:]...)
	return true
}

func appendOwner(line *[]byte, before string, o *object.OwnerReference) bool {
	*line = append(*line, before...)
	if !appendText(line, `{"a":"`, o.APIVersion) || !appendText(line, `,"k":"`, o.Kind) ||
		!appendText(line, `,"n":"`, o.Name) || !appendText(line, `,"u":"`, string(o.UID)) {
		return false
	}
	if o.Controller != 0 {
		*line = strconv.AppendUint(append(*line, `,"c":`...), uint64(o.Controller), 10)
	}
	if o.BlockOwnerDeletion != 0 {
		*line = strconv.AppendUint(append(*line, `,"b":`...), uint64(o.BlockOwnerDeletion), 10)
	}
	*line = append(*line, '}')
	return true
}

// appendLabels appends labels with the NUL after each key and value escaped.
func (p *plainWriter) appendLabels(line *[]byte, labels object.Labels) bool {
	if labels == "" {
		return true
	}
	if labels == p.labels {
		*line = append(*line, p.lText...)
		return true
	}
	from := len(*line)
	to := append(*line, `,"l":"`...)
	rest := []byte(labels)
	for len(rest) > 0 {
		n := manifest.PlainRun(rest)
		to = append(to, rest[:n]...)
		if rest = rest[n:]; len(rest) == 0 {
			break
		}
		if rest[0] != 0 {
			*line = to
			return false
		}
		to, rest = append(to, `\u0000`...), rest[1:]
	}
	to = append(to, '"')
	*line = to
	p.labels, p.lText = labels, append(p.lText[:0], to[from:]...)
	return true
}
