package outcome

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// NamespaceRef returns a reference to a namespace, without a uid.
func NamespaceRef(name string) object.Ref {
	return object.Ref{APIVersion: "v1", Kind: "Namespace", Name: name}
}

// MadeUp reports whether a uid is a placeholder for one that the snapshot lacks.
func MadeUp(uid types.UID) bool { return strings.HasPrefix(string(uid), snapshot.MissingUID) }
