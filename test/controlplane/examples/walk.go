package main

import "slices"

// at is the value at a path, nil if there is none.
func at(value any, path ...string) any {
	for _, step := range path {
		o, _ := value.(object)
		value = o[step]
	}
	return value
}

// text is the string at a path, empty if there is none.
func text(value any, path ...string) string {
	s, _ := at(value, path...).(string)
	return s
}

// eachString puts for every string of a document, keys excepted, what a function
// says, in the order of the keys.
func eachString(value any, rewrite func(string) string) any {
	switch v := value.(type) {
	case string:
		return rewrite(v)
	case []any:
		for i := range v {
			v[i] = eachString(v[i], rewrite)
		}
	case object:
		for _, k := range keys(v) {
			v[k] = eachString(v[k], rewrite)
		}
	}
	return value
}

// eachKey calls a function with every key of a document and its object.
func eachKey(value any, visit func(o object, key string) error) error {
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			if err := eachKey(element, visit); err != nil {
				return err
			}
		}
	case object:
		for _, k := range keys(v) {
			if err := visit(v, k); err != nil {
				return err
			}
			if err := eachKey(v[k], visit); err != nil {
				return err
			}
		}
	}
	return nil
}

func keys(o object) []string {
	list := make([]string, 0, len(o))
	for k := range o {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}
