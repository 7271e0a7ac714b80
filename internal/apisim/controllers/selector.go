package controllers

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Selector is an optional interface of a World: it finds few objects among many faster than by
// sorting all of them.
type Selector interface {
	// Select lists the objects of ObjectsOf that match, in the same order.
	Select(gr schema.GroupResource, namespace string, match func(*object.Object) bool) []*object.Object
}

// podsThat lists the pods that match, by namespace and name.
func podsThat(w World, match func(*object.Object) bool) []*object.Object {
	return objectsThat(w, object.Pod.GroupResource(), match)
}

// objectsThat lists the objects of a resource that match, by namespace and name.
func objectsThat(w World, gr schema.GroupResource, match func(*object.Object) bool) []*object.Object {
	return objectsIn(w, gr, "", match)
}

// objectsIn is objectsThat for one namespace. An empty namespace means all.
func objectsIn(w World, gr schema.GroupResource, namespace string, match func(*object.Object) bool) []*object.Object {
	if s, ok := w.(Selector); ok {
		return s.Select(gr, namespace, match)
	}
	var list []*object.Object
	for _, o := range w.ObjectsOf(gr, namespace) {
		if match(o) {
			list = append(list, o)
		}
	}
	return list
}

// numberOf counts the objects of a resource. That is cheaper than listing them.
func numberOf(w World, gr schema.GroupResource) int {
	n := 0
	objectsThat(w, gr, func(*object.Object) bool {
		n++
		return false
	})
	return n
}
