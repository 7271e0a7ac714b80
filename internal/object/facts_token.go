package object

import (
	"k8s.io/apimachinery/pkg/types"
)

// Token is nil unless the object is a Secret that is the token of a ServiceAccount, or
// may be one.
func (o *Object) Token() *Token {
	f, _ := o.lifecycle().Facts.(*Token)
	return f
}

// TokenType is the type of the Secrets that are tokens of ServiceAccounts.
//
// Upstream: api/core/v1/types.go SecretTypeServiceAccountToken.
const TokenType = "kubernetes.io/service-account-token"

// The annotations by which a token says whose it is.
//
// Upstream: api/core/v1/types.go ServiceAccountNameKey, ServiceAccountUIDKey.
const (
	AccountNameAnnotation = "kubernetes.io/service-account.name"
	AccountUIDAnnotation  = "kubernetes.io/service-account.uid"
)

// Token is whose token a Secret is, if it is one: the ServiceAccount of that name in the
// namespace of the Secret. (spec §7.1, S246)
type Token struct {
	// Account is the name of the ServiceAccount, never empty.
	Account string `json:"n"`
	// AccountUID is empty for a Secret that fits any account of the name.
	AccountUID types.UID `json:"u,omitzero"`
	// Sure tells that the type was seen, and is TokenType. Where only metadata was seen,
	// the Secret may be one of another type, which stays.
	Sure bool `json:"sure,omitzero"`
}

// TokenBy is what the annotations and the type of a Secret say; nil for one that is no
// token. An empty type is one that was not seen.
func TokenBy(account string, uid types.UID, secretType string) *Token {
	if account == "" || secretType != "" && secretType != TokenType {
		return nil
	}
	return &Token{Account: account, AccountUID: uid, Sure: secretType == TokenType}
}

// Of reports whether the token is one of a ServiceAccount, by its name and uid.
//
// Upstream: apiserver/pkg/authentication/serviceaccount/util.go IsServiceAccountToken.
func (t *Token) Of(account string, uid types.UID) bool {
	return t.Account == account && (t.AccountUID == "" || t.AccountUID == uid)
}

func (t *Token) store(s *StoredFacts) { s.Token = t }

// Share has nothing to share.
func (t *Token) Share(func(string) string) {}

func (t *Token) equal(x Facts) bool {
	y, ok := x.(*Token)
	return ok && *t == *y
}
