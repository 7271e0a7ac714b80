package object

import (
	"k8s.io/apimachinery/pkg/types"
)

// Token returns nil unless the object is, or may be, a Secret with the token of a ServiceAccount.
func (o *Object) Token() *Token {
	f, _ := o.lifecycle().Facts.(*Token)
	return f
}

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

// Share does nothing: there is nothing to share.
func (t *Token) Share(func(string) string) {}

func (t *Token) equal(x Facts) bool {
	y, ok := x.(*Token)
	return ok && *t == *y
}
