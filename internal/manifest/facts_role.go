package manifest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

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

// fingerprint returns a hash of the rule.
func (r policyRule) fingerprint() string {
	text, _ := json.Marshal(r)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
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
		it.facts.role.Rules = append(it.facts.role.Rules, r.fingerprint())
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
