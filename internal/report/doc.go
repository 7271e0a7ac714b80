// Package report holds the documents that commands answer with: Plan,
// Explanation, Diagnosis and Graph in version kubectl-gc.io/v1alpha1. The
// packages that judge produce them, package render prints them. They are a
// contract: fields are only ever added. (docs/output.md)
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

// RefOf converts a reference.
func RefOf(r object.Ref) Ref { return Ref(r) }

// Is reports whether the reference is to one of the kind, in any version.
func (r Ref) Is(k object.Kind) bool { return object.Ref(r).Is(k) }

// Source says what a document was computed from.
type Source struct {
	// Type is "files" or "cluster".
	Type       string    `json:"type"`
	Context    string    `json:"context,omitempty"`
	Server     string    `json:"server,omitempty"`
	ClusterUID types.UID `json:"clusterUID,omitempty"`
	// KubernetesVersion is what the server says of itself.
	KubernetesVersion string `json:"kubernetesVersion,omitempty"`
	// VersionAtLeast and VersionAtMost are the releases, as v1.27, between which a server is
	// that does not say its version, as far as they are known.
	VersionAtLeast string `json:"versionAtLeast,omitempty"`
	VersionAtMost  string `json:"versionAtMost,omitempty"`
	// VersionFrom is what tells the version or its bounds.
	VersionFrom []string `json:"versionFrom,omitempty"`
	// Rules is the release whose rules this answer follows, as v1.33: that of the server, or the
	// nearest that was measured. For a server that does not say its version it is the newest.
	Rules string `json:"rules,omitempty"`
	// VersionDifferences are what the release of the server does otherwise than the newest, as
	// far as this answer has to do with it.
	VersionDifferences []VersionDifference `json:"versionDifferences,omitempty"`
	TakenAt            string              `json:"takenAt,omitempty"`
	Files              []string            `json:"files,omitempty"`
	// Namespaces are the only ones of a cluster that were looked at, beside what is in
	// none; empty for all.
	Namespaces []string `json:"namespaces,omitempty"`
}

// VersionDifference is what the release of a server does otherwise than the newest.
type VersionDifference struct {
	Reason string `json:"reason"`
	// Before is the first release, as v1.33, that does as the newest.
	Before string `json:"before"`
	// Simulated tells that this answer does as the release of the server. If not, what the
	// difference decides is Unknown.
	Simulated bool `json:"simulated"`
}

// Gap is one thing that the snapshot does not contain.
type Gap struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Resource   string `json:"resource"`
	// Namespace is empty when the gap is the whole cluster.
	Namespace string `json:"namespace,omitempty"`
	Why       string `json:"why"`
	// Matters: something in it could change the answer.
	Matters bool `json:"matters,omitempty"`
}
