package report

import (
	"strings"
	"unicode/utf8"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// KubectlName returns the object as `kubectl … -o name` prints it and as kubectl accepts it:
// `pod/web-1`, `deployment.apps/web`. It omits the namespace and does not escape.
func (r Ref) KubectlName() string {
	if r.Kind == "" && r.Name == "" {
		return "uid " + string(r.UID)
	}
	return KubectlKind(r.APIVersion, r.Kind) + "/" + r.Name
}

// FullName returns the short name of the object with its namespace.
func (r Ref) FullName() string {
	if r.Namespace == "" {
		return r.ShortName()
	}
	return r.ShortName() + " in namespace " + r.Namespace
}

// KubectlKind returns a kind as kubectl accepts it: `pod`, `deployment.apps`. A kind that is not
// UTF-8 keeps its bytes: strings.ToLower would make such kinds equal.
func KubectlKind(apiVersion, kind string) string {
	if utf8.ValidString(kind) {
		kind = strings.ToLower(kind)
	}
	if group := object.GroupOf(apiVersion); group != "" {
		return kind + "." + group
	}
	return kind
}
