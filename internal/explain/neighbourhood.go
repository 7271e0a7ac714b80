package explain

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/graph"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// neighbourhood is the snapshot reduced to what can decide about the object: what
// is connected with it over owner references, what stands under the names that
// these references use, who protects any of that by using it, and what the other
// deleters of a cluster look at. Where content counts it is the whole snapshot.
func (q *question) neighbourhood() *snapshot.Snapshot {
	if q.withContent() {
		return q.snap
	}
	n := &neighbours{question: q, near: map[*object.Object]bool{}}
	n.visit(q.target)
	for len(n.open) > 0 {
		o := n.open[len(n.open)-1]
		n.open = n.open[:len(n.open)-1]
		n.namesakes(o)
		n.protectors(o)
	}
	var objects []*object.Object
	for _, o := range q.snap.Objects {
		if n.near[o] || actsOnOthers(o) {
			objects = append(objects, o)
		}
	}
	return q.snap.With(objects)
}

// neighbours are the objects of a neighbourhood while it grows.
type neighbours struct {
	*question
	near map[*object.Object]bool
	open []*object.Object
	// pods are all pods by namespace, once somebody has asked.
	pods map[string][]*object.Object
}

// visit adds an object and what is connected with it over owner references.
func (n *neighbours) visit(o *object.Object) {
	if o == nil || n.near[o] {
		return
	}
	n.near[o] = true
	n.open = append(n.open, o)
	g := n.collector.Graph()
	id, ok := g.Find(o.UID)
	if !ok {
		return
	}
	for _, v := range g.Walk([]graph.ID{id}, graph.Both, 0) {
		if x := g.Object(v.ID); !g.Virtual(v.ID) && !n.near[x] {
			n.near[x] = true
			n.open = append(n.open, x)
		}
	}
}

// namesakes visits what stands under the names of the owners.
func (n *neighbours) namesakes(o *object.Object) {
	for _, ref := range o.Owners {
		n.visit(n.named(ref, o.Namespace))
	}
}

// protectors visits who may keep a claim or volume by using it: the pods of the
// claim, those included of which it is not known what they use, and the claim of
// the volume. (semantics.md §7.1)
func (n *neighbours) protectors(o *object.Object) {
	switch {
	case o.Kind == "PersistentVolumeClaim" && o.Group() == "":
		for _, pod := range n.podsIn(o.Namespace) {
			facts := pod.Pod()
			if facts == nil || !facts.VolumesKnown || slices.ContainsFunc(facts.Claims, func(c object.Claim) bool { return c.Name == o.Name }) {
				n.visit(pod)
			}
		}
	case o.Volume() != nil && o.Volume().ClaimName != "":
		n.visit(n.snap.Find("v1", "PersistentVolumeClaim", o.Volume().ClaimNamespace, o.Volume().ClaimName))
	}
}

func (n *neighbours) podsIn(namespace string) []*object.Object {
	if n.pods == nil {
		n.pods = map[string][]*object.Object{}
		for _, o := range n.snap.Objects {
			if o.Kind == "Pod" && o.Group() == "" {
				n.pods[o.Namespace] = append(n.pods[o.Namespace], o)
			}
		}
	}
	return n.pods[namespace]
}

// withContent tells whether the end of the object hangs on objects that do not
// refer to it: it has content, or it is content of a namespace that is being
// deleted. Where objects share a uid, nobody knows who refers to whom.
func (q *question) withContent() bool {
	switch q.target.Kind {
	case "Namespace", "CustomResourceDefinition":
		return true
	}
	namespace := q.snap.Find("v1", "Namespace", "", q.target.Namespace)
	return namespace != nil && namespace.BeingDeleted() ||
		q.shares(func(snapshot.Problem) bool { return true })
}

// shares tells whether objects of the snapshot share a uid that is of interest.
func (q *question) shares(interest func(snapshot.Problem) bool) bool {
	return slices.ContainsFunc(q.snap.Problems, func(p snapshot.Problem) bool {
		return p.Kind == snapshot.DuplicateUID && interest(p)
	})
}

// named is the object that stands under the name of a reference, whatever its
// uid.
func (q *question) named(ref object.OwnerReference, namespace string) *object.Object {
	r, err := q.world.Resource(ref.APIVersion, ref.Kind)
	if err != nil {
		return nil
	}
	if !r.Namespaced {
		namespace = ""
	}
	preferred, ok := q.snap.Resources.Preferred(r.GroupResource())
	if !ok {
		return nil
	}
	return q.snap.Find(preferred.APIVersion(), preferred.Kind, namespace, ref.Name)
}

// actsOnOthers tells whether objects of the kind take part in deleting others
// that do not refer to them.
func actsOnOthers(o *object.Object) bool {
	switch o.Kind {
	case "Node", "Namespace", "CustomResourceDefinition":
		return true
	default:
		return false
	}
}
