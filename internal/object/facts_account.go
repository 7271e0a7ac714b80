package object

import (
	"slices"

	"k8s.io/apimachinery/pkg/labels"
)

// ServiceAccount is nil unless the object is a ServiceAccount whose dump showed secrets.
func (o *Object) ServiceAccount() *ServiceAccountFacts {
	f, _ := o.lifecycle().Facts.(*ServiceAccountFacts)
	return f
}

// ServiceAccountFacts are what the delete of a token changes in its ServiceAccount.
type ServiceAccountFacts struct {
	// Secrets are the names in secrets, in their order.
	Secrets []string `json:"secrets,omitempty"`
}

func (a *ServiceAccountFacts) store(s *StoredFacts) { s.ServiceAccount = a }

// Share has nothing to share: hardly two accounts name the same Secret.
func (a *ServiceAccountFacts) Share(func(string) string) {}

func (a *ServiceAccountFacts) equal(x Facts) bool {
	y, ok := x.(*ServiceAccountFacts)
	return ok && slices.Equal(a.Secrets, y.Secrets)
}

// ClusterRole is nil unless the object is a ClusterRole whose dump showed rules or an
// aggregationRule.
func (o *Object) ClusterRole() *ClusterRoleFacts {
	f, _ := o.lifecycle().Facts.(*ClusterRoleFacts)
	return f
}

// ClusterRoleFacts are what the delete of one ClusterRole changes in another one.
type ClusterRoleFacts struct {
	// Rules are fingerprints of the rules, in their order: rules that allow the same have the
	// same.
	Rules []string `json:"rules,omitempty"`
	// Aggregates are the label selectors of aggregationRule, as text; empty for a ClusterRole
	// that has rules of its own.
	Aggregates []string `json:"of,omitempty"`
}

// Selectors are those of Aggregates; false if one cannot be read.
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

// Share replaces strings that repeat over many objects by what text returns for them.
func (r *ClusterRoleFacts) Share(text func(string) string) {
	for i := range r.Rules {
		r.Rules[i] = text(r.Rules[i])
	}
}

func (r *ClusterRoleFacts) equal(x Facts) bool {
	y, ok := x.(*ClusterRoleFacts)
	return ok && slices.Equal(r.Rules, y.Rules) && slices.Equal(r.Aggregates, y.Aggregates)
}
