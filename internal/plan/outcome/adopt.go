package outcome

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// adopters caches, by kind and namespace, whether a controller exists that can adopt such objects.
type adopters map[adoptionPlace]bool

type adoptionPlace struct{ apiVersion, kind, namespace string }

// mayBeAdopted reports whether, at the end of the run, a controller exists or may exist that adopts o
// if its selector matches.
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

// mayLive reports whether the namespace has, or may have, an object of the resource that is not being
// deleted.
func (j *Judge) mayLive(r object.Resource, namespace string) bool {
	return !j.Snap.Covers(r, namespace) || slices.ContainsFunc(j.Snap.In(r.GroupResource(), namespace), func(o *object.Object) bool {
		now := j.Tracks.Now(o)
		return now != nil && !now.BeingDeleted()
	})
}
