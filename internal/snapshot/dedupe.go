package snapshot

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// deduplicate sorts the objects and keeps one per coordinates: the one with the newest
// resourceVersion, or the last one read if that doesn't decide. Dumps contain objects twice
// (several files, several versions of one API), and two dumps of one cluster overlap.
// (spec N10, N19)
func (s *Snapshot) deduplicate() error {
	if !slices.IsSortedFunc(s.Objects, compareObjects) {
		sortInOrder(s.Objects)
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

// sortInOrder is a stable sort. A stable sort in place takes several times as long for a million
// objects.
func sortInOrder(objects []*object.Object) {
	type read struct {
		o     *object.Object
		index int
	}
	all := make([]read, len(objects))
	for i, o := range objects {
		all[i] = read{o, i}
	}
	slices.SortFunc(all, func(a, b read) int {
		if c := compareObjects(a.o, b.o); c != 0 {
			return c
		}
		return a.index - b.index
	})
	for i := range all {
		objects[i] = all[i].o
	}
}

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
				s.Problems = append(s.Problems, Problem{Kind: Replaced, Object: o.Ref,
					Message: fmt.Sprintf("%s was seen with uid %q and %q; the newer one was kept", printable(o.Ref), best.UID, o.UID)})
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

func isNumber(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// reportDuplicateUIDs records different objects with the same UID as problems. Both stay: it is
// unknown which of them the collector would see.
func (s *Snapshot) reportDuplicateUIDs(groups [][]*object.Object) error {
	alike := 0
	for _, group := range groups {
		for _, second := range group[1:] {
			if alike++; alike > mostAlike {
				return fmt.Errorf("more than %d objects have the uid of another object, %q among them: that is no dump of one cluster", mostAlike, second.UID)
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
		switch {
		case a.hash < b.hash:
			return -1
		case a.hash > b.hash:
			return 1
		default:
			return int(a.index) - int(b.index)
		}
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
