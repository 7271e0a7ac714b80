package object

import (
	"slices"

	"k8s.io/apimachinery/pkg/labels"
)

// ServiceAccount returns nil unless the object is a ServiceAccount and the dump has its secrets.
func (o *Object) ServiceAccount() *ServiceAccountFacts {
	f, _ := o.lifecycle().Facts.(*ServiceAccountFacts)
	return f
}

// ServiceAccountFacts are the fields of a ServiceAccount that the deletion of a token changes.
type ServiceAccountFacts struct {
	// Secrets are the names in secrets, in order.
	Secrets []string `json:"secrets,omitempty"`
}

func (a *ServiceAccountFacts) store(s *StoredFacts) { s.ServiceAccount = a }

// Share does nothing: two accounts rarely name the same Secret.
func (a *ServiceAccountFacts) Share(func(string) string) {}

func (a *ServiceAccountFacts) equal(x Facts) bool {
	y, ok := x.(*ServiceAccountFacts)
	return ok && slices.Equal(a.Secrets, y.Secrets)
}

// ClusterRole returns nil unless the object is a ClusterRole and the dump has its rules or its
// aggregationRule.
func (o *Object) ClusterRole() *ClusterRoleFacts {
	f, _ := o.lifecycle().Facts.(*ClusterRoleFacts)
	return f
}

// ClusterRoleFacts are the fields of a ClusterRole that the deletion of another one changes.
type ClusterRoleFacts struct {
	// Rules are fingerprints of the rules, in order. Rules that allow the same have equal
	// fingerprints.
	Rules []string `json:"rules,omitempty"`
	// Aggregates are the label selectors of aggregationRule, as text; empty for a ClusterRole with
	// its own rules.
	Aggregates []string `json:"of,omitempty"`
}

// Selectors returns the parsed Aggregates; false if one is invalid.
func (r *ClusterRoleFacts) Selectors() ([]labels.Selector, bool) {
	list := make([]labels.Selector, 0, len(r.Aggregates))
	for _, text := range r.Aggregates {
		s, err := labels.Parse(text)
		if err != nil {
			return nil, false
		}
		list = append(list, s)
	}
	return list, true
}

func (r *ClusterRoleFacts) store(s *StoredFacts) { s.ClusterRole = r }

// Share replaces strings that repeat over many objects by text(s), for interning.
func (r *ClusterRoleFacts) Share(text func(string) string) {
	for i := range r.Rules {
		r.Rules[i] = text(r.Rules[i])
	}
}

func (r *ClusterRoleFacts) equal(x Facts) bool {
	y, ok := x.(*ClusterRoleFacts)
	return ok && slices.Equal(r.Rules, y.Rules) && slices.Equal(r.Aggregates, y.Aggregates)
}
