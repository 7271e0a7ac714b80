package draw

import (
	"encoding/json"
	"reflect"
	"strconv"
)

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
