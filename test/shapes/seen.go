package shapes

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

func strangeUIDs(w *world) {
	w.uid = w.words
	oneNamespace(w)
}

// metadata is what a list of metadata shows: which claims a pod uses, and on which node it
// runs, is not known.
func metadata(w *world) {
	oneNamespace(w)
	for _, o := range w.objects {
		if o.Is(object.Pod) {
			o.Lifecycle = nil
		}
	}
}

// listed is what `kubectl get deployments,replicasets,pods` shows of a namespace.
func listed(w *world) {
	w.n = w.n * 11 / 10 // an eleventh are claims, volumes and nodes
	oneNamespace(w)
	w.coverage = &snapshot.Coverage{}
	kinds := []object.Kind{object.Deployment, object.ReplicaSet, object.Pod}
	for _, k := range kinds {
		w.coverage.Add(k.GroupResource(), w.namespace)
	}
	w.objects = slices.DeleteFunc(w.objects, func(o *object.Object) bool {
		return o.Namespace != w.namespace || !slices.ContainsFunc(kinds, o.Is)
	})
}
