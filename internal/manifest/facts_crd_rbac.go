package manifest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// crdFacts covers apiextensions.k8s.io/v1 and v1beta1.
var crdFacts = &factKind{
	kind: object.CRD,
	fields: []factField{
		sharedText("spec.group", func(f *facts) *string { return &f.definition.Group }),
		{path: "spec.scope", keep: keepValue, read: (*lexer).definitionScope},
		{path: "spec.names", keep: keepFields(map[string]*keep{
			"shortNames": keepStrings, "categories": keepStrings,
		}, "kind", "plural", "singular"), read: (*lexer).definitionNames},
		sharedText("spec.version", func(f *facts) *string { return &f.oldVersion }),
		{path: "spec.versions", keep: &keep{each: keepFields(nil, "name", "served", "storage")}, read: (*lexer).definitionVersions},
		conditions,
		texts("status.storedVersions", func(f *facts) *[]string { return &f.definition.Stored }),
	},
	facts: (*facts).defined,
}

func (l *lexer) definitionScope(it *item, path string, _ bool) error {
	var scope string
	err := l.shared(it, &scope, path)
	it.facts.definition.Namespaced, it.facts.scoped = scope == "Namespaced", true
	if err == nil && scope != "Namespaced" && scope != "Cluster" {
		return l.wrong("%s is %q; it must be Namespaced or Cluster", path, scope)
	}
	return err
}

func (l *lexer) definitionNames(it *item, path string, _ bool) error {
	d := &it.facts.definition
	texts := func(to *[]string) func(string) error {
		return func(name string) (err error) {
			*to, err = l.strings(name)
			return err
		}
	}
	return l.wanted(path, path, false, map[string]func(string) error{
		"kind": l.repeatedInto(&d.Kind), "plural": l.repeatedInto(&d.Plural), "singular": l.repeatedInto(&d.Singular),
		"shortNames": texts(&d.ShortNames), "categories": texts(&d.Categories),
	})
}

func (l *lexer) definitionVersions(it *item, path string, _ bool) error {
	d := &it.facts.definition
	return l.entries(path, func() error {
		if err := l.charge(entryBytes); err != nil {
			return err
		}
		var v object.CRDVersion
		flag := func(to *bool) func(string) error {
			return func(name string) (err error) {
				*to, _, err = l.boolean(name)
				return err
			}
		}
		err := l.wanted("an entry of "+path, path, false, map[string]func(string) error{
			"name": l.repeatedInto(&v.Name), "served": flag(&v.Served), "storage": flag(&v.Storage),
		})
		d.Versions = append(d.Versions, v)
		return err
	})
}

// defined unifies the forms of the two API versions: v1beta1 may have a single spec.version instead
// of spec.versions. It returns nil if the dump lacks the fields that identify the instances: they
// are then unknown. A definition without conditions counts as established, because its instances
// must not be overlooked. One that is being deleted counts as terminating: a condition that wasn't
// dumped may be set.
func (f *facts) defined(o *object.Object) object.Facts {
	d := f.definition
	d.Established = d.Established || !f.conditioned
	d.Terminating = d.Terminating || !f.conditioned && o.BeingDeleted()
	if d.Group == "" || d.Kind == "" || d.Plural == "" || !f.scoped {
		return nil
	}
	if len(d.Versions) == 0 && f.oldVersion != "" {
		d.Versions = []object.CRDVersion{{Name: f.oldVersion, Served: true, Storage: true}}
	}
	return &d
}

var roleFacts = &factKind{
	kind: object.ClusterRole,
	fields: []factField{
		{path: "rules", keep: keepRules, read: (*lexer).rules},
		{path: "aggregationRule", keep: keepAggregation, read: (*lexer).aggregation},
	},
	facts: func(f *facts, _ *object.Object) object.Facts {
		if len(f.role.Rules) == 0 && len(f.role.Aggregates) == 0 {
			return nil // the same as without rules in a list of metadata
		}
		return new(f.role)
	},
}

var (
	keepRules       = FieldsOf([]policyRule(nil)).keep
	keepAggregation = FieldsOf(aggregationRule{}).keep
)

// policyRule has the lists of a rule in a fixed order, so that rules that allow the same have the
// same text.
//
// Upstream: api/rbac/v1/types.go PolicyRule.
type policyRule struct {
	Verbs           []string `json:"verbs,omitempty"`
	APIGroups       []string `json:"apiGroups,omitempty"`
	Resources       []string `json:"resources,omitempty"`
	ResourceNames   []string `json:"resourceNames,omitempty"`
	NonResourceURLs []string `json:"nonResourceURLs,omitempty"`
}

// aggregationRule selects the ClusterRoles with the rules that this one aggregates.
//
// Upstream: api/rbac/v1/types.go AggregationRule.
type aggregationRule struct {
	ClusterRoleSelectors []metav1.LabelSelector `json:"clusterRoleSelectors,omitempty"`
}

// rules reads the rules of a ClusterRole.
func (l *lexer) rules(it *item, path string, _ bool) error {
	var list []policyRule
	if err := l.decode(&list, keepRules, path, "a list of rules"); err != nil {
		return err
	}
	for _, r := range list {
		text, _ := json.Marshal(r)
		sum := sha256.Sum256(text)
		it.facts.role.Rules = append(it.facts.role.Rules, hex.EncodeToString(sum[:8]))
	}
	return nil
}

// aggregation reads the selectors of an aggregated ClusterRole.
func (l *lexer) aggregation(it *item, path string, _ bool) error {
	var rule aggregationRule
	if err := l.decode(&rule, keepAggregation, path, "a mapping with label selectors"); err != nil {
		return err
	}
	for i := range rule.ClusterRoleSelectors {
		s, err := metav1.LabelSelectorAsSelector(&rule.ClusterRoleSelectors[i])
		if err != nil {
			return l.wrong("%s: %v", path, err)
		}
		it.facts.role.Aggregates = append(it.facts.role.Aggregates, s.String())
	}
	return nil
}

// decode decodes the value at the current position into the variable that to points to.
func (l *lexer) decode(to any, keeps *keep, path, wanted string) error {
	var text keptText
	if err := text.value(l, keeps, false); err != nil {
		return err
	}
	if err := json.Unmarshal(text.json, to); err != nil {
		return l.wrong("%s is not %s", path, wanted)
	}
	return nil
}

var accountFacts = &factKind{
	kind: object.ServiceAccount,
	fields: []factField{
		{path: "secrets", keep: &keep{each: keepFields(nil, "name")}, read: (*lexer).accountSecrets},
	},
	facts: func(f *facts, _ *object.Object) object.Facts {
		if len(f.account.Secrets) == 0 {
			return nil // the same as without secrets in a list of metadata
		}
		return new(f.account)
	},
}

// accountSecrets reads the names of the Secrets that a ServiceAccount refers to.
func (l *lexer) accountSecrets(it *item, path string, flat bool) error {
	return l.entries(path, func() error {
		if err := l.charge(entryBytes); err != nil {
			return err
		}
		name, err := l.named(it, "name", "an entry of "+path, flat)
		if text := it.bytes(name); err == nil && len(text) > 0 {
			it.facts.account.Secrets = append(it.facts.account.Secrets, string(text))
		}
		return err
	})
}

// secretType reads the type of a Secret. It ignores the field in other kinds.
func (l *lexer) secretType(it *item) error {
	if l.token() != '"' || it.seen&hasKind != 0 && string(it.bytes(it.kind)) != object.Secret.Kind {
		return l.skip()
	}
	return l.metadataString(it, hasType, &it.typed, "type")
}

// token returns the Token by a Secret's annotations and type, nil if it is none.
func (it *item) token() *object.Token {
	return object.TokenBy(string(it.bytes(it.account)), types.UID(it.bytes(it.accountUID)), string(it.bytes(it.typed)))
}

// setToken sets the token as the facts of o if it is a Secret.
func setToken(o *object.Object, token *object.Token) {
	if token != nil && o.Is(object.Secret) {
		o.Edit().Facts = token
	}
}
