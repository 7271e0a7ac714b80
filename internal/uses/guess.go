package uses

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// guess is the rule for a field of a kind that the table lacks.
var guess = Rule{Label: "by its name", When: report.BreaksNextReconcile, Effect: "it may need it"}

// maxGuesses bounds the guessed references of one object.
const maxGuesses = 50

// homes has the namespaces of what cluster-scoped objects of a group name without a namespace.
//
// Source: cert-manager.io/docs/configuration: the flag --cluster-resource-namespace, by default the namespace
// in which cert-manager runs.
var homes = map[string]string{certManager: "cert-manager"}

// GuessOf returns what the names of the fields in the spec of a custom resource of a group say: a string in a
// field like caSecretName, or credentialName, names a Secret, one like configMapName a ConfigMap, and so does a mapping with a name
// that is in a field like secret, secretRef or configMapRef, or has the kind Secret or ConfigMap. Without a namespace
// of its own it is one of the namespace of the object, or of homes. It is a guess: only the project knows.
func GuessOf(group, namespace string, raw []byte) []Reference {
	var o struct {
		Spec map[string]any `json:"spec"`
	}
	if json.Unmarshal(raw, &o) != nil {
		return nil
	}
	x := extraction{namespace: cmp.Or(namespace, homes[group])}
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
		if kind, _ := v[kindKey].(string); kind == secret.Kind || kind == configMap.Kind {
			name, _ := v["name"].(string)
			x.addGuess(path, kind, name, v)
		}
		keys := make([]string, 0, len(v))
		for key := range v {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			field := path + "." + key
			x.guess(field, v[key])
			for _, kind := range []object.Kind{secret, configMap} {
				x.addGuess(field, kind.Kind, guessedName(key, strings.ToLower(kind.Kind), v[key]), v[key])
			}
		}
	}
}

// addGuess adds a guessed reference to a name, unless that is empty. value is that of the field.
func (x *extraction) addGuess(field, kind, name string, value any) {
	namespace, optional := x.namespace, false
	if m, ok := value.(map[string]any); ok {
		own, _ := m[namespaceKey].(string)
		namespace = cmp.Or(own, namespace)
		optional, _ = m[optionalKey].(bool)
	}
	if name != "" && namespace != "" {
		x.add(Reference{Field: field, Kind: kind, Namespace: namespace, Name: name, Optional: optional})
	}
}

// guessedName returns the name in a field that by its key refers to a kind; empty for any other field.
func guessedName(key, kind string, v any) string {
	lower := strings.ToLower(key)
	switch v := v.(type) {
	case string:
		if strings.HasSuffix(lower, kind+"name") || kind == "secret" && lower == "credentialname" {
			return v
		}
	case map[string]any:
		if lower == kind || strings.HasSuffix(lower, kind+"ref") || strings.HasSuffix(lower, kind+"keyref") {
			name, _ := v["name"].(string)
			return name
		}
	}
	return ""
}
