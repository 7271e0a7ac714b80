package report

import (
	"strings"
	"unicode/utf8"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// KubectlName is the object as `kubectl … -o name` prints it and as kubectl
// takes it: `pod/web-1`, `deployment.apps/web`. It leaves the namespace out and
// does not escape.
func (r Ref) KubectlName() string {
	if r.Kind == "" && r.Name == "" {
		return "uid " + string(r.UID)
	}
	return KubectlKind(r.APIVersion, r.Kind) + "/" + r.Name
}

// FullName is the object with the namespace that it is in.
func (r Ref) FullName() string {
	if r.Namespace == "" {
		return r.ShortName()
	}
	return r.ShortName() + " in namespace " + r.Namespace
}

// KubectlKind is a kind as kubectl takes it: `pod`, `deployment.apps`. A kind
// that is not UTF-8 keeps its bytes, which strings.ToLower would replace, all by
// the same character.
func KubectlKind(apiVersion, kind string) string {
	if utf8.ValidString(kind) {
		kind = strings.ToLower(kind)
	}
	if group := object.GroupOf(apiVersion); group != "" {
		return kind + "." + group
	}
	return kind
}
