package finalizer

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Deployer is a controller that deletes an inventory of other objects behind its finalizer: what it has
// applied for one of its own objects, what that object is bound to, or what it has defined.
type Deployer struct {
	// Kind is the kind of its objects. The zero Kind is any kind. Finalizers are those behind which it
	// deletes.
	Kind       object.Kind
	Finalizers []string
	// Inventory says, for people, how the deleted objects are found. Source is the function that deletes
	// them.
	Inventory, Source string
	// Waves is true if it deletes one wave after the other, each when nothing that it has applied is
	// being deleted, and its finalizer stays until all of them are gone. Otherwise it deletes all at
	// once, and removes its finalizer unless a delete is refused.
	Waves bool
	// AllOrNone is true if it deletes nothing as long as the kind of an entry is not served. Otherwise it
	// deletes the others. Either way its finalizer stays.
	AllOrNone bool
	// Waits is true if it deletes all at once, and its finalizer stays until all of them are gone.
	Waits bool
	// DeleteAlone is the command of its tool that deletes one of its objects without what it has deployed,
	// Suspend the one after which a delete keeps that. NAMESPACE and NAME stand for those of the object. Empty
	// if there is none.
	DeleteAlone, Suspend string
	// Restored is when it creates what it has applied again, if its object says so: a phrase. Empty for never.
	Restored string
	// Assumption must hold for its deletes: a sentence without a full stop.
	Assumption string

	// assumes reports whether the Assumption is needed for an object; nil: always.
	assumes func(snap *snapshot.Snapshot, from *object.Object) bool
	// policy returns the propagation policy of its deletes for a finalizer; nil: always Background.
	policy func(finalizer string) metav1.DeletionPropagation
	// tracks reports whether an object counts as applied for the object from; nil: every one.
	tracks func(from, o *object.Object) bool
	// doubts returns why it is unknown whether an object that is listed counts as applied for the object from;
	// empty if it is known. tracks is false for it. nil: always known.
	doubts func(from, o *object.Object) string
	// keeps reports whether it leaves an object that counts as applied; nil: none.
	keeps func(o *object.Object) bool
	// refersBack is true if what an object of the inventory says decides whether it is deleted.
	refersBack bool
	// more finds what is deleted in addition to what the object lists; nil: nothing.
	more func(v *Inventories, listed *object.InventoryFacts) []object.InventoryEntry
	// members finds the inventory of an object; nil: the object lists it, as object.InventoryFacts.
	members func(v *Inventories, from *object.Object) object.InventoryFacts
}

// DeployerOf returns the deployer that deletes the inventory of an object before it removes a
// finalizer; nil if there is none.
func DeployerOf(of object.Ref, finalizer string) *Deployer {
	for i := range deployers {
		if d := &deployers[i]; (d.Kind.Kind == "" || of.Is(d.Kind)) && slices.Contains(d.Finalizers, finalizer) {
			return d
		}
	}
	return nil
}

// DeployerOfObject returns the deployer that deletes the inventory of an object, by its finalizers;
// nil if there is none.
func DeployerOfObject(o *object.Object) *Deployer {
	for _, name := range o.Finalizers() {
		if d := DeployerOf(o.Ref, name); d != nil {
			return d
		}
	}
	return nil
}

// DeployerAssumption returns the Assumption of the deployer of an object; empty if it has none, or if the
// snapshot shows that it holds.
func DeployerAssumption(snap *snapshot.Snapshot, o *object.Object) string {
	if d := DeployerOfObject(o); d != nil && (d.assumes == nil || d.assumes(snap, o)) {
		return d.Assumption
	}
	return ""
}

// MayOrphan returns what decides whether the controller of an owner that is being deleted removes the owner
// references of a dependent first: a sentence without a full stop. That controller removes the finalizer from the
// owner. Both are empty if it never does.
func MayOrphan(owner, dependent object.Ref) (finalizer, condition string) {
	for _, r := range orphaners {
		if owner.GroupKind() == r.owner && dependent.GroupKind() == r.dependents {
			return r.finalizer, r.condition
		}
	}
	return "", ""
}

// Deployers returns the table of deployers.
func Deployers() []Deployer { return slices.Clone(deployers) }

// Searches reports whether the inventory is searched for in all namespaces, so that an object that was
// not seen may be in it.
func (d *Deployer) Searches() bool { return d.members != nil }

// Tracks reports whether the deployer counts an object as applied for the object from.
func (d *Deployer) Tracks(from, o *object.Object) bool {
	return o.Ref.WithoutUID() != from.Ref.WithoutUID() && (d.tracks == nil || d.tracks(from, o))
}

// Deletes reports whether the deployer deletes an object of the inventory of the object from.
func (d *Deployer) Deletes(from, o *object.Object) bool {
	return d.Tracks(from, o) && !d.Keeps(o)
}

// Doubts returns why it is unknown whether the deployer deletes an object that the object from lists; empty if
// that is known.
func (d *Deployer) Doubts(from, o *object.Object) string {
	if d.doubts == nil {
		return ""
	}
	return d.doubts(from, o)
}

// AwaitsConfirmation reports whether the deployer deletes nothing as long as an object exists that it lists
// with an entry, and no person has confirmed that since the delete.
func (d *Deployer) AwaitsConfirmation(from, o *object.Object, at object.InventoryEntry) bool {
	return !from.Protection().Has(object.ArgoApproved) && (at.Confirm || d.Waves && o.Protection().Has(object.ArgoConfirm)) && d.Deletes(from, o)
}

// AwaitsEnd reports whether the finalizer of the deployer stays while an object that counts as applied is
// being deleted, by the deployer or by another client.
func (d *Deployer) AwaitsEnd(o *object.Object) bool { return d.Waves || d.Waits && !d.Keeps(o) }

// Keeps reports whether the deployer leaves an object that counts as applied.
func (d *Deployer) Keeps(o *object.Object) bool { return d.keeps != nil && d.keeps(o) }

// LacksPolicy reports whether the snapshot lacks what decides whether an object of an inventory is deleted.
func (d *Deployer) LacksPolicy(o *object.Object) bool { return d.refersBack && o.Inventory() == nil }

// Policy returns the propagation policy of the deletes behind a finalizer of an object.
func (d *Deployer) Policy(from *object.Object, finalizer string) metav1.DeletionPropagation {
	propagation := ""
	if inventory := from.Inventory(); inventory != nil {
		propagation = strings.ToLower(inventory.Propagation)
	}
	switch {
	case propagation == "background":
		return metav1.DeletePropagationBackground
	case propagation == "foreground":
		return metav1.DeletePropagationForeground
	case propagation == "orphan":
		return metav1.DeletePropagationOrphan
	case d.policy == nil:
		return metav1.DeletePropagationBackground
	default:
		return d.policy(finalizer)
	}
}

// DeletingUnlisted returns the finalizers for which DeletesOthers is true.
func DeletingUnlisted() []string { return slices.Clone(deleteOthers) }

// DeletesOthers reports whether the controller of a finalizer is known to delete other objects before
// it removes it, by rules that are not simulated.
func DeletesOthers(finalizer string) bool { return fitsAny(deleteOthers, finalizer) }

// RunsHooks reports whether the controller of a finalizer runs pods before it removes it, which may delete
// anything.
func RunsHooks(finalizer string) bool { return fitsAny(runHooks, finalizer) }

func fitsAny(patterns []string, finalizer string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return fits(pattern, finalizer) })
}

// RestorerOf returns the object for which a deployer creates a deleted object again; nil if there is none. The
// records of Helm are none of these: Helm itself writes them.
func (v *Inventories) RestorerOf(o *object.Object) (from *object.Object, d *Deployer) {
	if v.restored == nil {
		v.restored = map[object.Coordinates]*object.Object{}
		for i := range deployers {
			if deployers[i].Restored == "" {
				continue
			}
			for _, from := range v.snap.All(deployers[i].Kind.GroupResource()) {
				if f := from.Inventory(); f != nil && f.Restores && !f.Remote {
					for _, at := range f.Entries {
						v.restored[at.Coordinates] = from
					}
				}
			}
		}
	}
	from = v.restored[o.Coordinates()]
	if _, _, record := object.HelmRecordOf(o); from == nil || record {
		return nil, nil
	}
	i := slices.IndexFunc(deployers, func(d Deployer) bool { return from.Is(d.Kind) })
	if !deployers[i].Tracks(from, o) {
		return nil, nil
	}
	return from, &deployers[i]
}
