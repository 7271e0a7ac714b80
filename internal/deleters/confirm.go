package deleters

import (
	"golang.org/x/sync/errgroup"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// readsAtOnce is the number of concurrent reads for one check.
const readsAtOnce = 16

// empty returns an error unless the server confirms that a namespace is empty.
//
// Upstream: pkg/controller/namespace/deletion/namespaced_resources_deleter.go deleteAllContentForGroupVersionResource.
func (w *world) empty(ns *object.Object) error {
	var all errgroup.Group
	all.SetLimit(readsAtOnce)
	rs := w.Resources()
	for _, r := range rs.All() {
		preferred, _ := rs.Preferred(r.GroupResource())
		if !r.Namespaced || r.Version != preferred.Version || !r.Verbs.Has(object.List|object.Delete) || object.Storage(r.GroupResource()) != r.GroupResource() {
			continue
		}
		all.Go(func() error {
			n := 0
			if err := w.read(r, ns.Name, func(*object.Object) { n++ }); err != nil {
				return err
			}
			if n > 0 {
				return conflict(ns, "there are "+r.GroupResource().String()+" that no watch has shown yet")
			}
			return nil
		})
	}
	return all.Wait()
}

// confirm returns an error unless the server confirms that the cache has everything that may use a
// protected object, before its protection is removed.
//
// Upstream: pkg/controller/volume/pvcprotection/pvc_protection_controller.go askAPIServer.
func (w *world) confirm(o *object.Object) error {
	k, namespace := object.Pod, o.Namespace
	switch {
	case o.Is(object.PVC):
	case o.Is(object.PV):
		k, namespace = object.PVC, ""
	default:
		return nil
	}
	l, err := w.list(w.ctx, kube.Place{Resource: k.Resource(), Namespace: namespace})
	if err != nil {
		return err
	}
	// The decision was made with the state at the beginning of the pass.
	if generation, _ := w.store.now(); generation != w.generation || !w.store.reached(l) {
		return conflict(o, "there are "+k.Plural+" that were not looked at yet")
	}
	return nil
}
