// Package object defines the types that all other packages share: references, objects as the
// collector sees them, watch events, patches, and the served resources. It has predicates on these
// types and no other behaviour.
package object

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Ref is the identity of an object: its coordinates and its namespace. It is comparable and may be
// a map key. The namespace of a cluster-scoped object is empty.
// (spec §0.3: upstream "object reference".)
type Ref struct {
	APIVersion string
	Kind       string
	Namespace  string
	Name       string
	UID        types.UID
}

// String returns the canonical text of a reference: `apps/v1 Deployment shop/web`. It omits the UID
// and doesn't escape; callers that print foreign names to a terminal must.
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

// Group returns the API group of the reference; "" for the core group.
func (r Ref) Group() string { return GroupOf(r.APIVersion) }

// Compare orders references by apiVersion, kind, namespace, name and UID, byte-wise. Every list
// that users see has this order.
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

// Coordinates are where an object is stored: neither its version nor its uid is part of them. Two
// objects with the same coordinates cannot exist at the same time.
type Coordinates struct{ Group, Kind, Namespace, Name string }

// Coordinates returns where the object is stored.
func (r Ref) Coordinates() Coordinates { return Coordinates{r.Group(), r.Kind, r.Namespace, r.Name} }

// WithoutUID returns the reference without its UID.
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

// SplitAPIVersion splits an apiVersion into group and version. Both are empty for an invalid one.
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
