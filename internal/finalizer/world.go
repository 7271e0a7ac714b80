package finalizer

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// World is a snapshot in which many objects are judged. What the judgements ask for is
// looked up in it, and each index is built when it is first asked for. It is for one
// goroutine.
type World struct {
	snap *snapshot.Snapshot

	pods    *podsByClaim
	claims  map[place][]*object.Object
	jobs    map[types.UID]*object.Object
	content map[string]*crowd
	kinds   map[schema.GroupKind]*crowd
}

// In is the world of a snapshot.
func In(snap *snapshot.Snapshot) *World { return &World{snap: snap} }

// Judge lists why the finalizers must not be taken off the object, as far as the
// user has not lifted it. Names that the object has twice count once.
func (w *World) Judge(o *object.Object, names []string, allow Allow) []Refusal {
	j := judgement{World: w, o: o, allow: allow}
	for _, name := range names {
		j.finalizer = name
		j.judge()
	}
	return j.refusals
}

// crowd is a number of objects, of which the first are named.
type crowd struct {
	first []object.Ref
	n     int
}

func (c *crowd) add(ref object.Ref) {
	if c.n++; len(c.first) < most {
		c.first = append(c.first, ref)
	}
}

// podsByClaim are the pods that use claims, on a node or not, finished or not.
type podsByClaim struct {
	users map[place]*crowd
	// hidden are the namespaces with pods that do not show their volumes.
	hidden map[string]bool
}

// place is where a claim is.
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

// claim is the claim at a place, with a uid unless that is empty; nil if there is none.
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

// job is the Job with a uid; nil if there is none.
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

// contentOf are the objects in a namespace.
func (w *World) contentOf(namespace string) crowd {
	if w.content == nil {
		w.content = map[string]*crowd{}
		for _, o := range w.snap.Objects {
			join(w.content, o.Namespace, o.Ref)
		}
	}
	return at(w.content, namespace)
}

// instancesOf are the objects of a kind.
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
