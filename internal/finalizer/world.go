package finalizer

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// World judges many objects of one snapshot. Its indexes are built on first use. It is not safe for
// concurrent use.
type World struct {
	snap *snapshot.Snapshot

	pods    *podsByClaim
	claims  map[place][]*object.Object
	jobs    map[types.UID]*object.Object
	content map[string]*crowd
	kinds   map[schema.GroupKind]*crowd
}

// In returns the World of a snapshot.
func In(snap *snapshot.Snapshot) *World { return &World{snap: snap} }

// Judge returns why the finalizers must not be removed from the object, without the refusals that
// allow lifts. Duplicate names count once.
func (w *World) Judge(o *object.Object, names []string, allow Allow) []Refusal {
	j := judgement{World: w, o: o, allow: allow}
	for _, name := range names {
		j.finalizer = name
		j.judge()
	}
	return j.refusals
}

// crowd counts objects and keeps the first few.
type crowd struct {
	first []object.Ref
	n     int
}

func (c *crowd) add(ref object.Ref) {
	if c.n++; len(c.first) < most {
		c.first = append(c.first, ref)
	}
}

// podsByClaim indexes the pods by the claims that they use, whether scheduled or finished or not.
type podsByClaim struct {
	users map[place]*crowd
	// hidden are the namespaces with pods that do not show their volumes.
	hidden map[string]bool
}

// place is the namespace and name of a claim.
type place struct{ namespace, name string }

func (w *World) podsByClaim() *podsByClaim {
	if w.pods != nil {
		return w.pods
	}
	w.pods = &podsByClaim{users: map[place]*crowd{}, hidden: map[string]bool{}}
	for _, o := range w.snap.Objects {
		if !o.Is(object.Pod) {
			continue
		}
		facts := o.Pod()
		if facts == nil || !facts.VolumesKnown {
			w.pods.hidden[o.Namespace] = true
			continue
		}
		counted := map[string]bool{}
		for _, c := range facts.Claims {
			if !counted[c.Name] {
				counted[c.Name] = true
				join(w.pods.users, place{o.Namespace, c.Name}, o.Ref)
			}
		}
	}
	return w.pods
}

// claim returns the claim at a place, with the uid unless that is empty; nil if there is none.
func (w *World) claim(at place, uid types.UID) *object.Object {
	if w.claims == nil {
		w.claims = map[place][]*object.Object{}
		for _, o := range w.snap.Objects {
			if o.Is(object.PVC) {
				in := place{o.Namespace, o.Name}
				w.claims[in] = append(w.claims[in], o)
			}
		}
	}
	for _, o := range w.claims[at] {
		if uid == "" || o.UID == uid {
			return o
		}
	}
	return nil
}

// job returns the Job with a uid; nil if there is none.
func (w *World) job(uid types.UID) *object.Object {
	if w.jobs == nil {
		w.jobs = map[types.UID]*object.Object{}
		for _, o := range w.snap.Objects {
			if o.Is(object.Job) && w.jobs[o.UID] == nil {
				w.jobs[o.UID] = o
			}
		}
	}
	return w.jobs[uid]
}

// contentOf returns the objects in a namespace.
func (w *World) contentOf(namespace string) crowd {
	if w.content == nil {
		w.content = map[string]*crowd{}
		for _, o := range w.snap.Objects {
			join(w.content, o.Namespace, o.Ref)
		}
	}
	return at(w.content, namespace)
}

// instancesOf returns the objects of a kind.
func (w *World) instancesOf(k schema.GroupKind) crowd {
	if w.kinds == nil {
		w.kinds = map[schema.GroupKind]*crowd{}
		for _, o := range w.snap.Objects {
			join(w.kinds, schema.GroupKind{Group: o.Group(), Kind: o.Kind}, o.Ref)
		}
	}
	return at(w.kinds, k)
}

func join[K comparable](crowds map[K]*crowd, k K, ref object.Ref) {
	if crowds[k] == nil {
		crowds[k] = &crowd{}
	}
	crowds[k].add(ref)
}

func at[K comparable](crowds map[K]*crowd, k K) crowd {
	if c := crowds[k]; c != nil {
		return crowd{slices.Clip(c.first), c.n}
	}
	return crowd{}
}
