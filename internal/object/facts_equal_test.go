package object

import (
	"reflect"
	"testing"
)

// TestFactsDiffer checks that Equal and the key of a pod compare every field of every kind's facts: pods
// with equal keys share their facts.
func TestFactsDiffer(t *testing.T) {
	stored := reflect.TypeFor[StoredFacts]()
	for i := range stored.NumField() {
		facts := stored.Field(i).Type.Elem()
		for n := range facts.NumField() {
			changed := reflect.New(facts)
			if !setNonZero(changed.Elem().Field(n)) {
				t.Errorf("%s.%s: no value of type %s is known to this test", facts.Name(), facts.Field(n).Name, facts.Field(n).Type)
				continue
			}
			zero := &Object{Lifecycle: &Lifecycle{Facts: reflect.New(facts).Interface().(Facts)}}
			if Equal(zero, &Object{Lifecycle: &Lifecycle{Facts: changed.Interface().(Facts)}}) {
				t.Errorf("Equal ignores %s.%s", facts.Name(), facts.Field(n).Name)
			}
			if p, ok := changed.Interface().(*PodFacts); ok && string(p.AppendKey(nil)) == string(new(PodFacts).AppendKey(nil)) {
				t.Errorf("PodFacts.AppendKey ignores %s", facts.Field(n).Name)
			}
		}
	}
}

// setNonZero sets a value to one that is not zero. It returns false for a type that no facts have.
func setNonZero(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return setNonZero(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		return setNonZero(v.Index(0))
	case reflect.Struct:
		return setNonZero(v.Field(0))
	default:
		return false
	}
	return true
}
