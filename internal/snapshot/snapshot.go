// Package snapshot represents what was seen of a cluster, and what was not.
//
// It reads the output of kubectl and of collectors of support dumps: files, directories and
// archives, recognised by their content. Archives are read as streams and never unpacked to disk.
//
// Its core is coverage: unknown is never absent. An object that is not in the snapshot is absent
// only if the snapshot covers its resource in its namespace, which requires the proof of a complete
// list (see Coverage).
package snapshot

import (
	"fmt"
	"iter"
	"slices"
	"sort"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Snapshot is the state of a cluster as a dump or a live cluster showed it. It is immutable: a
// simulation works on copies of the objects (see With).
type Snapshot struct {
	// Objects are sorted by object.Compare. No two have the same coordinates.
	Objects []*object.Object
	// Resources are the served resources, as far as known.
	Resources *object.Resources
	// Gaps are the uncovered resources, sorted.
	Gaps []Gap
	// Source says where the snapshot comes from.
	Source Source
	// Problems are remarks on the input that don't stop the reading, sorted.
	Problems []Problem

	// withdrawn are resources that are assumed not to be served: see WithoutVersion.
	withdrawn       []object.Resource
	coverage        *Coverage
	missingIsAbsent bool
	// conditionless is true for a file without conditions: see Conditionless.
	conditionless bool
	// latest is a time at which the cluster was still running, in seconds since 1970, by an object
	// that is written regularly; 0 if unknown.
	latest int64
	// doubts are the reasons why it is unknown whether an owner exists, by UID: see doubt.
	doubts map[types.UID]string
	// owners are the objects with a UID in references, by UID: see findOwners.
	owners map[types.UID]*object.Object
	// successors are the UIDs of owners that may exist under the name of an object.
	successors map[object.Ref][]types.UID
	// moments is nil if everything was read at one moment.
	moments *moments
	// places is nil if the hint of each object is its position.
	places *places
}

// Source says where a snapshot comes from.
type Source struct {
	// Files are the inputs as the user named them.
	Files []string
	// KubernetesVersion is the gitVersion of the API server, verbatim; empty if no file has it.
	KubernetesVersion string
	// VersionBounds are the bounds of the version of a server without KubernetesVersion; see
	// Version.
	VersionBounds Version
	// TakenAt is the time of the dump as an RFC 3339 text: the dump's own, or else the latest time
	// at which one of its Events, Leases or Nodes was written; empty if unknown.
	TakenAt string
	// ClusterUID is the UID of the namespace kube-system; empty if unknown.
	ClusterUID types.UID
	// Discovered is true if the discovery documents of the server were read, so that its kinds are
	// known and not assumed.
	Discovered bool
	// Revision is the revision of an etcd snapshot; 0 for other sources, and for several.
	Revision int64
	// Ignored is the number of files without objects: logs, tables, foreign formats.
	Ignored int
	// Server is the URL of the API server of a live cluster, Context its name in the kubeconfig.
	// Both are empty for files and are not written to them.
	Server, Context string
	// Namespaces are the only namespaces that were read of a live cluster, besides cluster-scoped
	// objects; empty for all. They are not written to files, which have the gaps instead.
	Namespaces []string
}

// Seconds returns TakenAt in seconds since 1970; 0 if it is unknown.
func (s Source) Seconds() int64 {
	t, err := time.Parse(time.RFC3339, s.TakenAt)
	if err != nil {
		return 0
	}
	return t.Unix()
}

// MissingUID is the prefix of the UID that is made up for an object without one:
// `missing-uid:<resource.group>/<namespace>/<name>`. Such an object can be found only by its
// coordinates. It proves nothing that its UID differs from the one in an owner reference.
// (spec N11)
const MissingUID = "missing-uid:"

// New returns a snapshot of objects with a coverage. It takes ownership of the objects, converts
// them to the preferred version of their resource, sorts them and removes duplicates. A nil
// coverage covers nothing; nil resources mean BuiltinResources.
//
// It returns an error if the objects come from two clusters.
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

// settle brings the objects into their final form and derives the rest: identities, order,
// duplicates, problems, gaps.
func (s *Snapshot) settle() error {
	s.normalize()
	if err := s.deduplicate(); err != nil {
		return err
	}
	s.dropProjections()
	s.completeInventories()
	if err := s.reportDuplicateUIDs(s.withoutProjections(s.sharedUIDs())); err != nil {
		return err
	}
	s.number()
	s.Gaps = s.gapsOf()
	slices.SortFunc(s.Problems, compareProblems)
	return nil
}

// completeInventories adds what the record of a Helm release has to the inventory that lacks it.
func (s *Snapshot) completeInventories() {
	for i, o := range s.Objects {
		inventory := o.Inventory()
		if inventory == nil || inventory.Record.Kind == "" {
			continue
		}
		if at := s.RecordOf(inventory); at != nil && at.HelmRelease() != nil && at.HelmRelease().Unread == "" {
			s.Objects[i] = o.Clone()
			s.Objects[i].Edit().Facts = inventory.WithRecord(at.HelmRelease())
		}
	}
}

// RecordOf returns the record of a Helm release that an inventory lacks; nil if it lacks none, or if that
// does not exist.
func (s *Snapshot) RecordOf(f *object.InventoryFacts) (record *object.Object) {
	if !f.LacksNewest() {
		return s.ObjectAt(f.Record)
	}
	kind, newest := object.Secret, int64(0)
	if f.Record.Kind == object.ConfigMap.Kind {
		kind = object.ConfigMap
	}
	for _, o := range s.In(kind.GroupResource(), f.Record.Namespace) {
		name, revision, ok := object.HelmRecordOf(o)
		if ok && revision > newest && object.HelmRecordPrefix+name+".v" == f.Record.Name {
			record, newest = o, revision
		}
	}
	return record
}

// With returns the same snapshot with other objects: the result of a simulation. Resources,
// coverage, gaps, source and problems stay. The objects must have the preferred version of their
// resource; they are sorted if necessary.
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

// Covers reports whether the snapshot has all objects of the resource in the namespace, so that any
// other is absent. For cluster-scoped resources the namespace doesn't matter. For a namespaced one,
// an empty namespace means all namespaces.
func (s *Snapshot) Covers(r object.Resource, namespace string) bool {
	if s.missingIsAbsent {
		return true
	}
	if !r.Namespaced {
		namespace = ""
	}
	return s.coverage.covers(r.GroupResource(), namespace)
}

// Conditionless reports whether the snapshot was read from a file without conditions, as those of
// an earlier version: it is then unknown whether its nodes are ready.
func (s *Snapshot) Conditionless() bool { return s.conditionless }

// MissingIsAbsent reports whether the user vouches that everything not in the snapshot is absent.
func (s *Snapshot) MissingIsAbsent() bool { return s.missingIsAbsent }

// Why returns why the snapshot doesn't cover the resource in the namespace; "" if it does.
func (s *Snapshot) Why(r object.Resource, namespace string) string {
	if s.missingIsAbsent {
		return ""
	}
	if !r.Namespaced {
		namespace = ""
	}
	return s.coverage.why(r.GroupResource(), namespace)
}

// Find returns the object with these coordinates, whatever its UID; nil if there is none.
// apiVersion must be the preferred version of the resource, as in Objects.
func (s *Snapshot) Find(apiVersion, kind, namespace, name string) *object.Object {
	want := object.Ref{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name}
	i, _ := slices.BinarySearchFunc(s.Objects, want, func(o *object.Object, r object.Ref) int { return object.Compare(o.Ref, r) })
	if i < len(s.Objects) && s.Objects[i].WithoutUID() == want {
		return s.Objects[i]
	}
	return nil
}

// FindKind is Find for a Kind.
func (s *Snapshot) FindKind(k object.Kind, namespace, name string) *object.Object {
	ref := s.RefTo(k, namespace, name)
	return s.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
}

// RefTo returns the reference to an object of a Kind, in the version that the snapshot uses: an
// older server may not serve the Kind's own.
func (s *Snapshot) RefTo(k object.Kind, namespace, name string) object.Ref {
	ref := k.Ref(namespace, name)
	if r, ok := s.Resources.Preferred(k.GroupResource()); ok {
		ref.APIVersion = r.APIVersion()
	}
	return ref
}

// Locate returns the reference to the coordinates in the version that the snapshot uses, without a
// uid, and the resource. It returns false if the kind is not known to be served.
func (s *Snapshot) Locate(c object.Coordinates) (object.Ref, object.Resource, bool) {
	r, ok := s.Resources.OfKind(c.GroupKind())
	if !ok {
		return object.Ref{}, object.Resource{}, false
	}
	stored, ok := s.Resources.Stored(r.GroupResource())
	ref := object.Ref{APIVersion: stored.APIVersion(), Kind: stored.Kind, Namespace: c.Namespace, Name: c.Name}
	if !stored.Namespaced {
		ref.Namespace = ""
	}
	return ref, stored, ok
}

// Unreadable reports whether the server is known not to serve the kind of an entry in its version.
func (s *Snapshot) Unreadable(e object.InventoryEntry) bool {
	apiVersion := schema.GroupVersion{Group: e.Group, Version: e.Version}.String()
	if e.Version == "" || !s.KnowsKindsOf(apiVersion) {
		return false
	}
	r, err := s.Resources.For(apiVersion, e.Kind)
	return err != nil || !r.Served()
}

// ObjectAt returns the object at the coordinates; nil if there is none.
func (s *Snapshot) ObjectAt(c object.Coordinates) *object.Object {
	ref, _, ok := s.Locate(c)
	if !ok {
		return nil
	}
	return s.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
}

// Missing is a group version with resources that a server could not name.
type Missing struct {
	GroupVersion string
	// Why is a text for people.
	Why string
}

// EveryResource is the Resource of a Gap for a group version that could not be discovered.
const EveryResource = "*"

// Listed returns a snapshot of the objects that a live server has listed. served are the discovered
// resources. missing are the group versions that discovery could not name: each is a gap. As with
// discovery documents, a definition adds its kinds only if discovery is incomplete. Listed takes
// ownership of the objects: they must not be shared.
func Listed(objects []*object.Object, served *object.Resources, missing []Missing, coverage *Coverage, source Source) (*Snapshot, error) {
	source.Discovered = true
	s := &Snapshot{
		Objects:   objects,
		Resources: resourcesOf(served, false, len(missing) == 0, objects, nil),
		Source:    source,
		coverage:  coverage,
	}
	for _, m := range missing {
		s.Problems = append(s.Problems, Problem{Kind: StaleDiscovery, Object: object.Ref{APIVersion: m.GroupVersion},
			Message: fmt.Sprintf("the server cannot name the resources of %q: %s", m.GroupVersion, m.Why)})
	}
	if err := s.settle(); err != nil {
		return nil, err
	}
	for _, m := range missing {
		s.Gaps = append(s.Gaps, Gap{APIVersion: m.GroupVersion, Resource: EveryResource, Why: why(reasonOf(m.Why), "discovery: "+m.Why)})
	}
	slices.SortFunc(s.Gaps, compareGaps)
	return s, nil
}

// ByKind yields the objects of each kind, in order. A snapshot has millions of objects of few
// kinds: callers can compute what depends only on the kind once.
func (s *Snapshot) ByKind() iter.Seq[[]*object.Object] {
	return func(yield func([]*object.Object) bool) {
		for rest := s.Objects; len(rest) > 0; {
			of := rest[0]
			n := sort.Search(len(rest), func(i int) bool { return rest[i].Kind != of.Kind || rest[i].APIVersion != of.APIVersion })
			if !yield(rest[:n]) {
				return
			}
			rest = rest[n:]
		}
	}
}

// OfType returns the objects of one version of a resource, by namespace and name.
func (s *Snapshot) OfType(r object.Resource) []*object.Object {
	first, _ := slices.BinarySearchFunc(s.Objects, object.Ref{APIVersion: r.APIVersion(), Kind: r.Kind}, func(o *object.Object, at object.Ref) int {
		return object.Compare(o.Ref, at)
	})
	rest := s.Objects[first:]
	return rest[:sort.Search(len(rest), func(i int) bool { return rest[i].Kind != r.Kind || rest[i].APIVersion != r.APIVersion() })]
}

// All returns the objects of a resource in all namespaces, by namespace and name.
func (s *Snapshot) All(gr schema.GroupResource) []*object.Object {
	r, ok := s.Resources.Stored(gr)
	if !ok {
		return nil
	}
	return s.OfType(r)
}

// In returns the objects of a resource in a namespace, by name. The namespace is empty for a
// cluster-scoped resource.
func (s *Snapshot) In(gr schema.GroupResource, namespace string) []*object.Object {
	all := s.All(gr)
	rest := all[sort.Search(len(all), func(i int) bool { return all[i].Namespace >= namespace }):]
	return rest[:sort.Search(len(rest), func(i int) bool { return rest[i].Namespace != namespace })]
}

// KnowsAllKinds reports whether the snapshot has all discovery documents of its server, so that an
// unmapped kind is not served. Without them it is merely unknown.
func (s *Snapshot) KnowsAllKinds() bool {
	return s.Source.Discovered && !slices.ContainsFunc(s.Problems, func(p Problem) bool { return p.Kind == StaleDiscovery })
}

// KnowsKindsOf reports whether the snapshot has all discovery documents of the group of an API version,
// so that an unmapped kind in it is not served. Documents of other groups may be missing.
func (s *Snapshot) KnowsKindsOf(apiVersion string) bool {
	return s.Source.Discovered && !slices.ContainsFunc(s.Problems, func(p Problem) bool {
		return p.Kind == StaleDiscovery && (p.Object.APIVersion == "" || p.Object.Group() == object.GroupOf(apiVersion))
	})
}

// CoversDependentsOf reports whether the snapshot has every object that may be a dependent of an
// owner: all objects of the kinds that the collector watches, in the namespace of the owner, or
// anywhere if it is cluster-scoped. Kinds that the server cannot discover don't count: the
// collector doesn't know them either.
func (s *Snapshot) CoversDependentsOf(owner object.Ref) bool {
	if s.missingIsAbsent || s.coverage.everything {
		return true
	}
	if !s.KnowsAllKinds() && !s.Covers(object.CRD.Resource(), "") {
		return false
	}
	for _, r := range s.Resources.All() {
		if !s.Resources.Monitored(r) || !r.Namespaced && owner.Namespace != "" {
			continue
		}
		if !s.Covers(r, owner.Namespace) {
			return false
		}
	}
	return true
}

// Cursor finds objects that are looked up in object.Compare order, or nearly so: it searches near
// the last result. In any other order it works like Find. It must be used by one goroutine.
type Cursor struct {
	objects []*object.Object
	at      int
}

// Cursor returns a Cursor that starts at the first object.
func (s *Snapshot) Cursor() *Cursor { return &Cursor{objects: s.Objects} }

// Find returns the object with the coordinates of a reference, whatever its UID; nil if there is
// none.
func (a *Cursor) Find(ref object.Ref) *object.Object {
	ref.UID = ""
	from, to := 0, len(a.objects)
	if a.at < len(a.objects) && object.Compare(a.objects[a.at].Ref, ref) < 0 {
		from = a.at + 1
		for step := 1; from+step < len(a.objects); step *= 2 {
			if object.Compare(a.objects[from+step-1].Ref, ref) >= 0 {
				to = from + step
				break
			}
		}
	} else {
		to = min(a.at+1, len(a.objects))
		for step := 1; to-step > 0; step *= 2 {
			if object.Compare(a.objects[to-step].Ref, ref) < 0 {
				from = to - step + 1
				break
			}
		}
	}
	i := from + sort.Search(to-from, func(i int) bool { return object.Compare(a.objects[from+i].Ref, ref) >= 0 })
	if i == len(a.objects) {
		return nil
	}
	a.at = i
	if a.objects[i].WithoutUID() == ref {
		return a.objects[i]
	}
	return nil
}

// Place returns the index in Objects of an object of the snapshot, in any of its versions; -1 if no
// object has these coordinates and this UID. The hint of the object mostly gives the index: without
// it, risk of 100,000 objects takes 1.5 times as long. It is safe for concurrent use.
func (s *Snapshot) Place(o *object.Object) int {
	if i := s.hinted(o); i >= 0 && i < len(s.Objects) && (s.Objects[i] == o || s.Objects[i].Ref == o.Ref) {
		return i
	}
	i, found := slices.BinarySearchFunc(s.Objects, o, compareObjects)
	if !found {
		return -1
	}
	return i
}

// number sets the hints of the objects to their positions.
func (s *Snapshot) number() {
	for i, o := range s.Objects {
		if n := uint32(i) + 1; o.Hint() != n {
			o.SetHint(n)
		}
	}
}

// hinted returns the index that the object may have. Its hint may come from another snapshot.
func (s *Snapshot) hinted(o *object.Object) int {
	switch {
	case o.Hint() == 0:
		return -1
	case s.places == nil:
		return int(o.Hint()) - 1
	default:
		return s.places.of(o.Hint(), s.Objects)
	}
}

// places are the hints of the objects of a derived snapshot, which are ascending there as well.
// They are collected on first use.
type places struct {
	once  sync.Once
	hints []uint32
}

func (p *places) of(hint uint32, objects []*object.Object) int {
	p.once.Do(func() {
		p.hints = make([]uint32, len(objects))
		for i, o := range objects {
			p.hints[i] = o.Hint()
		}
	})
	i, _ := slices.BinarySearch(p.hints, hint)
	return i
}
