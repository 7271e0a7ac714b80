package outcome

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// NamespaceRef names a namespace.
func NamespaceRef(name string) object.Ref {
	return object.Ref{APIVersion: "v1", Kind: "Namespace", Name: name}
}

// DefinitionRef names a CustomResourceDefinition.
func DefinitionRef(name string) object.Ref {
	return object.Ref{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: name}
}

// MadeUp reports whether a uid stands for one that the snapshot lacks.
func MadeUp(uid types.UID) bool { return strings.HasPrefix(string(uid), snapshot.MissingUID) }
