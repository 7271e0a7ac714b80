package past

import (
	"cmp"
	"context"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// identity identifies one of the objects that had the same coordinates, one after the other.
type identity struct {
	object.Coordinates
	uid types.UID
}

func identityOf(r object.Ref) identity { return identity{r.Coordinates(), r.UID} }

// clusterState is the known state of a cluster at a revision. It is the engine's World and that of
// the other controllers.
type clusterState struct {
	resources *object.Resources
	objects   map[schema.GroupKind]map[object.Coordinates]*object.Object
	// absent are the coordinates that are known to have no object.
	absent map[object.Coordinates]bool
	// pods has the pods by namespace.
	pods map[string]map[object.Coordinates]*object.Object
	// inferred are objects with a state before their first change that was inferred from that
	// change.
	inferred map[identity]bool
}

func newClusterState(resources *object.Resources) *clusterState {
	return &clusterState{
		resources: resources, absent: map[object.Coordinates]bool{}, pods: map[string]map[object.Coordinates]*object.Object{}, inferred: map[identity]bool{},
		objects: map[schema.GroupKind]map[object.Coordinates]*object.Object{},
	}
}

// initialState returns the state at the beginning of p.
func initialState(p *Record, changes []Change) *clusterState {
	w := newClusterState(servedIn(p, changes))
	for _, o := range p.Unchanged {
		w.put(o)
	}
	for _, ref := range p.Absent {
		w.absent[ref.Coordinates()] = true
	}
	limited := map[schema.GroupKind]bool{}
	for _, l := range p.Limits {
		limited[l.Resource.GroupKind()] = true
	}
	seen := map[object.Coordinates]bool{}
	for i := range changes {
		c := &changes[i]
		at := c.Object.Ref.Coordinates()
		if seen[at] {
			continue
		}
		seen[at] = true
		w.drop(at)
		switch {
		case c.Type == object.Added:
			w.absent[at] = !limited[at.GroupKind()]
		case c.Old != nil:
			w.put(c.Old)
		case c.Type == object.Deleted, !c.Object.BeingDeleted():
			// A deletion without an earlier change shows the state from the beginning. An object
			// that is not being deleted was not before either.
			w.put(c.Object)
		case timeAfterStart(p) != 0 && c.Object.Deleted() > timeAfterStart(p):
			o := c.Object.Clone()
			life := o.Edit()
			life.DeletionTimestamp, life.GracePeriod = 0, nil
			w.put(o)
			w.inferred[identityOf(o.Ref)] = true
		default:
			delete(w.absent, at)
		}
	}
	return w
}

// timeAfterStart returns a time that is certainly after the beginning of the past, with an
// allowance for different clocks; 0 if unknown.
func timeAfterStart(p *Record) int64 {
	for _, tick := range p.Clock.Ticks() {
		if tick.Revision > p.From.Revision {
			return tick.Time + maxClockDifference
		}
	}
	return 0
}

func (w *clusterState) put(o *object.Object) {
	at := o.Ref.Coordinates()
	kind := at.GroupKind()
	if w.objects[kind] == nil {
		w.objects[kind] = map[object.Coordinates]*object.Object{}
	}
	if o.Is(object.Pod) {
		if w.pods[at.Namespace] == nil {
			w.pods[at.Namespace] = map[object.Coordinates]*object.Object{}
		}
		w.pods[at.Namespace][at] = o
	}
	w.objects[kind][at] = o
	delete(w.absent, at)
}

func (w *clusterState) drop(at object.Coordinates) {
	delete(w.objects[at.GroupKind()], at)
	if at.Kind == object.Pod.Kind && at.Group == "" {
		delete(w.pods[at.Namespace], at)
	}
}

// find returns the object at some coordinates. It returns nil and true if there is none, nil and
// false if that is unknown.
func (w *clusterState) find(at object.Coordinates) (o *object.Object, known bool) {
	o = w.objects[at.GroupKind()][at]
	return o, o != nil || w.absent[at]
}

// locate returns the coordinates that a reference names, by the resource that serves it.
func (w *clusterState) locate(ref object.Ref) (object.Coordinates, object.Resource, error) {
	r, err := w.resources.For(ref.APIVersion, ref.Kind)
	if err != nil {
		return ref.Coordinates(), r, err
	}
	at := object.Coordinates{Group: r.Group, Kind: r.Kind, Namespace: ref.Namespace, Name: ref.Name}
	if !r.Namespaced {
		at.Namespace = ""
	}
	return at, r, nil
}

// Resource maps an apiVersion and kind to the resource that serves it.
func (w *clusterState) Resource(apiVersion, kind string) (object.Resource, error) {
	return w.resources.For(apiVersion, kind)
}

// Get answers like an API server at that revision. Unknown objects are uncovered.
func (w *clusterState) Get(_ context.Context, ref object.Ref) (*object.Object, error) {
	at, r, err := w.locate(ref)
	switch {
	case err != nil:
		return nil, err
	case !r.Served():
		return nil, apierrors.NewNotFound(r.GroupResource(), ref.Name)
	case r.Namespaced && ref.Namespace == "":
		return nil, &object.NamespaceRequiredError{Ref: ref}
	}
	o, known := w.find(at)
	switch {
	case o != nil:
		return o, nil
	case known:
		return nil, apierrors.NewNotFound(r.GroupResource(), ref.Name)
	default:
		return nil, &object.UncoveredError{Ref: ref}
	}
}

// Resources returns the resources that were served at some time.
func (w *clusterState) Resources() *object.Resources { return w.resources }

// Objects returns all objects in a fixed order.
func (w *clusterState) Objects() []*object.Object {
	var list []*object.Object
	for _, ofKind := range w.objects {
		list = slices.AppendSeq(list, maps.Values(ofKind))
	}
	slices.SortFunc(list, func(a, b *object.Object) int { return object.Compare(a.Ref, b.Ref) })
	return list
}

// ObjectsOf returns the objects of one resource.
func (w *clusterState) ObjectsOf(gr schema.GroupResource, namespace string) []*object.Object {
	return w.Select(gr, namespace, func(*object.Object) bool { return true })
}

// Select returns the objects of one resource that match.
func (w *clusterState) Select(gr schema.GroupResource, namespace string, match func(*object.Object) bool) []*object.Object {
	r, ok := w.resources.Preferred(gr)
	if !ok {
		return nil
	}
	var list []*object.Object
	for _, o := range w.objects[r.GroupKind()] {
		if (namespace == "" || o.Namespace == namespace) && match(o) {
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(a, b *object.Object) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// Writes returns 0: nothing is written to the past.
func (*clusterState) Writes() uint64 { return 0 }
