package uses

import (
	"encoding/json"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// step is one key of a path. each is true if the value of the key is a list, of which each entry counts.
type step struct {
	key  string
	each bool
}

func stepsOf(path string) (steps []step) {
	for _, key := range manifest.KeysOf(path) {
		key, each := strings.CutSuffix(key, "[]")
		steps = append(steps, step{key, each})
	}
	return steps
}

// The keys of a mapping that refers to an object, besides its name.
const (
	namespaceKey, kindKey, optionalKey = "namespace", "kind", "optional"
	// clusterKey is true for an object of the kind with the prefix Cluster.
	clusterKey = "clusterScope"
)

// groupKeys are the keys that hold the group of a reference, alone or with a version.
var groupKeys = []string{"apiVersion", "apiGroup", "group"}

// paths returns the paths of the fields that the rule reads.
func (r *Rule) paths() []string {
	paths := []string{r.Path}
	switch {
	case r.Selects, r.Several != nil:
		paths[0] += ".*"
	case r.Name != "":
		paths = []string{r.Path + "." + r.Name, r.Path + "." + optionalKey, r.Path + "." + namespaceKey}
		if r.Or != nil {
			paths = append(paths, r.Path+"."+kindKey, r.Path+"."+clusterKey)
			paths = append(paths, object.Mapped(groupKeys, func(key string) string { return r.Path + "." + key })...)
		}
		if r.Implied {
			paths = append(paths, r.Path+".accessModes") // every claim has it
		}
	}
	if path, _, ok := strings.Cut(r.While, "="); ok {
		paths = append(paths, path)
	}
	paths = append(paths, object.Filtered([]string{r.With, r.In}, func(path string) bool { return path != "" })...)
	return paths
}

// Of returns the references of an object, from its JSON, which may be reduced to FieldsOf. Values of an
// unexpected type are no references. Each target is returned once for each field. Guesses follow for fields of
// custom resources that the table lacks, without those that only repeat a target.
func Of(kind schema.GroupKind, namespace string, raw []byte) []Reference {
	rules := byUser[kind]
	if len(rules) == 0 {
		return nil
	}
	values, ok := valuesAt(fieldTrees[kind], raw)
	if !ok {
		return nil
	}
	x := extraction{namespace: namespace}
	for _, v := range values {
		r := rules[v.rule]
		if v.condition {
			continue
		}
		in := ""
		if r.In != "" {
			for _, c := range values {
				if c.condition && c.rule == v.rule {
					in, _ = c.value.(string)
				}
			}
		}
		holds := slices.ContainsFunc(values, func(c fieldValue) bool {
			return c.condition && c.rule == v.rule && (c.value == r.whileValue || r.whileValue == "")
		})
		idle := r.While != "" && holds == (r.whileValue == "")
		if !idle || !r.Only {
			x.take(r, v.value, in, idle)
		}
	}
	for i, r := range rules {
		of := func(condition bool) bool {
			return slices.ContainsFunc(values, func(v fieldValue) bool { return v.rule == i && v.condition == condition && v.value != "" })
		}
		if r.Default != "" && of(true) && !of(false) {
			x.take(r, r.Default, "", false)
		}
	}
	if object.MayBeCustom(kind.Group) {
		x.guessBeside(rules, GuessOf(kind.Group, namespace, raw))
	}
	return x.list
}

// guessBeside adds the guesses that say more than the rules.
func (x *extraction) guessBeside(rules []*Rule, guesses []Reference) {
	known := x.list
	for _, g := range guesses {
		told := slices.ContainsFunc(known, func(r Reference) bool { return r.Selector == nil && r.Target() == g.Target() }) ||
			slices.ContainsFunc(rules, func(r *Rule) bool { return r.Path == g.Field })
		if !told {
			x.add(g)
		}
	}
}

// extraction collects the references of one object.
type extraction struct {
	namespace string
	// group is that of the object, for guesses.
	group string
	list  []Reference
}

func (x *extraction) add(r Reference) {
	if r.Selector == nil && slices.Contains(x.list, r) { // selectors of a field are few, and pointers differ
		return
	}
	x.list = append(x.list, r)
}

// take adds the reference of a value. in is the value of In.
func (x *extraction) take(r *Rule, v any, in string, idle bool) {
	ref := Reference{Field: r.Path, Group: r.To.Group, Kind: r.To.Kind, Idle: idle}
	if r.Selects {
		text, ok := selectorOf(v)
		if m, is := v.(map[string]any); is && len(m) == 0 && r.SelectsAll {
			ok = true
		}
		if ok {
			ref.Namespace, ref.Selector = x.namespace, &text
			x.add(ref)
		}
		return
	}
	if r.Names != nil {
		value, _ := v.(string)
		names, ok := r.Names[value]
		if !ok {
			names = r.Names[""]
		}
		for _, ref.Name = range names {
			x.add(ref)
		}
		return
	}
	if r.Several != nil {
		for _, ref.Name = range r.Several(x.namespace, v) {
			x.addNamed(r, ref, "")
		}
		return
	}
	namespace := ""
	if r.Name == "" {
		ref.Name, _ = v.(string)
	} else {
		m, _ := v.(map[string]any)
		ref.Name, _ = m[r.Name].(string)
		if _, named := m[r.Name]; r.Implied && !named && m != nil {
			ref.Default = true
			x.add(ref)
			return
		}
		ref.Optional, _ = m[optionalKey].(bool)
		namespace, _ = m[namespaceKey].(string)
		if r.Or != nil && !ref.named(r, m) {
			return
		}
	}
	if r.In != "" {
		if namespace = in; in == "" || strings.Contains(ref.Name+in, "${") {
			return // a template stands for another Secret with each claim
		}
	}
	x.addNamed(r, ref, namespace)
}

// addNamed adds a reference to the name that it has, in a namespace. An empty one is that of the user.
func (x *extraction) addNamed(r *Rule, ref Reference, namespace string) {
	if ref.Name == "" && r.SelectsAll {
		ref.Selector = new(string)
	} else if ref.Name == "" || ref.Name == r.Reserved {
		return
	}
	if namespace == "" {
		namespace = x.namespace
	}
	if r.Host && !ref.host(&namespace) {
		return
	}
	if of, name, ok := strings.Cut(ref.Name, "/"); ok && r.Name == "" && !r.Host {
		namespace, ref.Name = of, name
	}
	if kind, known := scopes[schema.GroupKind{Group: ref.Group, Kind: ref.Kind}]; !known || kind.Namespaced {
		ref.Namespace = namespace
	}
	x.add(ref)
}

// named sets the kind that a value names. It returns false for a reference to something else than an
// object.
func (ref *Reference) named(r *Rule, m map[string]any) bool {
	kind, _ := m[kindKey].(string)
	group, given := "", false
	for _, key := range groupKeys {
		if text, ok := m[key].(string); ok {
			given = true
			if group = text; key == "apiVersion" {
				group = object.GroupOf(text)
			}
		}
	}
	if kind == "" {
		kind = r.To.Kind
		if cluster, _ := m[clusterKey].(bool); cluster {
			kind = "Cluster" + kind
		}
	}
	ref.Kind = kind
	if given {
		ref.Group = group
	} else if i := slices.IndexFunc(r.Or, func(k object.Kind) bool { return k.Kind == kind }); i >= 0 && kind != r.To.Kind {
		ref.Group = r.Or[i].Group
	}
	return kind != ""
}

// host splits a DNS name of a Service. It returns false for a name outside of the cluster.
func (ref *Reference) host(namespace *string) bool {
	parts := strings.Split(ref.Name, ".")
	switch {
	case len(parts) == 1:
	case len(parts) == 2, len(parts) > 2 && parts[2] == "svc":
		*namespace = parts[1]
	default:
		return false
	}
	ref.Name = parts[0]
	return ref.Name != "" && ref.Name != "*"
}

// selectorOf returns the canonical text of a label selector, or of a mapping of labels. It returns false
// for an invalid one, and for one that selects nothing.
func selectorOf(v any) (string, bool) {
	m, ok := v.(map[string]any)
	if !ok || len(m) == 0 {
		return "", false
	}
	if _, is := m["matchLabels"].(map[string]any); !is && m["matchExpressions"] == nil {
		set := labels.Set{}
		for k, v := range m {
			text, ok := v.(string)
			if !ok {
				return "", false
			}
			set[k] = text
		}
		s, err := labels.ValidatedSelectorFromSet(set)
		if err != nil {
			return "", false
		}
		return s.String(), true
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return "", false
	}
	var selector metav1.LabelSelector
	if json.Unmarshal(raw, &selector) != nil {
		return "", false
	}
	s, err := metav1.LabelSelectorAsSelector(&selector)
	if err != nil || s.Empty() {
		return "", false
	}
	return s.String(), true
}
