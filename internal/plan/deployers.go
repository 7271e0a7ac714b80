package plan

import (
	"cmp"
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan/outcome"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// A deployer deletes what it has applied before it removes its finalizer from the object that lists
// it. For an Argo CD Application web that has applied deploy/web:
//
//	user     DELETE application/web    it is marked, and its finalizer holds it
//	Argo CD  DELETE deploy/web         the Deployment goes, and its pods with it
//	Argo CD  PATCH  application/web    the finalizer is removed, and it goes
//
// A controller that is gone deletes nothing: somebody else has to remove its finalizer.

// Deploys reports whether a deployer deletes, or may delete, other objects with an object.
func Deploys(o *object.Object) bool {
	inventory := o.Inventory()
	return (inventory == nil || len(inventory.Entries) > 0 && !inventory.Keeps && !inventory.Remote) &&
		slices.ContainsFunc(o.Finalizers(), func(name string) bool { return finalizer.DeployerOf(o.Ref, name) != nil })
}

// undeploy lets deployers delete the inventory of a held object, once. It returns the object without
// the finalizers whose deployers wait for what they have deleted.
func (s *simulation) undeploy(ctx context.Context, h heldObject) heldObject {
	first := !s.futures.undeployed[h.object.UID]
	h.releases = slices.Clone(h.releases)
	for _, r := range h.releases {
		if d := s.deployerOf(h.object, r); d != nil && first {
			s.deleteInventory(ctx, d, h.object, r)
		}
	}
	h.releases = slices.DeleteFunc(h.releases, func(r report.Release) bool { return s.waitsForInventory(h.object, r) })
	h.names = slices.DeleteFunc(slices.Clone(h.names), func(name string) bool {
		return !slices.ContainsFunc(h.releases, func(r report.Release) bool { return r.Finalizer == name })
	})
	return h
}

// deleteInventory sends the deletes of a deployer.
func (s *simulation) deleteInventory(ctx context.Context, d *finalizer.Deployer, from *object.Object, r report.Release) {
	if s.futures.undeployed == nil {
		s.futures.undeployed = map[types.UID]bool{}
	}
	s.futures.undeployed[from.UID] = true
	policy := d.Policy(r.Finalizer)
	for o := range s.inventoryOf(d, from) {
		if o.BeingDeleted() {
			continue
		}
		s.tracks.Undeploying(from.Ref, o)
		s.recorder.runAs(cmp.Or(r.Controller, outcome.ActorReleaser), string(reason.Undeployed), func() {
			// A refusal is visible: the object is unchanged.
			_ = s.recorder.Delete(ctx, o.Ref, metav1.DeleteOptions{PropagationPolicy: &policy})
		})
	}
}

// waitsForInventory reports whether a finalizer stays until what its deployer has deleted is gone.
func (s *simulation) waitsForInventory(o *object.Object, r report.Release) bool {
	d := s.deployerOf(o, r)
	if d == nil || !d.Waits || !s.futures.undeployed[o.UID] {
		return false
	}
	for range s.inventoryOf(d, o) {
		return true
	}
	return false
}

// deployerOf returns the deployer that deletes the inventory of an object before a finalizer is
// removed; nil if there is none, if the inventory is not known, or if nothing of it is deleted.
func (s *simulation) deployerOf(o *object.Object, r report.Release) *finalizer.Deployer {
	inventory := o.Inventory()
	if inventory == nil || inventory.Keeps || inventory.Remote || r.State == report.ControllerGone {
		return nil
	}
	return finalizer.DeployerOf(o.Ref, r.Finalizer)
}

// inventoryOf calls yield with each object that a deployer deletes and that exists now.
func (s *simulation) inventoryOf(d *finalizer.Deployer, from *object.Object) func(yield func(*object.Object) bool) {
	return func(yield func(*object.Object) bool) {
		for _, at := range from.Inventory().Entries {
			ref, _, ok := s.snap.Locate(at)
			if !ok {
				continue
			}
			o, err := s.recorder.server.Get(context.Background(), ref)
			if err == nil && d.Deletes(from, o) && !yield(o) {
				return
			}
		}
	}
}

// addUnlisted adds the objects that go and whose controllers delete more than the plan lists. It adds
// to u what the snapshot lacks of inventories.
func (s *simulation) addUnlisted(u *Unseen, p *report.Plan, e *report.Effect, o *object.Object) {
	for _, name := range o.Finalizers() {
		d := finalizer.DeployerOf(o.Ref, name)
		if d == nil && !finalizer.DeletesOthers(name) {
			continue
		}
		r := s.finalizerControllers.withController(o, report.Release{Object: o.Ref, Finalizer: name, State: report.ControllerUnknown})
		if r.State == report.ControllerGone {
			continue
		}
		if code, why := s.unlisted(u, d, o); code != "" {
			by, _ := RemovedBy(name)
			p.Unlisted = append(p.Unlisted, report.Unlisted{
				Object: e.Object, Finalizer: name, Controller: cmp.Or(r.Controller, by), Reason: string(code), Message: why,
			})
			return
		}
	}
}

// unlisted returns why a deployer deletes more than the plan lists. The code is empty if it does not.
func (s *simulation) unlisted(u *Unseen, d *finalizer.Deployer, o *object.Object) (code reason.Code, why string) {
	inventory := o.Inventory()
	switch {
	case d == nil:
		return reason.InventoryUnknown, "it does not list them"
	case inventory == nil:
		return reason.InventoryUnknown, "the snapshot lacks its spec or status"
	case inventory.Keeps:
		return "", ""
	case inventory.Remote:
		return reason.InventoryRemote, "they are in another cluster"
	}
	unread := inventory.Unread
	for _, at := range inventory.Entries {
		ref, r, ok := s.snap.Locate(at)
		switch {
		case !ok && s.snap.KnowsAllKinds(): // it cannot exist
		case !ok:
			unread = cmp.Or(unread, "the snapshot does not show whether "+at.Kind+" "+at.Name+" exists")
		case s.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name) == nil:
			u.Of(s.snap, r, ref.Namespace)
		}
	}
	if unread != "" {
		return reason.InventoryUnknown, unread
	}
	return "", ""
}
