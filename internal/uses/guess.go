package uses

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

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

// GuessOf returns what the names of the fields in the spec of a custom resource of a group say:
//
//	caSecretName: ca, credentialName: ca       a Secret; likewise configMapName, serviceAccountName, claimName,
//	                                           storageClassName, priorityClassName
//	secretRef: {name: ca}                      a Secret; likewise secret, configMapRef and configMapKeyRef
//	x: {kind: Secret, name: ca}                a Secret or ConfigMap
//	x: {apiVersion: v1, kind: Pod, name: p}    an object of any kind; likewise with apiGroup or group
//
// Without a namespace of its own it is one of the namespace of the object, or of homes. It is a guess: only the
// project knows.
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
		if to, ok := guessedKind(v); ok {
			name, _ := v["name"].(string)
			x.addGuess(path, to, name, v)
		}
		keys := make([]string, 0, len(v))
		for key := range v {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			if key == "claimRef" {
				continue // the claim to which the object is bound, which needs the object
			}
			field := path + "." + key
			x.guess(field, v[key])
			for _, kind := range []object.Kind{secret, configMap} {
				x.addGuess(field, kind.GroupKind, guessedName(key, strings.ToLower(kind.Kind), v[key]), v[key])
			}
			for _, named := range guessedFields {
				if name, is := v[key].(string); is && strings.HasSuffix(strings.ToLower(key), named.key) {
					x.addGuess(field, named.kind, name, nil)
				}
			}
		}
	}
}

// guessedFields are the ends of the keys, in lower case, of strings that name other kinds.
var guessedFields = []struct {
	key  string
	kind schema.GroupKind
}{
	{"serviceaccountname", object.ServiceAccount.GroupKind},
	{"claimname", object.PVC.GroupKind},
	{"storageclassname", object.StorageClass.GroupKind},
	{"priorityclassname", object.PriorityClass.GroupKind},
}

// guessedKind returns the kind that a mapping names. It returns false for a kind without its group, except
// Secret and ConfigMap.
func guessedKind(m map[string]any) (schema.GroupKind, bool) {
	kind, _ := m[kindKey].(string)
	for _, key := range groupKeys {
		if text, ok := m[key].(string); ok {
			if key == "apiVersion" {
				text = object.GroupOf(text)
			}
			return schema.GroupKind{Group: text, Kind: kind}, kind != ""
		}
	}
	return schema.GroupKind{Kind: kind}, kind == secret.Kind || kind == configMap.Kind
}

// addGuess adds a guessed reference to a name, unless that is empty. value is that of the field.
func (x *extraction) addGuess(field string, to schema.GroupKind, name string, value any) {
	namespace, optional := x.namespace, false
	if m, ok := value.(map[string]any); ok {
		own, _ := m[namespaceKey].(string)
		namespace = cmp.Or(own, namespace)
		optional, _ = m[optionalKey].(bool)
	}
	kind, known := scopes[to]
	if known && !kind.Namespaced {
		namespace = ""
	}
	if name != "" && (namespace != "" || !known || !kind.Namespaced) {
		x.add(Reference{Field: field, Group: to.Group, Kind: to.Kind, Namespace: namespace, Name: name, Optional: optional})
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
