package object

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// Definition returns nil unless the object is a CustomResourceDefinition.
func (o *Object) Definition() *CRDFacts { return factsAs[*CRDFacts](o) }

// CRDFacts are the fields of a CustomResourceDefinition that describe its instances.
type CRDFacts struct {
	Group      string       `json:"group"`
	Kind       string       `json:"kind"`
	Plural     string       `json:"plural"`
	Singular   string       `json:"singular,omitzero"`
	ShortNames []string     `json:"short,omitempty"`
	Categories []string     `json:"categories,omitempty"`
	Namespaced bool         `json:"namespaced,omitzero"`
	Versions   []CRDVersion `json:"versions,omitempty"`
	// Stored are status.storedVersions: instances may be stored in each of them.
	Stored []string `json:"stored,omitempty"`
	// Established and Terminating are conditions of the status.
	Established bool `json:"established,omitzero"`
	Terminating bool `json:"terminating,omitzero"`
}

// CRDVersion is one entry of a CustomResourceDefinition's spec.versions.
type CRDVersion struct {
	Name    string `json:"name"`
	Served  bool   `json:"served,omitzero"`
	Storage bool   `json:"storage,omitzero"`
}

func (d *CRDFacts) store(s *StoredFacts) { s.CRD = d }

// ServiceAccount returns nil unless the object is a ServiceAccount and the dump has its secrets.
func (o *Object) ServiceAccount() *ServiceAccountFacts { return factsAs[*ServiceAccountFacts](o) }

// ServiceAccountFacts are the fields of a ServiceAccount that the deletion of a token changes.
type ServiceAccountFacts struct {
	// Secrets are the names in secrets, in order.
	Secrets []string `json:"secrets,omitempty"`
}

func (a *ServiceAccountFacts) store(s *StoredFacts) { s.ServiceAccount = a }

// ClusterRole returns nil unless the object is a ClusterRole and the dump has its rules or its
// aggregationRule.
func (o *Object) ClusterRole() *ClusterRoleFacts { return factsAs[*ClusterRoleFacts](o) }

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

// Token returns nil unless the object is, or may be, a Secret with the token of a ServiceAccount.
func (o *Object) Token() *Token { return factsAs[*Token](o) }

// TokenType is the type of Secrets with tokens of ServiceAccounts.
//
// Upstream: api/core/v1/types.go SecretTypeServiceAccountToken.
const TokenType = "kubernetes.io/service-account-token"

// The annotations of a token that name its ServiceAccount.
//
// Upstream: api/core/v1/types.go ServiceAccountNameKey, ServiceAccountUIDKey.
const (
	AccountNameAnnotation = "kubernetes.io/service-account.name"
	AccountUIDAnnotation  = "kubernetes.io/service-account.uid"
)

// Token names the ServiceAccount of a token Secret. It is in the namespace of the Secret.
// (spec §7.1, S246)
type Token struct {
	// Account is the name of the ServiceAccount, never empty.
	Account string `json:"n"`
	// AccountUID is empty if the Secret fits any account with that name.
	AccountUID types.UID `json:"u,omitzero"`
	// Sure is true if the type is known and is TokenType. Without it only metadata is known: the
	// Secret may be of another type, which isn't deleted.
	Sure bool `json:"sure,omitzero"`
}

// TokenBy returns the Token by the annotations and the type of a Secret; nil if it is no token. An
// empty type means unknown.
func TokenBy(account string, uid types.UID, secretType string) *Token {
	if account == "" || secretType != "" && secretType != TokenType {
		return nil
	}
	return &Token{Account: account, AccountUID: uid, Sure: secretType == TokenType}
}

// Of reports whether the token belongs to the ServiceAccount with that name and UID.
//
// Upstream: apiserver/pkg/authentication/serviceaccount/util.go IsServiceAccountToken.
func (t *Token) Of(account string, uid types.UID) bool {
	return t.Account == account && (t.AccountUID == "" || t.AccountUID == uid)
}

func (t *Token) store(s *StoredFacts) { s.Token = t }
