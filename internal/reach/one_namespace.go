package reach

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// OneNamespace is a snapshot of one namespace and of the cluster-scoped objects.
type OneNamespace struct {
	snap      *snapshot.Snapshot
	namespace string
	// watched has the objects that the collector watches, by uid. It knows others only from
	// references.
	watched map[types.UID]*object.Object
	// inventories finds what controllers delete with the objects.
	inventories *finalizer.Inventories
	// insufficient is why the part is not enough for any simulation; empty if it may be enough.
	insufficient string
}

// InNamespace returns snap as a snapshot of one namespace.
func InNamespace(snap *snapshot.Snapshot, namespace string) *OneNamespace {
	p := &OneNamespace{snap: snap, namespace: namespace, inventories: finalizer.NewInventories(snap), watched: make(map[types.UID]*object.Object, len(snap.Objects))}
	for _, o := range snap.Objects {
		if r, err := snap.Resources.For(o.APIVersion, o.Kind); err == nil && snap.Resources.Monitored(r) {
			p.watched[o.UID] = o
		}
		if p.insufficient == "" {
			p.insufficient = whyFarReaching(o)
		}
	}
	if why := p.whyAmbiguous(); why != "" {
		p.insufficient = why
	}
	return p
}

// whyFarReaching returns why the deletion of an object depends on objects that may be anywhere;
// empty if it does not.
func whyFarReaching(o *object.Object) string {
	switch {
	case o.HasFinalizer(object.Foreground):
		return fmt.Sprintf("%s waits for its dependents, including every object that refers to its uid", o.Ref)
	case o.HasFinalizer(object.Orphan):
		return fmt.Sprintf("%s releases its dependents, including every object that refers to its uid", o.Ref)
	case o.Is(object.CRD) && o.BeingDeleted():
		return fmt.Sprintf("%s is being deleted, with its objects in all namespaces", o.Ref)
	}
	return ""
}

// whyAmbiguous returns why the identities of the part are unreliable; empty if they are not.
func (p *OneNamespace) whyAmbiguous() string {
	i := slices.IndexFunc(p.snap.Problems, func(problem snapshot.Problem) bool {
		return problem.Kind == snapshot.DuplicateUID || problem.Kind == snapshot.NoUID || problem.Kind == snapshot.NoOwnerUID
	})
	if i < 0 {
		return ""
	}
	return p.snap.Problems[i].Message
}

// WhyPlanDiffers returns why a plan of the part may differ from that of the whole cluster; empty if
// all effects of the delete are the same. Effects that would happen anyway elsewhere are ignored.
func (p *OneNamespace) WhyPlanDiffers(plan *report.Plan) string {
	switch {
	case plan.Seed.Verb != "delete" || plan.Seed.Policy != "Background":
		return "the delete waits for dependents or releases them, including every object that refers to the owner's uid"
	case plan.Exploration != nil && plan.Exploration.Requested:
		return "an exploration of all event orders was requested"
	case p.insufficient != "":
		return p.insufficient
	}
	for _, t := range plan.Seed.Targets {
		if why := p.whyConnected(t); why != "" {
			return why
		}
		for _, o := range p.connectedWith(p.watched[t.UID]) {
			if why := p.whyOwnerMissing(o); why != "" {
				return why
			}
		}
	}
	judged := make(map[types.UID]bool, len(plan.Effects))
	for i := range plan.Effects {
		e := &plan.Effects[i]
		judged[e.Object.UID] = true
		switch {
		case e.Object.Namespace != p.namespace:
			return fmt.Sprintf("%s is affected and may have dependents in every namespace", e.Object)
		case e.Outcome == report.Unknown:
			return fmt.Sprintf("the outcome of %s is unknown", e.Object)
		case e.Outcome == report.Blocked && !e.AlreadyHappening:
			return fmt.Sprintf("%s stays, and so does every object that refers to its uid", e.Object)
		}
		if e.AlreadyHappening {
			continue
		}
		if why := p.whyConnected(e.Object); why != "" {
			return why
		}
		if why := p.whyDeploys(p.watched[e.Object.UID]); why != "" {
			return why
		}
	}
	if why := p.whyUndecided(judged); why != "" {
		return why
	}
	return whyLeftOut(plan.Gaps)
}

// whyDeploys returns why objects in any namespace may be deleted with an object: a deployer deletes what
// it has applied. It is empty if none does.
func (p *OneNamespace) whyDeploys(o *object.Object) string {
	if p.inventories.MayBeMadeFor(o) {
		return fmt.Sprintf("a controller deletes what it made for %s, in any namespace", o.Ref)
	}
	for _, name := range o.Finalizers() {
		if finalizer.DeployerOf(o.Ref, name) != nil || finalizer.DeletesOthers(name) {
			return fmt.Sprintf("the controller of %s deletes other objects with it, in any namespace", o.Ref)
		}
	}
	return ""
}

// whyDeployed returns why an object may be deleted with one in another namespace for which a deployer has
// applied it. It is empty if all deployers were seen, and none has.
func (p *OneNamespace) whyDeployed(o *object.Object) string {
	if finalizer.FoundByLabel(o) {
		return fmt.Sprintf("a controller may find %s by its labels, and delete it with an object in another namespace", o.Ref)
	}
	for _, kind := range object.DeployerKinds() {
		if _, served := p.snap.Resources.Preferred(kind.GroupResource()); served && !p.snap.Covers(kind.Resource(), "") {
			return fmt.Sprintf("%s may have been applied for an object of kind %s in another namespace, and is deleted with it", o.Ref, kind.Kind)
		}
		for _, from := range p.snap.Objects {
			if inventory := from.Inventory(); from.Is(kind) && (inventory == nil || inventory.Unread != "" || inventory.Lists(o.Coordinates())) {
				return fmt.Sprintf("%s may have been applied for %s, and is deleted with it", o.Ref, from.Ref)
			}
		}
	}
	return ""
}

// whyUndecided returns why the outcome of an object is unknown, with or without the delete: its
// owners are unknown, and it was not found to be garbage. It is empty if there is no such object.
func (p *OneNamespace) whyUndecided(judged map[types.UID]bool) string {
	for _, o := range p.snap.Objects {
		if p.watched[o.UID] == nil || judged[o.UID] {
			continue
		}
		if why := p.whyOwnerMissing(o); why != "" {
			return why
		}
	}
	return ""
}

// whyConnected returns why an object may be connected with others that the part lacks.
func (p *OneNamespace) whyConnected(ref object.Ref) string {
	o := p.watched[ref.UID]
	if o == nil || o.Namespace != p.namespace {
		return fmt.Sprintf("%s is not in namespace %s, or the garbage collector does not watch it", ref, p.namespace)
	}
	if o.Is(object.PodDisruptionBudget) || o.Kind == "Usage" && o.Group() == "protection.crossplane.io" {
		return fmt.Sprintf("%s may obstruct a deletion in another namespace, which goes on without it", ref)
	}
	return p.whyOwnerMissing(o)
}

// whyOwnerMissing returns why an owner of an object is not in the part: it is gone, the reference
// is wrong, or the garbage collector does not watch it. Only the whole cluster shows which, and whether the owner
// waits for the object.
func (p *OneNamespace) whyOwnerMissing(o *object.Object) string {
	for _, ref := range o.Owners {
		owner := p.watched[ref.UID]
		if owner == nil || owner.Name != ref.Name || !strings.EqualFold(owner.Kind, ref.Kind) ||
			owner.Group() != object.GroupOf(ref.APIVersion) || owner.Namespace != "" && owner.Namespace != o.Namespace {
			return fmt.Sprintf("%s refers to %s %s, which was not seen", o.Ref, ref.Kind, ref.Name)
		}
	}
	return ""
}

// connectedWith returns o and all objects connected with it, with or without references.
func (p *OneNamespace) connectedWith(o *object.Object) []*object.Object {
	dependents := map[types.UID][]*object.Object{}
	for _, d := range p.snap.Objects {
		for _, ref := range d.Owners {
			dependents[ref.UID] = append(dependents[ref.UID], d)
		}
	}
	return object.Reached([]*object.Object{o}, func(o *object.Object) []*object.Object {
		return slices.Concat(p.implicitlyConnected(o), dependents[o.UID], p.watchedOwners(o))
	})
}

// watchedOwners returns the owners of an object that the garbage collector watches.
func (p *OneNamespace) watchedOwners(o *object.Object) []*object.Object {
	var found []*object.Object
	for _, ref := range o.Owners {
		if owner := p.watched[ref.UID]; owner != nil {
			found = append(found, owner)
		}
	}
	return found
}

// whyLeftOut returns why gaps that were left by choice matter.
func whyLeftOut(gaps []report.Gap) string {
	if slices.ContainsFunc(gaps, isLeftOut) {
		return "dependents may be in other namespaces"
	}
	return ""
}

// WhyExplanationDiffers returns why an explanation from the part may differ from that of the whole
// cluster; empty if it is the same. The dependents that it lists are in the namespace, and there
// are no others.
func (p *OneNamespace) WhyExplanationDiffers(e *report.Explanation) string {
	switch {
	case p.insufficient != "":
		return p.insufficient
	case e.Verdict == report.Undecidable:
		return fmt.Sprintf("the outcome of %s is unknown", e.Object)
	}
	if why := p.whyConnected(e.Object); why != "" {
		return why
	}
	if space := p.snap.FindKind(object.Namespace, "", p.namespace); space != nil && space.BeingDeleted() {
		return fmt.Sprintf("%s is being deleted", space.Ref)
	}
	if why := p.whyForegroundMatters(e); why != "" {
		return why
	}
	if why := p.whyContainerMatters(p.watched[e.Object.UID]); why != "" {
		return why
	}
	for _, o := range p.connectedWith(p.watched[e.Object.UID]) {
		if why := p.whyOwnerMissing(o); why != "" {
			return why
		}
		if why := whyImplicitlyOwned(o); why != "" {
			return why
		}
	}
	for _, o := range p.connectedWith(p.watched[e.Object.UID]) {
		if why := cmp.Or(p.whyDeploys(o), p.whyDeployed(o)); why != "" {
			return why
		}
	}
	return whyLeftOut(e.Gaps)
}

// WhyWaitsDiffer returns why the whole cluster may show other causes of the explained object's
// waits than the part; empty if it does not. Only the whole cluster shows which controller removes
// a finalizer. Every link of a chain has to be in the part like the object itself. The chains of
// causes that are only counted (More) are unknown.
func (p *OneNamespace) WhyWaitsDiffer(e *report.Explanation) string {
	for i := range e.WaitsFor {
		f := &e.WaitsFor[i]
		if f.More > 0 {
			return fmt.Sprintf("%s waits for several objects", e.Object)
		}
		for _, l := range f.Chain {
			if l.Namespace == "" {
				continue // all of these are in the part
			}
			if why := p.whyConnected(l.Ref); why != "" {
				return why
			}
			for _, o := range p.connectedWith(p.watched[l.UID]) {
				if why := p.whyOwnerMissing(o); why != "" {
					return why
				}
			}
		}
	}
	return ""
}

// whyForegroundMatters returns why foreground deletes matter: one was tried of an owner, direct or
// not, and a background delete of that owner does not delete the object. Such an owner may wait for
// any object with its uid in a reference.
func (p *OneNamespace) whyForegroundMatters(e *report.Explanation) string {
	taken := map[types.UID]bool{e.Object.UID: true}
	for _, t := range e.TakenBy {
		taken[t.Object.UID] = t.Policy == "Background" && !t.Unknown && !t.Later
	}
	for _, o := range object.Reached([]*object.Object{p.watched[e.Object.UID]}, p.watchedOwners) {
		if !taken[o.UID] {
			return fmt.Sprintf("a delete of %s was tried in the foreground", o.Ref)
		}
	}
	return ""
}

// whyContainerMatters returns why it matters when a namespace or definition is finally gone, and
// not only that it is deleted. A definition is gone only after its last object in any namespace.
func (p *OneNamespace) whyContainerMatters(o *object.Object) string {
	groups := map[string]bool{}
	for _, x := range p.connectedWith(o) {
		groups[x.Group()] = true
		for _, ref := range x.Owners {
			groups[object.GroupOf(ref.APIVersion)] = true
			if owner := p.watched[ref.UID]; owner != nil && owner.IsContainer() {
				return fmt.Sprintf("%s is deleted once %s is gone", x.Ref, owner.Ref)
			}
		}
	}
	for _, x := range p.snap.Objects {
		_, group, _ := strings.Cut(x.Name, ".")
		if x.IsContainer() && len(x.Owners) > 0 && (x.Name == p.namespace || groups[group]) {
			return fmt.Sprintf("%s has owners and is deleted with them", x.Ref)
		}
	}
	return ""
}

// whyImplicitlyOwned returns why the end of a cluster-scoped object depends on objects other than
// its owners, which may be anywhere; empty if it does not.
func whyImplicitlyOwned(o *object.Object) string {
	switch {
	case o.Volume() != nil && o.Volume().ClaimName != "":
		return fmt.Sprintf("%s belongs to a PVC in namespace %s", o.Ref, o.Volume().ClaimNamespace)
	case o.Is(object.IPAddress):
		return fmt.Sprintf("%s is deleted with a Service, which may be in any namespace", o.Ref)
	case o.Is(object.ServiceCIDR):
		return fmt.Sprintf("%s waits for the addresses of Services in all namespaces", o.Ref)
	case o.Is(object.APIService):
		return fmt.Sprintf("%s is deleted once its CRDs are gone", o.Ref)
	}
	return ""
}

// implicitlyConnected returns the objects of the namespace that are connected with o without a
// reference: one is deleted with the other, or o waits for them. Endpoints are deleted with the
// Service of the same name, a token with its ServiceAccount. A claim that is being deleted waits
// for pods.
func (p *OneNamespace) implicitlyConnected(o *object.Object) []*object.Object {
	var found []*object.Object
	add := func(kind object.Kind, namespace, name string) {
		if x := p.snap.FindKind(kind, namespace, name); x != nil && x.Namespace == o.Namespace {
			found = append(found, x)
		}
	}
	addThose := func(belongs func(x *object.Object) bool) {
		found = append(found, object.Filtered(p.snap.Objects, func(x *object.Object) bool {
			return x.Namespace == o.Namespace && belongs(x)
		})...)
	}
	if owner, ok := o.ImplicitOwner(); ok {
		add(owner.Kind, owner.Namespace, owner.Name)
	}
	switch {
	case o.Is(object.Service): // its addresses are not in the namespace
		add(object.Endpoints, o.Namespace, o.Name)
	case o.Is(object.Endpoints), o.Is(object.ServiceAccount):
		addThose(func(x *object.Object) bool {
			owner, ok := x.ImplicitOwner()
			return ok && o.Is(owner.Kind) && owner.Name == o.Name
		})
	case o.BeingDeleted() && (o.Is(object.PVC) || o.Is(object.ResourceClaim)):
		addThose(func(x *object.Object) bool { return x.Is(object.Pod) })
	}
	return found
}
