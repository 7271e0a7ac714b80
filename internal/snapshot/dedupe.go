package snapshot

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// deduplicate sorts the objects and keeps one of each coordinates: the one with
// the newest resourceVersion, or the one read last if that does not decide.
// Dumps hold objects twice (several files, several versions of one API), and two
// dumps of one cluster overlap. (spec N10, N19)
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

// mostAlike is how many objects may have the uid of another one. Each is doubtful by
// itself, and remembered.
const mostAlike = 100_000

// sortInOrder sorts objects, and leaves equal ones in the order of reading. A
// stable sort in place takes several times as long for a million objects.
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

// mostReplaced is how many objects with several uids are remarked on one by one: nothing
// follows from these remarks.
const mostReplaced = 1000

// newest picks one of several objects with the same coordinates. They stand in
// the order of their uids, and of reading within one uid.
// Of those that were replaced by one with another uid it adds to the count.
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

// isClusterIdentity reports whether the uid of the object identifies the cluster.
func isClusterIdentity(o *object.Object) bool {
	return o.Name == "kube-system" && o.Is(object.Namespace)
}

func missingUID(o *object.Object) bool { return strings.HasPrefix(string(o.UID), MissingUID) }

// compareVersions compares resourceVersions as numbers. It answers 0 when one of
// them is not a number: nothing is known then.
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

// reportDuplicateUIDs finds different objects with the same uid. Both stay: which of them the
// collector would see is not known.
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

// sharedUIDs returns the objects of each uid that several have, in the order of the snapshot. It
// sorts hashes instead of filling a map, which for a million objects costs a tenth of the memory.
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
