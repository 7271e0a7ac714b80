package snapshot

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// typeName is an apiVersion and a kind as written in an object.
type typeName struct{ apiVersion, kind string }

// canonical is the stored type of a typeName.
type canonical struct {
	typeName
	resource object.Resource
	noUID    tally
	noScope  tally
	noOwner  tally
}

// normalize gives each object its stored identity: the preferred version of its resource and the
// kind in its proper case. An object that a dump has in two versions of its API thus appears once.
func (s *Snapshot) normalize() {
	known := map[typeName]*canonical{}
	var order []*canonical
	var last *canonical
	var lastName typeName
	for _, o := range s.Objects {
		name := typeName{o.APIVersion, o.Kind}
		if last == nil || name != lastName {
			if last = known[name]; last == nil {
				last = s.canonicalOf(name)
				known[name] = last
				order = append(order, last)
			}
			lastName = name
		}
		if name != last.typeName {
			o.APIVersion, o.Kind = last.apiVersion, last.kind
		}
		if o.UID == "" {
			o.UID = makeUID(last.resource, o.Namespace, o.Name)
			if last.resource.Verbs.Has(object.Delete) {
				last.noUID.add(o.Ref)
			}
		}
		if slices.ContainsFunc(o.Owners, func(ref object.OwnerReference) bool { return ref.UID == "" }) {
			last.noOwner.add(o.Ref)
		}
		if last.resource.Served() && last.resource.Namespaced != (o.Namespace != "") {
			last.noScope.add(o.Ref)
		}
	}
	for _, c := range order {
		if c.noUID.count > 0 {
			s.Problems = append(s.Problems, c.noUID.problem(NoUID, "has no uid"))
		}
		if c.noOwner.count > 0 {
			s.Problems = append(s.Problems, c.noOwner.problem(NoOwnerUID, "names an owner without its uid"))
		}
		if c.noScope.count == 0 {
			continue
		}
		what := "has a namespace, but its kind is cluster-scoped"
		if c.resource.Namespaced {
			what = "has no namespace, but its kind is namespaced"
		}
		p := c.noScope.problem(WrongScope, what)
		s.Problems = append(s.Problems, p)
		// An owner could be looked up where it can't be found. (spec N16)
		s.coverage.Fail(c.resource.GroupResource(), "", reason.Partial, p.Message)
	}
}

func (s *Snapshot) canonicalOf(name typeName) *canonical {
	r, err := s.Resources.For(name.apiVersion, name.kind)
	if err != nil || !r.Served() {
		return &canonical{typeName: name, resource: object.Resource{Kind: name.kind, Name: strings.ToLower(name.kind), Group: object.GroupOf(name.apiVersion)}}
	}
	if stored, ok := s.Resources.Stored(r.GroupResource()); ok {
		r = stored
	}
	return &canonical{typeName: typeName{r.APIVersion(), r.Kind}, resource: r}
}

func makeUID(r object.Resource, namespace, name string) types.UID {
	return types.UID(MissingUID + r.GroupResource().String() + "/" + namespace + "/" + name)
}

// deduplicate sorts the objects and keeps one per coordinates: the one with the newest
// resourceVersion, or the last one read if that doesn't decide. Dumps contain objects twice
// (several files, several versions of one API), and two dumps of one cluster overlap.
// (spec N10, N19)
func (s *Snapshot) deduplicate() error {
	if !slices.IsSortedFunc(s.Objects, compareObjects) {
		slices.SortStableFunc(s.Objects, compareObjects)
	}
	kept := s.Objects[:0]
	replaced := 0
	for start := 0; start < len(s.Objects); {
		end := start + 1
		for end < len(s.Objects) && s.Objects[start].WithoutUID() == s.Objects[end].WithoutUID() {
			end++
		}
		newest, err := s.newest(s.Objects[start:end], &replaced)
		if err != nil {
			return err
		}
		kept = append(kept, newest)
		start = end
	}
	if replaced > mostReplaced {
		s.Problems = append(s.Problems, Problem{Kind: Replaced,
			Message: fmt.Sprintf("%d more objects were seen with several uids; the newest one was kept of each", replaced-mostReplaced)})
	}
	clear(s.Objects[len(kept):])
	s.Objects = kept
	return nil
}

// mostAlike is the maximum number of objects with the UID of another one. Each is recorded as a
// problem.
const mostAlike = 100_000

// mostReplaced is the number of objects with several UIDs that get a problem each. Nothing depends
// on these problems.
const mostReplaced = 1000

// newest returns the newest of several objects with the same coordinates. They are sorted by UID,
// and in the order of reading within one UID. It adds the number of objects that were replaced by
// one with another UID to replaced.
func (s *Snapshot) newest(same []*object.Object, replaced *int) (*object.Object, error) {
	best := same[0]
	for _, o := range same[1:] {
		if o.UID != best.UID {
			if isClusterIdentity(o) {
				return nil, fmt.Errorf("the inputs show two clusters: namespace kube-system has uid %q and %q", best.UID, o.UID)
			}
			if missingUID(best) != missingUID(o) {
				if missingUID(best) {
					best = o
				}
				continue
			}
			if *replaced++; *replaced <= mostReplaced {
				kept := "the newer one was kept"
				if compareVersions(o.ResourceVersion, best.ResourceVersion) == 0 {
					kept = fmt.Sprintf("which one is newer is unknown, and %q was kept", o.UID)
				}
				s.Problems = append(s.Problems, Problem{Kind: Replaced, Object: o.Ref,
					Message: fmt.Sprintf("%s was seen with uid %q and %q; %s", printable(o.Ref), best.UID, o.UID, kept)})
			}
		}
		if compareVersions(o.ResourceVersion, best.ResourceVersion) >= 0 {
			best = o
		}
	}
	if isClusterIdentity(best) && !missingUID(best) {
		if s.Source.ClusterUID != "" && s.Source.ClusterUID != best.UID {
			return nil, fmt.Errorf("the inputs show two clusters: namespace kube-system has uid %q and %q", s.Source.ClusterUID, best.UID)
		}
		s.Source.ClusterUID = best.UID
	}
	return best, nil
}

// isClusterIdentity reports whether the UID of the object identifies the cluster.
func isClusterIdentity(o *object.Object) bool {
	return o.Name == "kube-system" && o.Is(object.Namespace)
}

func missingUID(o *object.Object) bool { return strings.HasPrefix(string(o.UID), MissingUID) }

// compareVersions compares resourceVersions as numbers. It returns 0 if one of them is no number:
// the order is unknown.
func compareVersions(a, b string) int {
	if !isNumber(a) || !isNumber(b) {
		return 0
	}
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// reportDuplicateUIDs records different objects with the same UID as problems. Both stay: it is
// unknown which of them the collector would see.
func (s *Snapshot) reportDuplicateUIDs(groups [][]*object.Object) error {
	alike := 0
	for _, group := range groups {
		for _, second := range group[1:] {
			if alike++; alike > mostAlike {
				return fmt.Errorf("more than %d objects have the uid of another object, %q among them: this is not a dump of one cluster", mostAlike, second.UID)
			}
			s.Problems = append(s.Problems, Problem{Kind: DuplicateUID, Object: second.Ref,
				Message: fmt.Sprintf("%s has the uid %q of %s", printable(second.Ref), second.UID, printable(group[0].Ref))})
		}
	}
	return nil
}

// sharedUIDs returns the groups of objects with the same UID, in the order of the snapshot. It
// sorts hashes instead of filling a map, which takes a tenth of the memory for a million objects.
func (s *Snapshot) sharedUIDs() (groups [][]*object.Object) {
	type hashed struct {
		hash  uint64
		index int32
	}
	seed := maphash.MakeSeed()
	all := make([]hashed, len(s.Objects))
	for i, o := range s.Objects {
		all[i] = hashed{maphash.String(seed, string(o.UID)), int32(i)}
	}
	slices.SortFunc(all, func(a, b hashed) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.index, b.index))
	})
	for start := 0; start < len(all); {
		end := start + 1
		for end < len(all) && all[end].hash == all[start].hash {
			end++
		}
		if end-start > 1 {
			of := map[types.UID][]*object.Object{}
			for _, h := range all[start:end] {
				o := s.Objects[h.index]
				of[o.UID] = append(of[o.UID], o)
			}
			for _, group := range of {
				if len(group) > 1 {
					groups = append(groups, group)
				}
			}
		}
		start = end
	}
	slices.SortFunc(groups, func(a, b []*object.Object) int { return compareObjects(a[0], b[0]) })
	return groups
}

// A projection is a resource of an aggregated API server that shows the objects of another resource
// with their UIDs: an ImageStreamTag has the UID of its ImageStream. It is neither an owner nor a
// dependent, and is deleted along with its source. A snapshot omits its objects. The resource keeps
// only the verb get, so that a list of it that was not read is no gap.

// dropProjections omits the objects of known projections.
func (s *Snapshot) dropProjections() {
	known := map[schema.GroupResource]bool{}
	var stored storedKinds
	for _, r := range s.Resources.All() {
		of, ok := object.ProjectionOf(r.GroupResource())
		if !ok {
			continue
		}
		if source, ok := s.Resources.Preferred(of); !ok || !source.Served() {
			continue
		}
		if stored == nil {
			stored = s.storedKinds()
		}
		if !stored[r.GroupKind()] {
			known[r.GroupResource()] = true
		}
	}
	s.drop(known)
}

// withoutProjections omits the objects of resources that only show objects of another resource,
// judged by groups of objects with the same UID. It returns the other groups.
func (s *Snapshot) withoutProjections(groups [][]*object.Object) [][]*object.Object {
	if len(groups) == 0 {
		return nil
	}
	stored, shown := s.storedKinds(), map[typeName]int{}
	for _, group := range groups {
		sources := map[[2]string]bool{}
		for _, o := range group {
			if stored.has(o) {
				sources[[2]string{o.Namespace, o.Name}] = true
			}
		}
		for _, o := range group {
			if sources[[2]string{o.Namespace, o.Name}] && !stored.has(o) {
				shown[typeName{o.APIVersion, o.Kind}]++
			}
		}
	}
	if len(shown) == 0 {
		return groups
	}
	for _, o := range s.Objects {
		if name := (typeName{o.APIVersion, o.Kind}); shown[name] > 0 {
			shown[name]--
		} else if _, ok := shown[name]; ok {
			delete(shown, name) // it has an object with its own UID
		}
	}
	found := map[schema.GroupResource]bool{}
	for name := range shown {
		found[s.canonicalOf(name).resource.GroupResource()] = true
	}
	s.drop(found)
	for i, group := range groups {
		groups[i] = slices.DeleteFunc(group, func(o *object.Object) bool {
			_, ok := shown[typeName{o.APIVersion, o.Kind}]
			return ok
		})
	}
	return slices.DeleteFunc(groups, func(group []*object.Object) bool { return len(group) < 2 })
}

// storedKinds are the kinds, besides the built-in ones, that the API server is known to store:
// those of CRDs.
type storedKinds map[schema.GroupKind]bool

func (s *Snapshot) storedKinds() storedKinds {
	stored := storedKinds{}
	for _, d := range definitionsOf(s.Objects) {
		stored[schema.GroupKind{Group: d.Group, Kind: d.Kind}] = true
	}
	return stored
}

func (stored storedKinds) has(o *object.Object) bool {
	_, err := builtinResources().For(o.APIVersion, o.Kind)
	return err == nil || stored[schema.GroupKind{Group: object.GroupOf(o.APIVersion), Kind: o.Kind}]
}

// drop omits the objects of some resources and removes all verbs except get from them.
func (s *Snapshot) drop(resources map[schema.GroupResource]bool) {
	if len(resources) == 0 {
		return
	}
	kept := &object.Resources{}
	gone := map[typeName]bool{}
	for _, r := range s.Resources.All() {
		if resources[r.GroupResource()] {
			r.Verbs &= object.Get
			gone[typeName{r.APIVersion(), r.Kind}] = true
		}
		kept.Add(r)
	}
	s.Resources = kept
	s.Objects = slices.DeleteFunc(s.Objects, func(o *object.Object) bool { return gone[typeName{o.APIVersion, o.Kind}] })
}
