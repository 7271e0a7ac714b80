// Package object holds the nouns that every other package shares: references,
// objects as the collector sees them, watch events, patches, and the served
// resources. It has predicates on those nouns and no behaviour beyond them.
package object

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Ref is the identity of an object: its coordinates and its namespace.
// It is comparable and may be a map key. The namespace of a cluster-scoped
// object is empty. (spec §0.3: upstream "object reference".)
type Ref struct {
	APIVersion string
	Kind       string
	Namespace  string
	Name       string
	UID        types.UID
}

// String is the canonical text of a reference: `apps/v1 Deployment shop/web`.
// It leaves the UID out and does not escape; callers that print foreign names
// to a terminal escape them.
func (r Ref) String() string {
	var b strings.Builder
	b.Grow(len(r.APIVersion) + len(r.Kind) + len(r.Namespace) + len(r.Name) + 3)
	b.WriteString(r.APIVersion)
	b.WriteByte(' ')
	b.WriteString(r.Kind)
	b.WriteByte(' ')
	if r.Namespace != "" {
		b.WriteString(r.Namespace)
		b.WriteByte('/')
	}
	b.WriteString(r.Name)
	return b.String()
}

// Group is the API group of the reference; empty for the core group.
func (r Ref) Group() string { return GroupOf(r.APIVersion) }

// Compare orders references by apiVersion, kind, namespace, name and uid,
// byte-wise. It is the order of every list that users see.
func Compare(a, b Ref) int {
	if c := strings.Compare(a.APIVersion, b.APIVersion); c != 0 {
		return c
	}
	if c := strings.Compare(a.Kind, b.Kind); c != 0 {
		return c
	}
	if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
		return c
	}
	if c := strings.Compare(a.Name, b.Name); c != 0 {
		return c
	}
	return strings.Compare(string(a.UID), string(b.UID))
}

// WithoutUID is what names the object, whatever its UID.
func (r Ref) WithoutUID() Ref {
	r.UID = ""
	return r
}

// GroupOf returns the group part of an apiVersion. As in Kubernetes, an
// apiVersion with more than one slash has neither group nor version.
func GroupOf(apiVersion string) string {
	group, _ := SplitAPIVersion(apiVersion)
	return group
}

// SplitAPIVersion splits an apiVersion into group and version. An unparsable
// one degenerates to two empty strings.
//
// Upstream: apimachinery/pkg/runtime/schema/group_version.go FromAPIVersionAndKind.
// Rule: spec §3.11.
func SplitAPIVersion(apiVersion string) (group, version string) {
	group, version, grouped := strings.Cut(apiVersion, "/")
	switch {
	case !grouped:
		return "", apiVersion
	case strings.Contains(version, "/"):
		return "", ""
	}
	return group, version
}
