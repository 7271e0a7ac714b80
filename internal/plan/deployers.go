package plan

import (
	"cmp"
	"context"
	"iter"
	"math"
	"slices"
	"strings"

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
	d := finalizer.DeployerOfObject(o)
	inventory := o.Inventory()
	return d != nil && (d.Searches() || inventory == nil || deletesAny(inventory))
}

// deletesAny reports whether a deployer deletes any object of an inventory.
func deletesAny(f *object.InventoryFacts) bool { return len(f.Entries) > 0 && !f.Keeps && !f.Remote }

// undeploy lets deployers send their next deletes for a held object. It returns the object without the
// finalizers that are not removed yet.
func (s *simulation) undeploy(ctx context.Context, h heldObject, next future) heldObject {
	h.releases = slices.DeleteFunc(slices.Clone(h.releases), func(r report.Release) bool {
		d := s.deployerOf(h.object, r)
		if d == nil {
			return false
		}
		list, waits := s.nextDeletes(d, h.object, next)
		for _, o := range list {
			s.deleteApplied(ctx, d, h.object, o, r)
		}
		_, refused := s.nextDeletes(d, h.object, next)
		return waits || (d.Waves || d.Waits) && len(list) > 0 || refused
	})
	h.names = slices.DeleteFunc(slices.Clone(h.names), func(name string) bool {
		return !slices.ContainsFunc(h.releases, func(r report.Release) bool { return r.Finalizer == name })
	})
	return h
}

// deleteApplied sends the delete of an object that a deployer has applied.
func (s *simulation) deleteApplied(ctx context.Context, d *finalizer.Deployer, from, o *object.Object, r report.Release) {
	s.futures.undeployed[s.tracks.Key(o)] = true
	s.tracks.Undeploying(from, o)
	policy := d.Policy(from, r.Finalizer)
	s.recorder.runAs(cmp.Or(r.Controller, outcome.ActorReleaser), string(reason.Undeployed), func() {
		// A refusal is visible: the object is unchanged.
		_ = s.recorder.Delete(ctx, o.Ref, metav1.DeleteOptions{PropagationPolicy: &policy})
	})
}

// nextDeletes returns what a deployer deletes next with an object. waits is true if it deletes nothing
// now, and does not remove its finalizer either: it waits for a confirmation, for an object that is
// being deleted, or forever for one that the server does not let it delete or does not serve.
//
// Argo CD with deploy/web in wave 0 and cm/config in wave 1: cm/config; once that is gone deploy/web;
// once that is gone nothing, and the finalizer is removed.
func (s *simulation) nextDeletes(d *finalizer.Deployer, from *object.Object, next future) (list []*object.Object, waits bool) {
	inventory := s.inventoryFacts(d, from)
	confirm, terminating := false, false
	unserved := slices.ContainsFunc(inventory.Entries, s.snap.Unreadable)
	wave := math.MinInt
	for o, at := range s.inventoryOf(d, from) {
		confirm = confirm || d.AwaitsConfirmation(from, o, at)
		terminating = terminating || o.BeingDeleted() && d.AwaitsEnd(o)
		switch {
		case o.BeingDeleted() || !d.Deletes(from, o):
		case s.futures.undeployed[s.tracks.Key(o)]:
			waits = true
		case d.Waves && o.Wave() < wave:
		default:
			if d.Waves && o.Wave() > wave {
				list, wave = nil, o.Wave()
			}
			list = append(list, o)
		}
	}
	// It waits for itself, from the beginning: Argo CD v2.14.21 deleted nothing in 28 of 28 Applications. It may
	// read itself as it was before the delete, though.
	if d.Waves && inventory.Lists(from.Coordinates()) && (!next.byHand() || len(list) == 0 || s.hasBegun(d, from)) {
		return nil, true
	}
	if waits || confirm && !next.byHand() || terminating && (d.Waves || len(list) == 0) || d.AllOrNone && unserved {
		return nil, true
	}
	return list, unserved && len(list) == 0
}

// hasBegun reports whether a deployer has deleted an object of an inventory.
func (s *simulation) hasBegun(d *finalizer.Deployer, from *object.Object) bool {
	return slices.ContainsFunc(s.inventoryFacts(d, from).Entries, func(at object.InventoryEntry) bool {
		o := s.snap.ObjectAt(at.Coordinates)
		if o == nil || !d.Deletes(from, o) {
			return false
		}
		_, err := s.recorder.server.Get(context.Background(), o.Ref)
		return err != nil || s.futures.undeployed[s.tracks.Key(o)]
	})
}

// waitsForInventory reports whether a finalizer stays for now because of what its deployer has applied.
func (s *simulation) waitsForInventory(o *object.Object, r report.Release, next future) bool {
	d := s.deployerOf(o, r)
	if d == nil {
		return false
	}
	_, waits := s.nextDeletes(d, o, next)
	return waits
}

// deployerOf returns the deployer that deletes the inventory of an object before a finalizer is
// removed; nil if there is none, if the inventory is not known, or if nothing of it is deleted.
func (s *simulation) deployerOf(o *object.Object, r report.Release) *finalizer.Deployer {
	d := finalizer.DeployerOf(o.Ref, r.Finalizer)
	if d == nil || r.State == report.ControllerGone {
		return nil
	}
	inventory := s.inventoryFacts(d, o)
	if inventory == nil || inventory.Keeps || inventory.Remote {
		return nil
	}
	if inventory.Account != "" && s.snap.Covers(object.ServiceAccount.Resource(), o.Namespace) && !s.hasAccount(o, inventory.Account) {
		return nil
	}
	return d
}

// hasAccount reports whether a ServiceAccount exists now in the namespace of an object.
func (s *simulation) hasAccount(o *object.Object, name string) bool {
	_, err := s.recorder.server.Get(context.Background(), s.snap.RefTo(object.ServiceAccount, o.Namespace, name))
	return err == nil
}

// deletesAccount reports whether a ServiceAccount in the namespace of an object existed at first and is
// gone now.
func (s *simulation) deletesAccount(o *object.Object, name string) bool {
	return name != "" && s.snap.FindKind(object.ServiceAccount, o.Namespace, name) != nil && !s.hasAccount(o, name)
}

// inventoryFacts returns what a deployer may delete with an object, as the snapshot shows it; nil if
// the snapshot lacks it.
func (s *simulation) inventoryFacts(d *finalizer.Deployer, o *object.Object) *object.InventoryFacts {
	finder := s.inventoryFinder()
	known, ok := s.inventories[o.UID]
	if !ok {
		known = finder.Of(o, d)
		s.inventories[o.UID] = known
	}
	return known
}

// inventoryFinder returns what finds inventories in the snapshot.
func (s *simulation) inventoryFinder() *finalizer.Inventories {
	if s.finder == nil {
		s.finder, s.inventories = finalizer.NewInventories(s.snap), map[types.UID]*object.InventoryFacts{}
	}
	return s.finder
}

// inventoryOf iterates over the objects that exist now and that a deployer counts as applied for an
// object, each with the entry that names it.
func (s *simulation) inventoryOf(d *finalizer.Deployer, from *object.Object) iter.Seq2[*object.Object, object.InventoryEntry] {
	return func(yield func(*object.Object, object.InventoryEntry) bool) {
		for _, at := range s.inventoryFacts(d, from).Entries {
			ref, _, ok := s.snap.Locate(at.Coordinates)
			if !ok || s.snap.Unreadable(at) {
				continue
			}
			o, err := s.recorder.server.Get(context.Background(), ref)
			if err == nil && d.Tracks(from, o) && !yield(o, at) {
				return
			}
		}
	}
}

// remedies returns the commands of deployers that keep what these delete with the targets.
func (s *simulation) remedies() []report.Remedy {
	var list []report.Remedy
	for _, ref := range s.seed.Targets {
		o := s.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
		if o == nil || o.BeingDeleted() || s.seed.Uninstall != nil {
			continue
		}
		d := finalizer.DeployerOfObject(o)
		if d == nil || !mayDeleteAny(o.Inventory()) {
			continue
		}
		in := strings.NewReplacer("NAMESPACE", report.ShellWord(o.Namespace), "NAME", report.ShellWord(o.Name))
		if d.DeleteAlone != "" {
			list = append(list, report.Remedy{
				Act: report.Act{Action: report.DeleteAlone, Target: o.Ref}, Command: in.Replace(d.DeleteAlone), Effect: "deletes it without what it has deployed",
			})
		}
		if d.Suspend != "" {
			list = append(list, report.Remedy{
				Act: report.Act{Action: report.Suspend, Target: o.Ref}, Command: in.Replace(d.Suspend), Effect: "suspends it, so that a later delete keeps what it has deployed",
			})
		}
	}
	return list
}

// mayDeleteAny reports whether a deployer may delete an object of an inventory. nil is one that the
// snapshot lacks.
func mayDeleteAny(f *object.InventoryFacts) bool {
	return f == nil || !f.Keeps && (len(f.Entries) > 0 || f.Unread != "")
}

// addUnlisted adds to a plan that it may delete an object whose controllers delete, or may delete, more
// than the plan lists. It adds to u what the snapshot lacks of inventories. A controller has begun already
// with an object that was being deleted before the request.
//
// A finalizer that is not known is a lock of a person, or that of a controller with unknown deletes. Only
// if that is known to be absent, nothing more is deleted. If it could not be seen, it may run.
func (s *simulation) addUnlisted(u *Unseen, p *report.Plan, o *object.Object) {
	if o.BeingDeleted() {
		return
	}
	first := len(p.Unlisted)
	for _, name := range o.Finalizers() {
		d := finalizer.DeployerOf(o.Ref, name)
		_, known := finalizer.Of(name)
		if d == nil && known && !finalizer.DeletesOthers(name) && !finalizer.RunsHooks(name) {
			continue
		}
		r := s.finalizerControllers.withController(o, report.Release{Object: o.Ref, Finalizer: name, State: report.ControllerUnknown})
		if r.State == report.ControllerGone {
			continue
		}
		more := report.Unlisted{Object: o.Ref, Finalizer: name, Controller: r.Controller}
		switch {
		case known || d != nil:
			code, why := s.unlisted(u, d, o, name)
			by, _ := RemovedBy(name, o.Kind)
			more.Controller, more.Reason, more.Message = cmp.Or(r.Controller, by), string(code), why
		case r.State == report.ControllerRuns:
			more.Reason, more.Message = string(reason.MayDeleteOthers), "its rules are not known"
		default:
			more.Reason, more.Message = string(reason.FinalizerUnknown), "unknown what it is for"
			if unread := s.finalizerControllers.unread; unread != nil && unread(o) != "" {
				more.Reason, more.Message = string(reason.ControllerUnread), unread(o)
			}
		}
		again := func(x report.Unlisted) bool { return x.Controller == more.Controller && x.Message == more.Message }
		if more.Reason != "" && (more.Controller == "" || !slices.ContainsFunc(p.Unlisted[first:], again)) {
			p.Unlisted = append(p.Unlisted, more)
		}
	}
}

// addMade adds to a plan what controllers have made for an object, and delete once it is gone, unless the plan
// deletes that, too.
func (s *simulation) addMade(p *report.Plan, goes *deletedUIDs, o *object.Object) {
	s.inventoryFinder().MadeFor(o, func(by *finalizer.Controller, when string, made []*object.Object) {
		if !s.runs(by) {
			when = strings.TrimSuffix("it runs and "+when, " and ")
		}
		x := report.Unlisted{Object: o.Ref, Controller: by.Name, Reason: string(reason.MadeForIt)}
		if when != "" {
			x.Message = "if " + when
		}
		for _, one := range made {
			if !goes.has(one.UID) {
				x.Others = append(x.Others, one.Ref)
			}
		}
		if len(x.Others) > 0 {
			p.Unlisted = append(p.Unlisted, x)
		}
	})
}

// unlisted returns why the controller of a finalizer deletes more than the plan lists. The code is empty if
// it does not. d is nil if its deletes are not simulated.
func (s *simulation) unlisted(u *Unseen, d *finalizer.Deployer, o *object.Object, name string) (code reason.Code, why string) {
	switch {
	case finalizer.RunsHooks(name):
		return reason.HookUnknown, "what the pods of the hooks of " + o.Ref.ShortName() + " do is unknown"
	case d == nil:
		known, _ := finalizer.Of(name)
		return reason.InventoryUnknown, "not listed here: " + known.Without
	}
	if d.Searches() {
		u.Everywhere()
	}
	inventory := s.inventoryFacts(d, o)
	code, unread := InventoryGap(inventory)
	if inventory == nil || inventory.Keeps || inventory.Remote {
		return code, unread
	}
	if account := inventory.Account; deletesAny(inventory) && s.deletesAccount(o, account) {
		unread = cmp.Or(unread, "unknown whether it deletes them before its ServiceAccount "+account+" is gone")
	}
	for _, at := range inventory.Entries {
		ref, r, ok := s.snap.Locate(at.Coordinates)
		switch x := s.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name); {
		case !ok && s.snap.KnowsAllKinds(): // it cannot exist
		case !ok:
			unread = cmp.Or(unread, "the snapshot does not show whether "+at.Kind+" "+at.Name+" exists")
		case x == nil:
			u.Of(s.snap, r, ref.Namespace)
		case d.Doubts(o, x) != "":
			unread = cmp.Or(unread, d.Doubts(o, x))
		case d.LacksPolicy(x):
			unread = cmp.Or(unread, "unknown whether "+x.Ref.ShortName()+" is deleted or kept: the snapshot lacks its policy")
		}
	}
	if unread != "" {
		return reason.InventoryUnknown, unread
	}
	return "", ""
}

// InventoryGap returns why the inventory of a deployer is not known. The code is empty if it is, or if
// nothing of it is deleted. nil is one that the snapshot lacks.
func InventoryGap(f *object.InventoryFacts) (code reason.Code, why string) {
	switch {
	case f == nil:
		return reason.InventoryUnknown, "the snapshot lacks its spec or status"
	case f.Keeps:
		return "", ""
	case f.Remote:
		return reason.InventoryRemote, "they are in another cluster"
	case f.Unread != "":
		return reason.InventoryUnknown, f.Unread
	}
	return "", ""
}
