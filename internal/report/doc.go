// Package report holds the documents that commands answer with, such as Plan, Explanation,
// Diagnosis and Graph, in version kubectl-gc.io/v1alpha1. The packages that judge produce them,
// package render prints them. They are a contract: fields are only ever added. (docs/output.md)
//
// Every list is sorted by (apiVersion, kind, namespace, name, uid) unless it is
// a sequence in time. Nothing in a document depends on the clock, on map order
// or on the terminal.
package report

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// APIVersion is the apiVersion of every document.
const APIVersion = "kubectl-gc.io/v1alpha1"

// Ref names an object in a document.
type Ref struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Namespace  string    `json:"namespace,omitempty"`
	Name       string    `json:"name"`
	UID        types.UID `json:"uid"`
}

// RefOf converts an object.Ref.
func RefOf(r object.Ref) Ref { return Ref(r) }

// Is reports whether the referenced object is of the kind, in any version.
func (r Ref) Is(k object.Kind) bool { return object.Ref(r).Is(k) }

// Source says what a document was computed from.
type Source struct {
	// Type is "files" or "cluster".
	Type       string    `json:"type"`
	Context    string    `json:"context,omitempty"`
	Server     string    `json:"server,omitempty"`
	ClusterUID types.UID `json:"clusterUID,omitempty"`
	// KubernetesVersion is the version that the server reports.
	KubernetesVersion string `json:"kubernetesVersion,omitempty"`
	// VersionAtLeast and VersionAtMost bound the release, such as v1.27, of a server that does not
	// report its version. Each is absent if it is unknown.
	VersionAtLeast string `json:"versionAtLeast,omitempty"`
	VersionAtMost  string `json:"versionAtMost,omitempty"`
	// VersionFrom is the evidence of the version or its bounds.
	VersionFrom []string `json:"versionFrom,omitempty"`
	// Rules is the release that this answer follows, such as v1.33: that of the server, or the
	// nearest that was measured. For a server that does not report its version it is the newest.
	Rules string `json:"rules,omitempty"`
	// VersionDifferences are the differences between the release of the server and the newest that
	// concern this answer.
	VersionDifferences []VersionDifference `json:"versionDifferences,omitempty"`
	TakenAt            string              `json:"takenAt,omitempty"`
	Files              []string            `json:"files,omitempty"`
	// Namespaces are the only namespaces that were read, in addition to cluster-scoped objects;
	// empty for all.
	Namespaces []string `json:"namespaces,omitempty"`
}

// VersionDifference is a difference between the release of a server and the newest.
type VersionDifference struct {
	Reason string `json:"reason"`
	// Before is the first release, such as v1.33, that behaves as the newest does.
	Before string `json:"before"`
	// Simulated is true if this answer follows the release of the server. If not, what depends on
	// the difference is Unknown.
	Simulated bool `json:"simulated"`
}

// Gap is a list that the snapshot does not contain, or not completely.
type Gap struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Resource   string `json:"resource"`
	// Namespace is empty if the gap concerns the whole cluster.
	Namespace string `json:"namespace,omitempty"`
	Why       string `json:"why"`
	// Matters is true if an object in the gap could change the answer.
	Matters bool `json:"matters,omitempty"`
}
