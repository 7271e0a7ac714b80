package history

import (
	"context"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// place is where an object is stored, whatever its UID and version.
type place struct{ group, kind, namespace, name string }

// identity is one object among all that were in a place.
type identity struct {
	place
	uid types.UID
}

func placeOf(r object.Ref) place { return place{r.Group(), r.Kind, r.Namespace, r.Name} }

func identityOf(r object.Ref) identity { return identity{placeOf(r), r.UID} }

// world is a cluster as of a revision, as far as it is known.
type world struct {
	resources *object.Resources
	shelves   map[schema.GroupKind]map[place]*object.Object
	// absent are the places that are known to be empty.
	absent map[place]bool
	// pods are those of each namespace.
	pods map[string]map[place]*object.Object
	// guessed are objects of which only their first change tells what they were before it.
	guessed map[identity]bool
}

func emptyWorld(resources *object.Resources) *world {
	return &world{
		resources: resources, absent: map[place]bool{}, pods: map[string]map[place]*object.Object{}, guessed: map[identity]bool{},
		shelves: map[schema.GroupKind]map[place]*object.Object{},
	}
}

// worldAt is the world in which the history of p begins.
func worldAt(p *Past, changes []Change) *world {
	w := emptyWorld(servedIn(p, changes))
	for _, o := range p.Standing {
		w.put(o)
	}
	for _, ref := range p.Absent {
		w.absent[placeOf(ref)] = true
	}
	limited := map[schema.GroupKind]bool{}
	for _, l := range p.Limits {
		limited[schema.GroupKind{Group: l.Resource.Group, Kind: l.Resource.Kind}] = true
	}
	seen := map[place]bool{}
	for i := range changes {
		c := &changes[i]
		at := placeOf(c.Object.Ref)
		if seen[at] {
			continue
		}
		seen[at] = true
		w.drop(at)
		switch {
		case c.Type == object.Added:
			w.absent[at] = !limited[schema.GroupKind{Group: at.group, Kind: at.kind}]
		case c.Old != nil:
			w.put(c.Old)
		case c.Type == object.Deleted, !c.Object.BeingDeleted():
			// A deletion without a change before shows what was there all the time. And what
			// is not being deleted now was not before.
			w.put(c.Object)
		case began(p) != 0 && c.Object.Deleted() > began(p):
			o := c.Object.Clone()
			life := o.Edit()
			life.DeletionTimestamp, life.GracePeriod = 0, nil
			w.put(o)
			w.guessed[identityOf(o.Ref)] = true
		default:
			delete(w.absent, at)
		}
	}
	return w
}

// began is a time at which the past had begun for certain, give or take what clocks differ by;
// 0 where none is known.
func began(p *Past) int64 {
	for _, tick := range p.Clock.Ticks() {
		if tick.Revision > p.From.Revision {
			return tick.Time + apart
		}
	}
	return 0
}

func (w *world) put(o *object.Object) {
	at := placeOf(o.Ref)
	kind := schema.GroupKind{Group: at.group, Kind: at.kind}
	if w.shelves[kind] == nil {
		w.shelves[kind] = map[place]*object.Object{}
	}
	if o.Is(object.Pod) {
		if w.pods[at.namespace] == nil {
			w.pods[at.namespace] = map[place]*object.Object{}
		}
		w.pods[at.namespace][at] = o
	}
	w.shelves[kind][at] = o
	delete(w.absent, at)
}

func (w *world) drop(at place) {
	delete(w.shelves[schema.GroupKind{Group: at.group, Kind: at.kind}], at)
	if at.kind == object.Pod.Kind && at.group == "" {
		delete(w.pods[at.namespace], at)
	}
}

// find is what is in a place; nil and true where nothing is, nil and false where that is not
// known.
func (w *world) find(at place) (o *object.Object, known bool) {
	o = w.shelves[schema.GroupKind{Group: at.group, Kind: at.kind}][at]
	return o, o != nil || w.absent[at]
}

// locate is the place that a reference names, by the kind that serves it.
func (w *world) locate(ref object.Ref) (place, object.Resource, error) {
	r, err := w.resources.For(ref.APIVersion, ref.Kind)
	if err != nil {
		return placeOf(ref), r, err
	}
	at := place{r.Group, r.Kind, ref.Namespace, ref.Name}
	if !r.Namespaced {
		at.namespace = ""
	}
	return at, r, nil
}

// Resource maps an apiVersion and kind to the resource that serves it.
func (w *world) Resource(apiVersion, kind string) (object.Resource, error) {
	return w.resources.For(apiVersion, kind)
}

// Get answers as an API server would have at that revision. What is not known is not covered.
func (w *world) Get(_ context.Context, ref object.Ref) (*object.Object, error) {
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

// all lists what is there in a fixed order.
func (w *world) all() []*object.Object {
	var list []*object.Object
	for _, shelf := range w.shelves {
		for _, o := range shelf {
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(a, b *object.Object) int { return object.Compare(a.Ref, b.Ref) })
	return list
}

// witness shows the world to a controller and notes what it would delete.
type witness struct {
	*world
	due []*object.Object
}

// Resources are the resources that were served at some time.
func (w *witness) Resources() *object.Resources { return w.resources }

// Objects lists everything.
func (w *witness) Objects() []*object.Object { return w.all() }

// ObjectsOf lists the objects of one resource.
func (w *witness) ObjectsOf(gr schema.GroupResource, namespace string) []*object.Object {
	return w.Select(gr, namespace, func(*object.Object) bool { return true })
}

// Select lists the objects of one resource that match.
func (w *witness) Select(gr schema.GroupResource, namespace string, match func(*object.Object) bool) []*object.Object {
	r, ok := w.resources.Preferred(gr)
	if !ok {
		return nil
	}
	var list []*object.Object
	for _, o := range w.shelves[schema.GroupKind{Group: r.Group, Kind: r.Kind}] {
		if (namespace == "" || o.Namespace == namespace) && match(o) {
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(a, b *object.Object) int {
		if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	return list
}

// Writes is 0: nothing is written to the past.
func (*witness) Writes() uint64 { return 0 }

// Delete notes that the controller would delete the object.
func (w *witness) Delete(_ context.Context, ref object.Ref, _ metav1.DeleteOptions) error {
	if o, _ := w.find(placeOf(ref)); o != nil {
		w.due = append(w.due, o)
	}
	return nil
}

// DeleteCollection does nothing.
func (*witness) DeleteCollection(context.Context, object.Resource, string, labels.Selector, metav1.DeleteOptions) error {
	return nil
}

// DeleteStored does nothing.
func (*witness) DeleteStored(context.Context, schema.GroupResource, string) error { return nil }

// Update does nothing.
func (*witness) Update(_ context.Context, o *object.Object) (*object.Object, error) { return o, nil }

// Patch does nothing.
func (*witness) Patch(context.Context, object.Ref, object.Patch) error { return nil }

// Finalize does nothing.
func (*witness) Finalize(_ context.Context, o *object.Object) (*object.Object, error) { return o, nil }
