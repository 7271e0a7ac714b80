package graph

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Change is the difference between two lists of owner references, by UID.
type Change struct {
	Added   []object.OwnerReference
	Removed []object.OwnerReference
	// Changed has pairs of the old and the new reference.
	Changed [][2]object.OwnerReference
}

// Empty reports whether the lists are equal.
func (c Change) Empty() bool { return len(c.Added)+len(c.Removed)+len(c.Changed) == 0 }

// Compare returns the difference between two lists of references. Of several old references with
// one UID only the last counts. Of several new ones, the first is compared with it and the others
// count as added.
//
// Upstream: pkg/controller/garbagecollector/graph_builder.go referencesDiffs.
// Rule: spec §3.5 B2.
func Compare(old, next []object.OwnerReference) Change {
	var c Change
	if slices.Equal(old, next) && !repeated(next) {
		return c
	}
	met := make([]types.UID, 0, len(next))
	for _, ref := range next {
		before, ok := lastWith(old, ref.UID)
		if !ok || slices.Contains(met, ref.UID) {
			c.Added = append(c.Added, ref)
			continue
		}
		met = append(met, ref.UID)
		if before != ref {
			c.Changed = append(c.Changed, [2]object.OwnerReference{before, ref})
		}
	}
	for i, ref := range old {
		last, _ := lastWith(old[i:], ref.UID)
		if last == ref && !slices.Contains(met, ref.UID) && !hasUID(old[i+1:], ref.UID) {
			c.Removed = append(c.Removed, ref)
		}
	}
	return c
}

func lastWith(refs []object.OwnerReference, uid types.UID) (object.OwnerReference, bool) {
	for _, ref := range slices.Backward(refs) {
		if ref.UID == uid {
			return ref, true
		}
	}
	return object.OwnerReference{}, false
}

func hasUID(refs []object.OwnerReference, uid types.UID) bool {
	return slices.ContainsFunc(refs, func(o object.OwnerReference) bool { return o.UID == uid })
}

func repeated(refs []object.OwnerReference) bool {
	for i, ref := range refs {
		if hasUID(refs[i+1:], ref.UID) {
			return true
		}
	}
	return false
}

// Partition splits the dependents of a node by whether their references name the identity. matching
// have a reference with all of its coordinates, and a namespace from which they can name it.
// mismatched have a reference with its UID and other coordinates, or another namespace. A dependent
// with both kinds of references is in both lists.
//
// Upstream: pkg/controller/garbagecollector/graph_builder.go partitionDependents.
// Upstream: pkg/controller/garbagecollector/graph.go ownerReferenceCoordinates,
// ownerReferenceMatchesCoordinates.
// Rule: spec §3.6.1.
func (g *Graph) Partition(id ID, identity object.Ref) (matching, mismatched []ID) {
	g.EachDependent(id, func(d ID) bool {
		n := g.node(d)
		if identity.Namespace != "" && n.object.Namespace != identity.Namespace {
			mismatched = append(mismatched, d)
			return true
		}
		var match, mismatch bool
		for _, ref := range n.object.Owners {
			if ref.UID != identity.UID {
				continue
			}
			if ref.Names(identity) {
				match = true
			} else {
				mismatch = true
			}
		}
		if match {
			matching = append(matching, d)
		}
		if mismatch {
			mismatched = append(mismatched, d)
		}
		return true
	})
	return matching, mismatched
}

// Alternate returns the next identity by which the dependents name a virtual owner, after one of
// its identities was found absent: the smallest candidate greater than the absent one, else the
// smallest candidate.
//
// Upstream: pkg/controller/garbagecollector/graph_builder.go getAlternateOwnerIdentity.
// Rule: spec §3.6.4.
func (g *Graph) Alternate(dependents []ID, absent object.Ref) (object.Ref, bool) {
	return Alternate(g.objects(dependents), absent)
}

func (g *Graph) objects(ids []ID) []*object.Object {
	return object.Mapped(ids, func(id ID) *object.Object { return g.node(id).object })
}

// Alternate is Graph.Alternate for objects.
func Alternate(dependents []*object.Object, absent object.Ref) (object.Ref, bool) {
	clusterScoped := absent.Namespace == ""
	var first, next object.Ref
	var haveFirst, haveNext bool
	for _, d := range dependents {
		for _, ref := range d.Owners {
			if ref.UID != absent.UID {
				continue
			}
			if ref.Names(absent) && (clusterScoped || d.Namespace == absent.Namespace) {
				continue
			}
			candidate := ref.In(d.Namespace)
			if clusterScoped && ref.APIVersion == absent.APIVersion && ref.Kind == absent.Kind {
				candidate.Namespace = ""
			}
			if candidate == absent {
				continue
			}
			if !haveFirst || less(candidate, first) {
				first, haveFirst = candidate, true
			}
			if less(absent, candidate) && (!haveNext || less(candidate, next)) {
				next, haveNext = candidate, true
			}
		}
	}
	if haveNext {
		return next, true
	}
	return first, haveFirst
}

// less is upstream's order of identities, by kind first.
func less(a, b object.Ref) bool {
	return cmp.Or(
		strings.Compare(a.Kind, b.Kind),
		strings.Compare(a.APIVersion, b.APIVersion),
		strings.Compare(a.Namespace, b.Namespace),
		strings.Compare(a.Name, b.Name),
		strings.Compare(string(a.UID), string(b.UID)),
	) < 0
}
