package plan

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Unseen collects where an object that was not seen could change an answer. The zero
// value is nowhere.
type Unseen struct {
	everywhere bool
	namespaces map[string]bool
	last       string // of the namespaces
	kinds      map[kindIn]bool
	// open: the answer is not certain, or one of the kinds was not seen where it matters.
	open bool
}

// kindIn is one kind in one namespace.
type kindIn struct {
	schema.GroupResource
	namespace string
}

// Everywhere says that any object could.
func (u *Unseen) Everywhere() { u.everywhere = true }

// Doubt says that the answer is not certain anyway.
func (u *Unseen) Doubt() { u.open = true }

// In says that any object of a namespace could, as dependents of what is in it. Those of
// an object without a namespace may be anywhere.
func (u *Unseen) In(namespace string) {
	switch {
	case namespace == "":
		u.everywhere = true
	case u.namespaces == nil:
		u.namespaces, u.last = map[string]bool{namespace: true}, namespace
	case u.last != namespace:
		u.namespaces[namespace], u.last = true, namespace
	}
}

// Of says that objects of a kind could, in a namespace or, for a kind without, at all.
func (u *Unseen) Of(snap *snapshot.Snapshot, r object.Resource, namespace string) {
	if snap.Covers(r, namespace) || snap.KnowsAllKinds() && !served(snap, r) {
		return
	}
	u.open = true
	if !r.Namespaced {
		namespace = ""
	}
	if u.kinds == nil {
		u.kinds = map[kindIn]bool{}
	}
	u.kinds[kindIn{object.Storage(r.GroupResource()), namespace}] = true
}

// served reports whether objects of a kind can exist, in any version.
func served(snap *snapshot.Snapshot, r object.Resource) bool {
	_, ok := snap.Resources.Preferred(r.GroupResource())
	return ok
}

// Owners says that those owners of an object could that were not seen, and may exist.
func (u *Unseen) Owners(snap *snapshot.Snapshot, o *object.Object) {
	for _, ref := range o.Owners {
		r, err := snap.Resources.For(ref.APIVersion, ref.Kind)
		switch {
		case err != nil && object.MayBeCustom(object.GroupOf(ref.APIVersion)):
			u.Of(snap, object.CRD.Resource(), "")
		case err != nil, r.Namespaced && o.Namespace == "": // nobody looks for it
		case snap.Find(r.APIVersion(), r.Kind, o.Namespace, ref.Name) == nil && snap.Find(r.APIVersion(), r.Kind, "", ref.Name) == nil:
			u.Of(snap, r, o.Namespace)
		}
	}
}

// Gaps lists the gaps of a snapshot that touch one of the namespaces, as RelevantGaps
// does, and those that matter wherever they are; only the latter are marked so. Open
// reports whether there is any.
func (u *Unseen) Gaps(snap *snapshot.Snapshot, touches func(namespace string) bool) (gaps []report.Gap, open bool) {
	open = u.open
	eachGap(snap, func(g report.Gap, r object.Resource, known bool) {
		g.Matters = u.matters(snap, g, r, known)
		if g.Matters || touched(g, r, known, touches) {
			gaps = append(gaps, g)
			open = open || g.Matters
		}
	})
	return gaps, open
}

// matters reports whether a gap is where it matters. What nobody has defined is not
// known either: of kinds that CRDs define there may be some in every namespace.
func (u *Unseen) matters(snap *snapshot.Snapshot, g report.Gap, r object.Resource, known bool) bool {
	if u.everywhere {
		return true
	}
	if known && u.hasKind(object.Storage(r.GroupResource()), g.Namespace) {
		return true
	}
	switch {
	case !known:
		return len(u.namespaces) > 0
	case !r.Namespaced:
		return r.Is(object.CRD) && len(u.namespaces) > 0 && !snap.KnowsAllKinds()
	}
	if g.Namespace != "" {
		return u.namespaces[g.Namespace] && !snap.Covers(r, g.Namespace)
	}
	for ns := range u.namespaces {
		if !snap.Covers(r, ns) {
			return true
		}
	}
	return false
}

// hasKind reports whether objects of a kind could, in a namespace, or in any if it is empty.
func (u *Unseen) hasKind(gr schema.GroupResource, namespace string) bool {
	if namespace != "" {
		return u.kinds[kindIn{gr, namespace}]
	}
	for k := range u.kinds {
		if k.GroupResource == gr {
			return true
		}
	}
	return false
}

// RelevantGaps lists the gaps of a snapshot that touch one of the namespaces, all of
// which matter. The empty namespace stands for cluster-scoped objects, whose dependents
// may be anywhere. What the user declares to be absent is no gap.
func RelevantGaps(snap *snapshot.Snapshot, touches func(namespace string) bool) []report.Gap {
	var gaps []report.Gap
	eachGap(snap, func(g report.Gap, r object.Resource, known bool) {
		if touched(g, r, known, touches) {
			g.Matters = true
			gaps = append(gaps, g)
		}
	})
	return gaps
}

// UnseenContent lists the gaps that leave open what else goes with a namespace or a
// CustomResourceDefinition. Kinds that come and go by the minute are none.
func UnseenContent(snap *snapshot.Snapshot, of report.Ref) []report.Gap {
	var gaps []report.Gap
	eachGap(snap, func(g report.Gap, r object.Resource, known bool) {
		content := false
		switch {
		case of.Is(object.CRD):
			content = known && r.GroupResource().String() == of.Name && !snap.Covers(r, "")
		case of.Is(object.Namespace):
			content = (g.Namespace == "" || g.Namespace == of.Name) &&
				(!known || r.Namespaced && !snap.Covers(r, of.Name) && !Passing(report.Ref{APIVersion: r.APIVersion(), Kind: r.Kind}))
		}
		if content {
			gaps = append(gaps, g)
		}
	})
	return gaps
}

func touched(g report.Gap, r object.Resource, known bool, touches func(namespace string) bool) bool {
	clusterScoped := known && !r.Namespaced
	return touches("") || !clusterScoped && (g.Namespace == "" || touches(g.Namespace))
}

// eachGap visits the gaps of a snapshot with their resources, as far as these are known.
func eachGap(snap *snapshot.Snapshot, visit func(g report.Gap, r object.Resource, known bool)) {
	resources := map[[2]string]object.Resource{}
	for _, r := range snap.Resources.All() {
		resources[[2]string{r.APIVersion(), r.Name}] = r
	}
	for _, g := range snap.Gaps {
		r, known := resources[[2]string{g.APIVersion, g.Resource}]
		if !known || !snap.Covers(r, g.Namespace) {
			visit(report.Gap{APIVersion: g.APIVersion, Resource: g.Resource, Namespace: g.Namespace, Why: g.Why}, r, known)
		}
	}
}
