package uses

import "strings"

// step is one key of a path. each is true if the value of the key is a list, of which each entry counts.
type step struct {
	key  string
	each bool
}

func stepsOf(path string) (steps []step) {
	if path == "" {
		return nil
	}
	for _, key := range strings.Split(path, ".") {
		key, each := strings.CutSuffix(key, "[]")
		steps = append(steps, step{key, each})
	}
	return steps
}

// valuesAt returns the values in v at the end of a path.
func valuesAt(v any, path []step) []any {
	if len(path) == 0 {
		return []any{v}
	}
	m, _ := v.(map[string]any)
	below, ok := m[path[0].key]
	switch {
	case !ok:
		return nil
	case !path[0].each:
		return valuesAt(below, path[1:])
	}
	var values []any
	entries, _ := below.([]any)
	for _, entry := range entries {
		values = append(values, valuesAt(entry, path[1:])...)
	}
	return values
}
