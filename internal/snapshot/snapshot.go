// Package snapshot is what was seen of a cluster, and what was not.
//
// It reads what kubectl and the collectors of support dumps write: files,
// directories and archives, told apart by their content. Archives are read as
// streams and never unpacked to disk.
//
// Its heart is coverage: unknown is never absent. An object that is not in the
// snapshot is absent only if the snapshot covers its resource in its namespace,
// which takes the proof of a complete list (see Coverage).
package snapshot

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Snapshot is the world as a dump or a cluster showed it. It is immutable: what
// changes the world works on copies of the objects (see With).
type Snapshot struct {
	// Objects are sorted by object.Compare. No two have the same coordinates.
	Objects []*object.Object
	// Resources are the served resources as far as the snapshot tells.
	Resources *object.Resources
	// Gaps are what the snapshot does not cover, sorted.
	Gaps []Gap
	// Source says where the snapshot comes from.
	Source Source
	// Problems are remarks on the input that do not stop the work, sorted.
	Problems []Problem

	// withdrawn are resources that are supposed not to be served: see WithoutVersion.
	withdrawn       []object.Resource
	coverage        *Coverage
	missingIsAbsent bool
	// conditionless is true for a file in which no conditions were kept: see Conditionless.
	conditionless bool
	// latest is a time at which the cluster was still running, in seconds since 1970, as something
	// that is written all the time tells; 0 if nothing does.
	latest int64
	// doubts are why it is not known whether an owner exists, by uid: see doubt.
	doubts map[types.UID]string
	// owners are the objects that references mean, by uid: see findOwners.
	owners map[types.UID]*object.Object
	// successors are the uids of those that may exist under the name of an object.
	successors map[object.Ref][]types.UID
	// moments are nil where all was read at one.
	moments *moments
	// places are nil where the hint of an object is its place.
	places *places
}

// Source says where a snapshot comes from.
type Source struct {
	// Files are the inputs as the user named them.
	Files []string
	// KubernetesVersion is the gitVersion of the API server, in its own words; empty when no
	// file says it.
	KubernetesVersion string
	// VersionBounds is what is known of the version of a server that does not say it; see
	// Version.
	VersionBounds Version
	// TakenAt is the time of the dump as an RFC 3339 text: what it says itself, else the
	// latest time at which one of its Events, Leases or Nodes was written; empty when no
	// file says either.
	TakenAt string
	// ClusterUID is the uid of the namespace kube-system; empty when not seen.
	ClusterUID types.UID
	// Discovered tells that the discovery documents of the server were read, so
	// that the kinds it serves are known and not assumed.
	Discovered bool
	// Revision is the one of an etcd snapshot that was read; 0 for every other source, and
	// for several.
	Revision int64
	// Ignored counts the files that hold no objects: logs, tables, foreign formats.
	Ignored int
	// Server is the URL of the API server of a live cluster, Context the name that
	// the kubeconfig gives it. Both are empty for files, and are not written to them.
	Server, Context string
	// Namespaces are the only ones of a live cluster that were looked at, beside what is
	// in none; empty for all. They are not written to files: the gaps say so there.
	Namespaces []string
}

// Seconds is TakenAt in seconds since 1970; 0 when it is not known.
func (s Source) Seconds() int64 {
	t, err := time.Parse(time.RFC3339, s.TakenAt)
	if err != nil {
		return 0
	}
	return t.Unix()
}

// MissingUID is the start of the uid that is made up for an object without one:
// `missing-uid:<resource.group>/<namespace>/<name>`. Such an object can be found
// by its coordinates only; that its uid differs from the one in an owner
// reference proves nothing. (spec N11)
const MissingUID = "missing-uid:"

// New makes a snapshot of objects and of what is known about their coverage.
// Objects are taken over, brought to the preferred version of their resource,
// sorted and freed of duplicates. A nil coverage covers nothing; nil resources
// are BuiltinResources.
//
// It returns an error when the objects come from two clusters.
func New(objects []*object.Object, resources *object.Resources, coverage *Coverage, source Source) (*Snapshot, error) {
	if resources == nil {
		resources = BuiltinResources()
	}
	if coverage == nil {
		coverage = &Coverage{}
	}
	s := &Snapshot{Objects: objects, Resources: resources, Source: source, coverage: coverage}
	if err := s.settle(); err != nil {
		return nil, err
	}
	return s, nil
}

// settle brings the objects into their final form and derives what follows from
// them: identities, order, duplicates, problems, gaps.
func (s *Snapshot) settle() error {
	s.normalize()
	if err := s.deduplicate(); err != nil {
		return err
	}
	s.dropProjections()
	if err := s.reportDuplicateUIDs(s.withoutProjections(s.sharedUIDs())); err != nil {
		return err
	}
	s.number()
	s.Gaps = s.gapsOf()
	slices.SortFunc(s.Problems, compareProblems)
	return nil
}

// With is the same snapshot with other objects: what a simulation made of them.
// Resources, coverage, gaps, source and problems stay. The objects must have the
// preferred version of their resource; they are sorted when they are not.
func (s *Snapshot) With(objects []*object.Object) *Snapshot {
	c := *s
	c.Objects, c.places = objects, &places{}
	if !slices.IsSortedFunc(objects, compareObjects) {
		c.Objects = slices.Clone(objects)
		slices.SortFunc(c.Objects, compareObjects)
	}
	return &c
}

func compareObjects(a, b *object.Object) int { return object.Compare(a.Ref, b.Ref) }

// Covers reports whether the snapshot holds all objects of the resource in the
// namespace, so that one that is not there is absent. For cluster-scoped
// resources the namespace does not matter. For a namespaced one an empty
// namespace asks for all namespaces.
func (s *Snapshot) Covers(r object.Resource, namespace string) bool {
	if s.missingIsAbsent {
		return true
	}
	if !r.Namespaced {
		namespace = ""
	}
	return s.coverage.covers(r.GroupResource(), namespace)
}

// Conditionless reports whether the snapshot was read from a file in which no conditions were
// kept, as one of an earlier version: whether a node that is in it is ready, nothing can tell.
func (s *Snapshot) Conditionless() bool { return s.conditionless }

// MissingIsAbsent reports whether the user vouches that what the snapshot does not have is absent.
func (s *Snapshot) MissingIsAbsent() bool { return s.missingIsAbsent }

// Why says why the snapshot does not cover the resource in the namespace; empty
// when it does.
func (s *Snapshot) Why(r object.Resource, namespace string) string {
	if s.missingIsAbsent {
		return ""
	}
	if !r.Namespaced {
		namespace = ""
	}
	return s.coverage.why(r.GroupResource(), namespace)
}

// Find returns the object with these coordinates, whatever its uid; nil if there
// is none. It takes the preferred version of the resource, as the objects have.
func (s *Snapshot) Find(apiVersion, kind, namespace, name string) *object.Object {
	want := object.Ref{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name}
	i, _ := slices.BinarySearchFunc(s.Objects, want, func(o *object.Object, r object.Ref) int { return object.Compare(o.Ref, r) })
	if i < len(s.Objects) && s.Objects[i].WithoutUID() == want {
		return s.Objects[i]
	}
	return nil
}

// FindKind is Find for a kind that a rule names.
func (s *Snapshot) FindKind(k object.Kind, namespace, name string) *object.Object {
	ref := s.RefTo(k, namespace, name)
	return s.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
}

// RefTo names an object of a kind that a rule names, in the version that the snapshot has it in:
// an older server does not serve the one of the rules.
func (s *Snapshot) RefTo(k object.Kind, namespace, name string) object.Ref {
	ref := k.Ref(namespace, name)
	if r, ok := s.Resources.Preferred(k.GroupResource()); ok {
		ref.APIVersion = r.APIVersion()
	}
	return ref
}
