package manifest

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

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
