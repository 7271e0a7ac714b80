package unserve

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// UnknownVersionError is about a version that a definition does not have.
type UnknownVersionError struct {
	Definition string
	Version    string
	// Versions are those that it has.
	Versions []string
}

// Error names the versions that there are.
func (e *UnknownVersionError) Error() string {
	return fmt.Sprintf("%s has no version %q; it has %s", e.Definition, e.Version, strings.Join(e.Versions, ", "))
}

// subject is the definition and the version in question.
type subject struct {
	object *object.Object
	*object.CRDFacts
	// version is empty when the whole definition goes.
	version string
	// served lists the versions that are served, the best one first.
	served []string
}

func newSubject(snap *snapshot.Snapshot, o *object.Object, name string) (*subject, error) {
	d := o.Definition()
	if d == nil {
		return nil, fmt.Errorf("%s: the dump does not show what it defines; it needs the whole CRD", o.Ref)
	}
	s := &subject{object: o, CRDFacts: d, version: name}
	for _, v := range d.Versions {
		if _, err := snap.Resources.For(s.apiVersion(v.Name), d.Kind); err == nil && v.Served {
			s.served = append(s.served, v.Name)
		}
	}
	slices.SortStableFunc(s.served, func(a, b string) int { return version.CompareKubeAwareVersionStrings(b, a) })
	if name != "" && !slices.ContainsFunc(d.Versions, func(v object.CRDVersion) bool { return v.Name == name }) {
		e := &UnknownVersionError{Definition: o.Name, Version: name}
		for _, v := range d.Versions {
			e.Versions = append(e.Versions, v.Name)
		}
		return nil, e
	}
	return s, nil
}

func (s *subject) apiVersion(version string) string { return s.Group + "/" + version }

func (s *subject) resource() schema.GroupResource {
	return schema.GroupResource{Group: s.Group, Resource: s.Plural}
}

// whole reports whether the definition goes, and not one version.
func (s *subject) whole() bool { return s.version == "" }

// isServed reports whether there is anything that could stop being served.
func (s *subject) isServed() bool {
	return s.whole() && len(s.served) > 0 || slices.Contains(s.served, s.version)
}

// named reports whether a reference is to the kind, and through which version. The kind
// may be written in lower case. (spec §3.11)
func (s *subject) named(ref object.OwnerReference) (version string, ok bool) {
	if !slices.Contains([]string{s.Kind, strings.ToLower(s.Kind)}, ref.Kind) {
		return "", false
	}
	group, version := object.SplitAPIVersion(ref.APIVersion)
	return version, group == s.Group
}

// through reports whether a reference is one through the version in question.
func (s *subject) through(ref object.OwnerReference) bool {
	version, ok := s.named(ref)
	return ok && (version == s.version || s.whole() && slices.Contains(s.served, version))
}

// remaining are the versions that are served without the one in question.
func (s *subject) remaining() []string {
	if s.whole() {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.served), func(v string) bool { return v == s.version })
}

// target is the apiVersion to migrate references to; empty when there is none.
func (s *subject) target() string {
	if left := s.remaining(); len(left) > 0 {
		return s.apiVersion(left[0])
	}
	return ""
}

// preferred reports whether the collector watches the kind in the version.
func (s *subject) preferred(snap *snapshot.Snapshot) bool {
	p, ok := snap.Resources.Preferred(s.resource())
	return ok && p.Version == s.version
}

func (s *subject) storage() bool {
	return slices.ContainsFunc(s.Versions, func(v object.CRDVersion) bool { return v.Name == s.version && v.Storage })
}

// report is the version as a document has it.
func (s *subject) report(snap *snapshot.Snapshot) report.UnservedVersion {
	return report.UnservedVersion{
		Name: s.version, Group: s.Group, Resource: s.Plural, OwnerKind: s.Kind,
		Served: s.isServed(), Preferred: s.preferred(snap), Storage: s.storage(),
		Stored: slices.Contains(s.Stored, s.version), Remaining: s.remaining(), Target: s.target(),
	}
}

// notes are what is to know of the definition whoever depends on it.
func (s *subject) notes(snap *snapshot.Snapshot) []reason.Code {
	var notes []reason.Code
	add := func(n reason.Code, holds bool) {
		if holds {
			notes = append(notes, n)
		}
	}
	one := !s.whole()
	add(reason.NotServed, !s.isServed())
	add(reason.OnlyVersion, one && s.isServed() && s.target() == "")
	add(reason.PreferredVersion, one && s.isServed() && s.target() != "" && s.preferred(snap))
	add(reason.StorageVersion, one && s.storage())
	add(reason.StoredVersion, one && slices.Contains(s.Stored, s.version))
	add(reason.StorageUnknown, one && len(s.Stored) == 0)
	add(reason.CRDTerminating, s.object.BeingDeleted())
	return notes
}
