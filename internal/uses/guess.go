package uses

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// guess is the rule for a field of a kind that the table lacks.
var guess = Rule{Label: "by its name", When: report.BreaksNextReconcile, Effect: "by the name of the field"}

// maxGuesses bounds the guessed references of one object.
const maxGuesses = 50

// GuessOf returns what the names of the fields in the spec of a custom resource say: a string in a field
// like caSecretName names a Secret, one like configMapName a ConfigMap, and a mapping in a field like
// secretRef or configMapRef with a name does, too. It is a guess: only the project knows.
func GuessOf(namespace string, raw []byte) []Reference {
	var o struct {
		Spec map[string]any `json:"spec"`
	}
	if json.Unmarshal(raw, &o) != nil || namespace == "" {
		return nil
	}
	x := extraction{namespace: namespace}
	x.guess("spec", o.Spec)
	return x.list
}

// guess adds the guessed references below a field.
func (x *extraction) guess(path string, v any) {
	if len(x.list) >= maxGuesses {
		return
	}
	switch v := v.(type) {
	case []any:
		for _, entry := range v {
			x.guess(path+"[]", entry)
		}
	case map[string]any:
		keys := make([]string, 0, len(v))
		for key := range v {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			field := path + "." + key
			x.guess(field, v[key])
			for _, kind := range []object.Kind{secret, configMap} {
				if name := guessedName(key, strings.ToLower(kind.Kind), v[key]); name != "" {
					x.add(Reference{Field: field, Kind: kind.Kind, Namespace: x.namespace, Name: name})
				}
			}
		}
	}
}

// guessedName returns the name in a field that by its key refers to a kind; empty for any other field.
func guessedName(key, kind string, v any) string {
	lower := strings.ToLower(key)
	switch v := v.(type) {
	case string:
		if strings.HasSuffix(lower, kind+"name") {
			return v
		}
	case map[string]any:
		if strings.HasSuffix(lower, kind+"ref") || strings.HasSuffix(lower, kind+"keyref") {
			name, _ := v["name"].(string)
			return name
		}
	}
	return ""
}
