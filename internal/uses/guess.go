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

// providerConfig is the rule for the configuration with which a provider of Crossplane manages an object. The kind
// is of the API group of the provider, or of that of the object.
//
// Source: crossplane-runtime, pkg/reconciler/managed/reconciler.go Reconciler.Reconcile: it connects first;
// apis/common/v1/resource.go ProviderConfigReference.
var providerConfig = Rule{Label: "providerConfigRef", Inexact: true, When: report.BreaksNextReconcile, Effect: "it is neither updated nor deleted outside of the cluster"}

const providerConfigField = "spec.providerConfigRef"

// providerGroups returns the API groups that may have the ProviderConfig of a group: s3.aws.m.upbound.io has
// that of aws.m.upbound.io, kubernetes.m.crossplane.io its own.
func providerGroups(group string) []string {
	_, provider, _ := strings.Cut(group, ".")
	if strings.Count(provider, ".") < 2 || strings.HasPrefix(provider, "m.") {
		return []string{group}
	}
	return []string{provider, group}
}

// provider adds the ProviderConfig of an object of Crossplane.
func (x *extraction) provider(group, own string, v any) {
	m, _ := v.(map[string]any)
	name, _ := m["name"].(string)
	kind, _ := m[kindKey].(string)
	for _, g := range providerGroups(group) {
		r := Reference{Field: providerConfigField, Group: g, Kind: cmp.Or(kind, "ProviderConfig"), Name: name}
		if r.Kind == "ProviderConfig" {
			r.Namespace = own
		}
		if name != "" {
			x.add(r)
		}
	}
}

// maxGuesses bounds the guessed references of one object.
const maxGuesses = 50

// homes has the namespaces of what cluster-scoped objects of a group name without a namespace.
//
// Source: cert-manager.io/docs/configuration: the flag --cluster-resource-namespace, by default the namespace
// in which cert-manager runs.
// Source: docs.crossplane.io/latest/packages: packagePullSecrets are in the namespace of Crossplane.
// Source: calico, charts/tigera-operator/values.yaml: imagePullSecrets.
// Source: keda, pkg/util/env_resolver.go GetClusterObjectNamespace: by default the namespace of its operator.
// Source: docs.cilium.io, BGP Control Plane resources: bgpControlPlane.secretsNamespace.name is kube-system by default.
var homes = map[string]string{certManager: "cert-manager", keda: "keda", "pkg.crossplane.io": "crossplane-system", "cilium.io": system, "operator.tigera.io": "tigera-operator"}

var composition = kindOf("apiextensions.crossplane.io", "v1", "Composition", "compositions", false)

// guessed says by which keys of a mapping a kind is recognised. Keys are compared in lower case.
type guessed struct {
	kind object.Kind
	// names are the ends of keys with a name as their value, refs those of keys with a mapping that has a name,
	// or with a list of these. An entry with a leading ^ is a whole key.
	names, refs []string
}

// guesses are the kinds that custom resources name by the keys of Kubernetes' own types: that of a PodSpec, a
// VolumeSource, a SecretReference.
var guesses = []guessed{
	{kind: secret, names: []string{"secretname", "secretsname", "secret", "^credentialname"}, refs: []string{"secret", "secretref", "secretreference", "secretkeyref", "pullsecrets"}},
	{kind: configMap, names: []string{"configmapname"}, refs: []string{"^configmap", "configmapref", "configmapkeyref"}},
	{
		kind: object.PVC, names: []string{"^claimname", "existingclaim", "existingclaimname", "volumeclaimname", "pvcname"},
		refs: []string{"^pvc", "pvcref", "^persistentvolumeclaim", "persistentvolumeclaimref"},
	},
	{kind: object.ServiceAccount, names: []string{"serviceaccountname", "^serviceaccount"}, refs: []string{"^serviceaccount", "serviceaccountref"}},
	{kind: object.PriorityClass, names: []string{"priorityclassname"}},
	{kind: runtimeClass, names: []string{"runtimeclassname"}},
	{kind: object.StorageClass, names: []string{"storageclassname", "^storageclass"}},
	{kind: composition, refs: []string{"^compositionref"}}, // of every composite resource
}

// GuessOf returns what the names of the fields in the spec of a custom resource of a group say:
//
//	caSecretName: ca                           a Secret; likewise the other names of guesses
//	secretRef: {name: ca}, secretRef: ca       a Secret; likewise the other refs of guesses
//	accessKey: {name: ca, key: id}             a Secret, or a ConfigMap under a key with that word
//	x: {kind: Secret, name: ca}                an object of a kind of guesses
//	x: {kind: Account, name: a}                an object of the group of the object
//	accountRef: {name: a}, accountRef: a       the same, also with Reference or plurals; see Reference.Moved
//	x: {apiVersion: v1, kind: Pod, name: p}    an object of any kind; likewise with apiGroup or group
//
// So the pod templates in custom resources count, too. Without a namespace of its own a reference is to the
// namespace of the object, or of homes. It is a guess: only the project knows.
func GuessOf(group, namespace string, raw []byte) []Reference {
	var o struct {
		Spec map[string]any `json:"spec"`
	}
	if json.Unmarshal(raw, &o) != nil {
		return nil
	}
	x := extraction{namespace: cmp.Or(namespace, homes[group]), group: group}
	x.provider(group, namespace, o.Spec["providerConfigRef"])
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
		name, _ := v["name"].(string)
		if to, ok := x.guessedKind(v); ok {
			x.addGuess(path, to, name, v)
		} else if isSelector(v) {
			x.addGuess(path, selected(path), name, v)
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
			known := field == providerConfigField
			for i := range guesses {
				g, lower := &guesses[i], strings.ToLower(key)
				known = known || isKey(g.names, lower) || isKey(g.refs, lower)
				x.guessKey(g, field, lower, v[key])
			}
			if kind := kindUnder(key); kind != "" && !known {
				x.guessRef(field, kind, v[key])
			}
		}
	}
}

// isSelector reports whether a mapping selects a key of a Secret or ConfigMap.
func isSelector(m map[string]any) bool {
	_, named := m["name"].(string)
	_, keyed := m["key"].(string)
	for key := range m {
		if key != "name" && key != "key" && key != optionalKey && key != namespaceKey {
			return false
		}
	}
	return named && keyed
}

// selected returns the kind whose key the selector in a field selects.
func selected(field string) schema.GroupKind {
	if strings.Contains(strings.ToLower(field), "configmap") {
		return configMap.GroupKind
	}
	return secret.GroupKind
}

// kindUnder returns the kind that a key such as bigAccountRef names: BigAccount. Empty for other keys.
func kindUnder(key string) string {
	for _, end := range []string{"Ref", "Refs", "Reference", "References"} {
		if kind, ok := strings.CutSuffix(key, end); ok && kind != "" {
			return strings.ToUpper(kind[:1]) + kind[1:]
		}
	}
	return ""
}

// guessRef adds the references under a key such as accountRef, to a kind of the group of the object.
func (x *extraction) guessRef(field, kind string, v any) {
	if list, ok := v.([]any); ok {
		for _, entry := range list {
			x.guessRef(field+"[]", kind, entry)
		}
		return
	}
	name, _ := v.(string)
	m, _ := v.(map[string]any)
	if m != nil && m[kindKey] == nil && !isSelector(m) {
		name, _ = m["name"].(string)
	}
	x.addGuess(field, schema.GroupKind{Group: x.group, Kind: kind}, name, m)
}

// Moved returns a guessed reference to the kind of another API group of the same project: the elasticsearchRef of
// kibana.k8s.elastic.co is to one of elasticsearch.k8s.elastic.co.
func (r Reference) Moved(group string) (Reference, bool) {
	if r.Selector != nil || domainOf(r.Group) != domainOf(group) {
		return r, false
	}
	r.Group = group
	return r, true
}

// domainOf returns the last two words of an API group.
func domainOf(group string) string {
	words := strings.Split(group, ".")
	return strings.Join(words[max(0, len(words)-2):], ".")
}

// guessKey adds the references of the value under a key, if that is one of the kind.
func (x *extraction) guessKey(g *guessed, field, key string, v any) {
	switch v := v.(type) {
	case string:
		if isKey(g.names, key) || isKey(g.refs, key) {
			x.addGuess(field, g.kind.GroupKind, v, nil)
		}
	case map[string]any:
		if isKey(g.refs, key) {
			name, _ := v["name"].(string)
			x.addGuess(field, g.kind.GroupKind, name, v)
		}
	case []any:
		for _, entry := range v {
			if m, ok := entry.(map[string]any); ok {
				x.guessKey(g, field+"[]", key, m)
			}
		}
	}
}

// isKey reports whether a key has one of the ends, or is one that starts with ^.
func isKey(ends []string, key string) bool {
	return slices.ContainsFunc(ends, func(end string) bool {
		whole, exact := strings.CutPrefix(end, "^")
		return exact && key == whole || !exact && strings.HasSuffix(key, end)
	})
}

// guessedKind returns the kind that a mapping names. A kind without its group is one of guesses, of
// Kubernetes, or of the group of the object.
func (x *extraction) guessedKind(m map[string]any) (schema.GroupKind, bool) {
	kind, _ := m[kindKey].(string)
	for _, key := range groupKeys {
		if text, ok := m[key].(string); ok {
			if key == "apiVersion" {
				text = object.GroupOf(text)
			}
			return schema.GroupKind{Group: text, Kind: kind}, kind != ""
		}
	}
	i := slices.IndexFunc(guesses, func(g guessed) bool { return g.kind.Kind == kind })
	if i < 0 {
		to := schema.GroupKind{Group: x.group, Kind: kind}
		if n := slices.IndexFunc(kinds, func(k object.Kind) bool { return k.Kind == kind && !object.MayBeCustom(k.Group) }); n >= 0 {
			to = kinds[n].GroupKind
		}
		_, named := m["name"].(string)
		return to, kind != "" && named
	}
	return guesses[i].kind.GroupKind, true
}

// addGuess adds a guessed reference to a name, unless that is empty. m is the mapping that has it; nil for
// a string.
func (x *extraction) addGuess(field string, to schema.GroupKind, name string, m map[string]any) {
	r := Reference{Field: field, Group: to.Group, Kind: to.Kind, Name: name}
	r.Optional, _ = m[optionalKey].(bool)
	kind, known := scopes[to]
	if !known || kind.Namespaced {
		own, _ := m[namespaceKey].(string)
		r.Namespace = cmp.Or(own, x.namespace)
	}
	if name != "" && (r.Namespace != "" || !known || !kind.Namespaced) {
		x.add(r)
	}
}
