package report

import (
	"errors"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Abbreviated is a document that names an object in whole once, where it is about that object,
// and elsewhere by its uid. (docs/adr/0037)
type Abbreviated interface {
	// Marshalers write the references of the document. They are for one reading of it, from
	// its beginning to its end.
	Marshalers() *json.Marshalers
}

// Marshalers write the references of the plan: those of effects to their objects and those to
// targets in whole; any other one by its uid alone, if that leads to one effect, and to the same
// reference there. What has no uid, shares one, or has no effect is named in whole wherever it is.
func (p *Plan) Marshalers() *json.Marshalers {
	w := references{effects: p.Effects, at: make(map[types.UID]int, len(p.Effects))}
	for i := range p.Effects {
		uid := p.Effects[i].Object.UID
		if _, shared := w.at[uid]; shared || uid == "" {
			w.at[uid] = nowhere
		} else {
			w.at[uid] = i
		}
	}
	return json.JoinMarshalers(json.MarshalToFunc(w.seed), json.MarshalToFunc(w.effect), json.MarshalToFunc(w.reference))
}

// nowhere is where a uid leads to that several objects have.
const nowhere = -1

// references writes those of a plan.
type references struct {
	effects []Effect
	at      map[types.UID]int
	// whole are the references to come that are written in whole.
	whole int
}

// seed has the references to its targets written in whole.
func (w *references) seed(_ *jsontext.Encoder, s *Seed) error {
	w.whole = len(s.Targets)
	return errors.ErrUnsupported
}

// effect has the reference to its object written in whole, which is its first one.
func (w *references) effect(*jsontext.Encoder, *Effect) error {
	w.whole = 1
	return errors.ErrUnsupported
}

func (w *references) reference(enc *jsontext.Encoder, r *Ref) error {
	if w.whole > 0 {
		w.whole--
		return errors.ErrUnsupported
	}
	i, ok := w.at[r.UID]
	if !ok || i == nowhere || w.effects[i].Object != *r {
		return errors.ErrUnsupported
	}
	for _, t := range [...]jsontext.Token{jsontext.BeginObject, jsontext.String("uid"), jsontext.String(string(r.UID)), jsontext.EndObject} {
		if err := enc.WriteToken(t); err != nil {
			return err
		}
	}
	return nil
}

// MarshalJSON writes the plan for printers that know nothing of its references.
func (p *Plan) MarshalJSON() ([]byte, error) {
	type fields Plan
	return json.Marshal((*fields)(p), jsonv1.DefaultOptionsV1(), json.WithMarshalers(p.Marshalers()))
}

// UnmarshalJSON reads what was written: every reference is whole again, and the account, which
// is in the effects, a list.
func (p *Plan) UnmarshalJSON(text []byte) error {
	type fields Plan
	if err := json.Unmarshal(text, (*fields)(p), jsonv1.DefaultOptionsV1()); err != nil {
		return err
	}
	whole := make(map[types.UID]Ref, len(p.Effects))
	n := 0
	for i := range p.Effects {
		e := &p.Effects[i]
		whole[e.Object.UID] = e.Object
		if e.Consequence != nil {
			n++
		}
	}
	eachRef(reflect.ValueOf(p).Elem(), func(r *Ref) {
		if *r == (Ref{UID: r.UID}) {
			if known, ok := whole[r.UID]; ok {
				*r = known
			}
		}
	})
	p.Consequences = slices.Grow([]Consequence(nil), n) // the effects point into it
	for i := range p.Effects {
		e := &p.Effects[i]
		if c := e.Consequence; c != nil {
			c.Object, c.After, c.Outcome, c.Reason = e.Object, e.Once, e.Outcome, e.Reason
			p.Consequences = append(p.Consequences, *c)
			e.Consequence = &p.Consequences[len(p.Consequences)-1]
		}
	}
	return nil
}

// eachRef goes through the references of a document.
func eachRef(v reflect.Value, do func(*Ref)) {
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
		if r, ok := reflect.TypeAssert[*Ref](v.Addr()); ok {
			do(r)
			return
		}
		for i := range v.NumField() { //nolint:modernize // Fields allocates, for each of 100,000 effects
			eachRef(v.Field(i), do)
		}
	}
}
