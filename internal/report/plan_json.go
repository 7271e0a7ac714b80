package report

import (
	"errors"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"k8s.io/apimachinery/pkg/types"
)

// Abbreviated is a document that names an object in full once, where it is about that object, and
// elsewhere by its uid. (docs/adr/0037)
type Abbreviated interface {
	// Marshalers returns the marshalers for the references of the document. They keep state: use
	// them to write it once, from beginning to end.
	Marshalers() *json.Marshalers
}

// Marshalers returns the marshalers for the references of the plan. The object of an effect and the
// targets are written in full. Any other reference is its uid alone, if exactly one effect has that
// uid and the same reference.
func (p *Plan) Marshalers() *json.Marshalers {
	w := references{effects: p.Effects, at: make(map[types.UID]int, len(p.Effects))}
	for i := range p.Effects {
		uid := p.Effects[i].Object.UID
		if _, shared := w.at[uid]; shared || uid == "" {
			i = -1
		}
		w.at[uid] = i
	}
	return json.JoinMarshalers(json.MarshalToFunc(w.seed), json.MarshalToFunc(w.effect), json.MarshalToFunc(w.reference))
}

// references writes the references of a plan.
type references struct {
	effects []Effect
	// at is the effect of each uid; -1 for a uid that several objects have.
	at map[types.UID]int
	// whole is the number of next references to write in full.
	whole int
}

// seed makes the references to the targets be written in full.
func (w *references) seed(_ *jsontext.Encoder, s *Seed) error {
	w.whole = len(s.Targets)
	return errors.ErrUnsupported
}

// effect makes its first reference, which is its object, be written in full.
func (w *references) effect(*jsontext.Encoder, *Effect) error {
	w.whole = 1
	return errors.ErrUnsupported
}

func (w *references) reference(enc *jsontext.Encoder, r *object.Ref) error {
	if w.whole > 0 {
		w.whole--
		return errors.ErrUnsupported
	}
	i, ok := w.at[r.UID]
	if !ok || i < 0 || w.effects[i].Object != *r {
		return errors.ErrUnsupported
	}
	for _, t := range [...]jsontext.Token{jsontext.BeginObject, jsontext.String("uid"), jsontext.String(string(r.UID)), jsontext.EndObject} {
		if err := enc.WriteToken(t); err != nil {
			return err
		}
	}
	return nil
}

// MarshalJSON writes the plan for printers that do not know Marshalers.
func (p *Plan) MarshalJSON() ([]byte, error) {
	type fields Plan
	return json.Marshal((*fields)(p), jsonv1.DefaultOptionsV1(), json.WithMarshalers(p.Marshalers()))
}

// UnmarshalJSON reads what MarshalJSON writes. It completes every reference.
func (p *Plan) UnmarshalJSON(text []byte) error {
	type fields Plan
	if err := json.Unmarshal(text, (*fields)(p), jsonv1.DefaultOptionsV1()); err != nil {
		return err
	}
	whole := make(map[types.UID]object.Ref, len(p.Effects))
	for i := range p.Effects {
		whole[p.Effects[i].Object.UID] = p.Effects[i].Object
	}
	eachRef(reflect.ValueOf(p).Elem(), func(r *object.Ref) {
		if *r == (object.Ref{UID: r.UID}) {
			if known, ok := whole[r.UID]; ok {
				*r = known
			}
		}
	})
	return nil
}

// eachRef calls do with each reference of a document.
func eachRef(v reflect.Value, do func(*object.Ref)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			eachRef(v.Elem(), do)
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachRef(v.Index(i), do)
		}
	case reflect.Struct:
		if r, ok := reflect.TypeAssert[*object.Ref](v.Addr()); ok {
			do(r)
			return
		}
		for i := range v.NumField() { //nolint:modernize // Fields allocates, for each of 100,000 effects
			eachRef(v.Field(i), do)
		}
	}
}
