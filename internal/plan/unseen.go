package plan

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Unseen collects the kinds and namespaces in which an unseen object could change an answer. The
// zero value is empty.
type Unseen struct {
	everywhere bool
	namespaces map[string]bool
	last       string // last namespace added
	kinds      map[namespacedKind]bool
	// uncertain is true if the answer is uncertain, or if one of the kinds was not seen where it
	// matters.
	uncertain bool
}

// namespacedKind is one kind in one namespace.
type namespacedKind struct {
	schema.GroupResource
	namespace string
}

// Everywhere adds all objects.
func (u *Unseen) Everywhere() { u.everywhere = true }

// Doubt marks the answer as uncertain.
func (u *Unseen) Doubt() { u.uncertain = true }

// In adds all objects of a namespace, as possible dependents of its content. An empty namespace
// adds all objects, because dependents of a cluster-scoped object may be in any namespace.
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

// Of adds the objects of a kind in a namespace, unless the snapshot covers them or the kind is not
// served. The namespace is ignored for cluster-scoped kinds.
func (u *Unseen) Of(snap *snapshot.Snapshot, r object.Resource, namespace string) {
	if snap.Covers(r, namespace) || snap.KnowsKindsOf(r.APIVersion()) && !served(snap, r) {
		return
	}
	u.uncertain = true
	if !r.Namespaced {
		namespace = ""
	}
	if u.kinds == nil {
		u.kinds = map[namespacedKind]bool{}
	}
	u.kinds[namespacedKind{object.Storage(r.GroupResource()), namespace}] = true
}

// served reports whether objects of a kind can exist, in any version.
func served(snap *snapshot.Snapshot, r object.Resource) bool {
	_, ok := snap.Resources.Preferred(r.GroupResource())
	return ok
}

// Owners adds the owners of an object that were not seen and may exist.
func (u *Unseen) Owners(snap *snapshot.Snapshot, o *object.Object) {
	for _, ref := range o.Owners {
		r, err := snap.Resources.For(ref.APIVersion, ref.Kind)
		switch {
		case err != nil && object.MayBeCustom(object.GroupOf(ref.APIVersion)):
			u.Of(snap, object.CRD.Resource(), "")
		case err != nil, r.Namespaced && o.Namespace == "", snap.Covers(r, o.Namespace): // the collector does not look for it, or it was seen
		case snap.Find(r.APIVersion(), r.Kind, o.Namespace, ref.Name) == nil && snap.Find(r.APIVersion(), r.Kind, "", ref.Name) == nil:
			u.Of(snap, r, o.Namespace)
		}
	}
}

// Gaps returns the gaps of a snapshot that touch one of the namespaces, as RelevantGaps does, and
// those in the collected kinds and namespaces. Only the latter are marked as Matters. open reports
// whether the answer is uncertain or any gap matters.
func (u *Unseen) Gaps(snap *snapshot.Snapshot, touches func(namespace string) bool) (gaps []report.Gap, open bool) {
	open = u.uncertain
	eachGap(snap, func(g report.Gap, r object.Resource, known bool) {
		g.Matters = u.matters(snap, g, r, known)
		if g.Matters || gapTouches(g, r, known, touches) {
			gaps = append(gaps, g)
			open = open || g.Matters
		}
	})
	return gaps, open
}

// matters reports whether a gap is in a collected kind or namespace. If CRDs were not seen, objects
// of kinds that they define may be in every namespace.
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

// hasKind reports whether objects of a kind were added for a namespace, or for any if namespace is
// empty.
func (u *Unseen) hasKind(gr schema.GroupResource, namespace string) bool {
	if namespace != "" {
		return u.kinds[namespacedKind{gr, namespace}]
	}
	for k := range u.kinds {
		if k.GroupResource == gr {
			return true
		}
	}
	return false
}

// RelevantGaps returns the gaps of a snapshot that touch one of the namespaces, and marks all of
// them as Matters. The empty namespace means cluster-scoped objects, which may have dependents in
// any namespace. Kinds that the user declares to be absent are no gaps.
func RelevantGaps(snap *snapshot.Snapshot, touches func(namespace string) bool) []report.Gap {
	var gaps []report.Gap
	eachGap(snap, func(g report.Gap, r object.Resource, known bool) {
		if gapTouches(g, r, known, touches) {
			g.Matters = true
			gaps = append(gaps, g)
		}
	})
	return gaps
}

// UnseenContent returns the gaps in the content of a namespace or a CustomResourceDefinition, which
// is deleted with it. Short-lived kinds don't count. See Passing.
func UnseenContent(snap *snapshot.Snapshot, of object.Ref) []report.Gap {
	var gaps []report.Gap
	eachGap(snap, func(g report.Gap, r object.Resource, known bool) {
		content := false
		switch {
		case of.Is(object.CRD):
			content = known && r.GroupResource().String() == of.Name && !snap.Covers(r, "")
		case of.Is(object.Namespace):
			content = (g.Namespace == "" || g.Namespace == of.Name) &&
				(!known || r.Namespaced && !snap.Covers(r, of.Name) && !Passing(object.Ref{APIVersion: r.APIVersion(), Kind: r.Kind}))
		}
		if content {
			gaps = append(gaps, g)
		}
	})
	return gaps
}

func gapTouches(g report.Gap, r object.Resource, known bool, touches func(namespace string) bool) bool {
	clusterScoped := known && !r.Namespaced
	return touches("") || !clusterScoped && (g.Namespace == "" || touches(g.Namespace))
}

// eachGap calls visit with each gap of a snapshot and its resource. known is false if the resource
// is not in the snapshot.
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

// Around adds the unseen objects, other than owners, with which an object is deleted: its
// namespace, the CRD of its kind, the node of a pod, the ServiceAccount of a token.
func (u *Unseen) Around(snap *snapshot.Snapshot, o *object.Object) {
	if o.Namespace != "" && !apisim.Immortal(o.Namespace) {
		u.addObject(snap, object.Namespace, "", o.Namespace)
	}
	if object.MayBeCustom(o.Group()) {
		u.Of(snap, object.CRD.Resource(), "")
	}
	owner, hasOwner := o.ImplicitOwner()
	switch {
	case o.Pod() != nil && o.Pod().NodeName != "":
		u.addObject(snap, object.Node, "", o.Pod().NodeName)
	case hasOwner:
		u.addObject(snap, owner.Kind, owner.Namespace, owner.Name)
	case o.Is(object.IPAddress): // its Service is unknown
		u.Of(snap, object.Service.Resource(), "")
	case o.RegisteredForCRDs(): // only these APIServices are deleted with a CRD
		u.Of(snap, object.CRD.Resource(), "")
	}
}

// Deployers adds the objects for which a deployer may have applied an object, if their kinds are
// served and were not seen.
func (u *Unseen) Deployers(snap *snapshot.Snapshot, o *object.Object) {
	if finalizer.FoundByLabel(o) {
		u.Everywhere()
	}
	if kind, ok := finalizer.BoundTo(o); ok && served(snap, kind.Resource()) {
		u.Of(snap, kind.Resource(), "")
	}
	for _, kind := range object.DeployerKinds() {
		if served(snap, kind.Resource()) {
			u.Of(snap, kind.Resource(), "")
		}
	}
}

// Above adds the unseen objects with which an object or one of its owners, at any distance, could
// be deleted. If one of these is being deleted, it may wait for unseen objects that it owns or
// contains, so these are added too.
func (u *Unseen) Above(snap *snapshot.Snapshot, o *object.Object) {
	u.addAbove(snap, o, map[*object.Object]bool{})
}

func (u *Unseen) addAbove(snap *snapshot.Snapshot, o *object.Object, met map[*object.Object]bool) {
	if met[o] {
		return
	}
	met[o] = true
	u.Owners(snap, o)
	u.Around(snap, o)
	switch {
	case !o.BeingDeleted():
	case o.Is(object.Namespace):
		u.In(o.Name)
	default:
		u.In(o.Namespace)
	}
	for _, ref := range o.Owners {
		for _, ns := range []string{o.Namespace, ""} {
			if owner := snap.Find(ref.APIVersion, ref.Kind, ns, ref.Name); owner != nil {
				u.addAbove(snap, owner, met)
			}
		}
	}
}

// addObject adds an object that may exist and was not seen.
func (u *Unseen) addObject(snap *snapshot.Snapshot, kind object.Kind, namespace, name string) {
	if name != "" && snap.FindKind(kind, namespace, name) == nil {
		u.Of(snap, kind.Resource(), namespace)
	}
}

// Follows reports whether an object may be deleted with objects other than its owners, its
// namespace and its node.
func Follows(o *object.Object) bool {
	_, hasOwner := o.ImplicitOwner()
	return hasOwner || o.Volume() != nil || o.Is(object.IPAddress) || o.RegisteredForCRDs()
}

// LeaderOf returns the object that an object of the same namespace is deleted with, if there is
// exactly one: the Service of Endpoints, the Endpoints of a slice that mirrors them, the
// ServiceAccount of a token. It returns nil for other objects, and if the leader was not seen.
func LeaderOf(snap *snapshot.Snapshot, o *object.Object) *object.Object {
	owner, ok := o.ImplicitOwner()
	if !ok || owner.Namespace != o.Namespace {
		return nil
	}
	return snap.FindKind(owner.Kind, owner.Namespace, owner.Name)
}
