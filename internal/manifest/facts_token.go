package manifest

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// secretType reads the type of a Secret. What other kinds have under that name is theirs.
func (l *lexer) secretType(it *item) error {
	if l.token() != '"' || it.seen&hasKind != 0 && string(it.bytes(it.kind)) != object.Secret.Kind {
		return l.skip()
	}
	return l.metadataString(it, hasType, &it.typed, "type")
}

// token is what a Secret says of its account; nil for nothing.
func (it *item) token() *object.Token {
	return object.TokenBy(string(it.bytes(it.account)), types.UID(it.bytes(it.accountUID)), string(it.bytes(it.typed)))
}

// setToken adds to o, if it is a Secret, what it says of its account.
func setToken(o *object.Object, token *object.Token) {
	if token != nil && o.Is(object.Secret) {
		o.Edit().Facts = token
	}
}
