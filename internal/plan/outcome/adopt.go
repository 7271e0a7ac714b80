package outcome

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// adopters remember where there is somebody who could adopt objects of a kind.
type adopters map[adoptionPlace]bool

type adoptionPlace struct{ apiVersion, kind, namespace string }

// mayBeAdopted reports whether somebody is there in the end, or may be, who takes an
// object over if his selector matches.
func (j *Judge) mayBeAdopted(o *object.Object) bool {
	resources := controllers.Adopters(o)
	if len(resources) == 0 {
		return false
	}
	at := adoptionPlace{o.APIVersion, o.Kind, o.Namespace}
	may, known := j.adopters[at]
	if !known {
		may = slices.ContainsFunc(resources, func(r object.Resource) bool { return j.mayLive(r, o.Namespace) })
		if j.adopters == nil {
			j.adopters = adopters{}
		}
		j.adopters[at] = may
	}
	return may
}

// mayLive reports whether an object of the resource is or may be in the namespace that
// nobody deletes.
func (j *Judge) mayLive(r object.Resource, namespace string) bool {
	return !j.Snap.Covers(r, namespace) || slices.ContainsFunc(j.Snap.In(r.GroupResource(), namespace), func(o *object.Object) bool {
		now := j.Tracks.Now(o)
		return now != nil && !now.BeingDeleted()
	})
}
