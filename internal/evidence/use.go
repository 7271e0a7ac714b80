package evidence

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Use says what uses an object that a finalizer protects.
type Use struct {
	// Users are known to use it. Possible are objects of a kind that may use it.
	Users, Possible []object.Ref
	// Counted is the number of further users by its own status, if not all users were read.
	Counted int
	// Unseen is true if there may be more users: the kinds of users are unknown, or lists are
	// incomplete.
	Unseen bool
}

// UseOf returns what uses an object that a finalizer protects while it is in use. It returns false
// for other finalizers, and for those of Kubernetes, whose controllers are simulated.
func (s *Surroundings) UseOf(o *object.Object, name string) (Use, bool) {
	usage, applies := finalizer.UsageOf(o, name, s.snap.Resources)
	if !applies || OfManager(name) {
		return Use{}, false
	}
	u := Use{Unseen: len(usage.Kinds) == 0}
	for _, kind := range usage.Kinds {
		for _, r := range s.snap.Resources.All() {
			u.Unseen = u.Unseen || r.Group == kind.Group && r.Kind == kind.Kind && !s.snap.Covers(r, "")
		}
		for _, user := range s.objectsOf(kind) {
			uses, known := s.uses(user, o)
			switch {
			case known && uses, usage.By != nil && usage.By(o, user):
				u.Users = append(u.Users, user.Ref)
			case !known && usage.By == nil:
				u.Possible = append(u.Possible, user.Ref)
			}
		}
	}
	if shown := s.Shown(o); shown != nil && u.Unseen {
		u.Counted = max(0, shown.Users-len(u.Users))
	}
	return u, true
}

// objectsOf returns the objects of a kind.
func (s *Surroundings) objectsOf(kind schema.GroupKind) []*object.Object {
	if s.ofKind == nil {
		s.ofKind = map[schema.GroupKind][]*object.Object{}
		for _, o := range s.snap.Objects {
			k := schema.GroupKind{Group: o.Group(), Kind: o.Kind}
			s.ofKind[k] = append(s.ofKind[k], o)
		}
	}
	return s.ofKind[kind]
}
