package plan

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// adoption remembers where there is somebody who could adopt objects of a kind.
type adoption map[adoptionPlace]bool

type adoptionPlace struct{ apiVersion, kind, namespace string }

// mayBeAdopted tells whether somebody is there in the end, or may be, who takes an
// object over if his selector matches.
func (s *simulation) mayBeAdopted(o *object.Object) bool {
	resources := controllers.Adopters(o)
	if len(resources) == 0 {
		return false
	}
	at := adoptionPlace{o.APIVersion, o.Kind, o.Namespace}
	may, known := s.adoption[at]
	if !known {
		may = slices.ContainsFunc(resources, func(r object.Resource) bool { return s.mayLive(r, o.Namespace) })
		if s.adoption == nil {
			s.adoption = adoption{}
		}
		s.adoption[at] = may
	}
	return may
}

// mayLive tells whether an object of the resource is or may be in the namespace that
// nobody deletes.
func (s *simulation) mayLive(r object.Resource, namespace string) bool {
	return !s.snap.Covers(r, namespace) ||
		len(s.recorder.Select(r.GroupResource(), namespace, func(o *object.Object) bool { return !o.BeingDeleted() })) > 0
}
