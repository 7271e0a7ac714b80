package plan

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/internal/uses"
)

// breakages finds the objects that stay and stop working, because an object that they refer to goes. For
// a delete of secret/db:
//
//	deploy/web   spec.template.spec.containers[].envFrom[].secretRef → secret/db    nextStart
//
// A reference to an object that is not there is not among them: it was broken before.
type breakages struct {
	snap   *snapshot.Snapshot
	health *health.Assessment
	// goes are the objects of the account that go, without those that are created again at once. accounts are
	// the ServiceAccounts that are: tokens of the old one are invalid.
	goes, accounts departures
	// idle are the Services that stay and lose all their pods, with the certainty of that.
	idle  map[object.Coordinates]report.Certainty
	found map[breakageKey]bool
	list  []report.Breakage
}

type breakageKey struct {
	user, target object.Ref
	label        string
}

// breakagesOf returns the breakages of a plan, the worst first, and the lists that may hold more. Without
// evidence it returns none.
func breakagesOf(snap *snapshot.Snapshot, assessment *health.Assessment, p *report.Plan) ([]report.Breakage, []report.Gap) {
	if assessment == nil || assessment.Evidence() == nil {
		return nil, nil
	}
	b := &breakages{snap: snap, health: assessment, goes: leaving(p, false), accounts: recreatedAccounts(p), found: map[breakageKey]bool{}}
	if len(b.goes)+len(b.accounts) == 0 {
		return nil, nil
	}
	b.idle = b.idleServices()
	b.references()
	b.defaults()
	b.conventions()
	b.claims()
	b.attachments()
	b.webhooks()
	b.apis()
	b.unserved()
	b.policyParams()
	b.scalers()
	b.permissions()
	b.grants()
	b.guards()
	b.failedJobs()
	b.controllers()
	slices.SortFunc(b.list, compareBreakages)
	return b.list, b.unread()
}

// comesBack reports whether a part of Kubernetes creates an object again at once if it goes.
func comesBack(e *report.Effect) bool {
	return e.Recreator != "" && e.RecreatedWhen == "" && !mayComeBack(e)
}

// mayComeBack reports whether an object may be created again at once, or with other content: the Secret of an
// ExternalSecret.
func mayComeBack(e *report.Effect) bool {
	return e.RecreatedIf != "" || e.RecreatedBy != nil && e.RecreatedWhen == "" && object.MayBeCustom(object.GroupOf(e.RecreatedBy.APIVersion))
}

// compareBreakages puts the worst first.
func compareBreakages(a, b report.Breakage) int {
	certainties := []report.Certainty{report.Sure, report.Possible, report.Undecided}
	return cmp.Or(
		object.TrueFirst(a.ClusterWide, b.ClusterWide),
		cmp.Compare(slices.Index(report.BreakageTimes(), a.When), slices.Index(report.BreakageTimes(), b.When)),
		cmp.Compare(slices.Index(certainties, a.Certainty), slices.Index(certainties, b.Certainty)),
		object.Compare(a.Object, b.Object), strings.Compare(a.Field, b.Field), object.Compare(a.Reference, b.Reference), strings.Compare(a.Label, b.Label),
	)
}

// lost returns the object that goes at the coordinates, with the certainty of that.
func (b *breakages) lost(at object.Coordinates) (object.Ref, report.Certainty, bool) {
	e := b.goes.at(at)
	if e == nil || e.Outcome != report.Deleted && e.Object.Is(object.PV) { // its claim protects it
		return object.Ref{}, "", false
	}
	certainty := e.Consequence.Certainty
	// A claim that is being deleted is of no use for new pods, and a pod answers no requests any more;
	// anything else works until it is gone.
	ends := e.Object.Is(object.PVC) || e.Object.Is(object.Pod) && e.Outcome == report.Blocked
	if (e.Outcome != report.Deleted && !ends || mayComeBack(e)) && certainty == report.Sure {
		certainty = report.Possible
	}
	return e.Object, certainty, true
}

// staying returns the object that a user is told as: the workload of a pod. It returns false for one that
// goes, is being deleted, or has finished.
func (b *breakages) staying(ref object.Ref) (object.Ref, bool) {
	o := b.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
	if o == nil || b.leaves(o) {
		return object.Ref{}, false
	}
	for range maxControllers {
		owner := workloadOf(b.snap, o)
		if owner == nil {
			break
		}
		if o = owner; b.leaves(o) {
			return object.Ref{}, false
		}
	}
	return o.Ref, true
}

// maxControllers bounds the controllers above a pod.
const maxControllers = 4

// workloadOf returns the controller of a pod, or of what creates pods; nil if there is none.
func workloadOf(snap *snapshot.Snapshot, o *object.Object) *object.Object {
	if !o.Is(object.Pod) && !o.Is(object.ReplicaSet) && !o.Is(object.Job) {
		return nil
	}
	ref, ok := o.Controller()
	if !ok {
		return nil
	}
	owner := snap.ObjectAt(ref.In(o.Namespace).Coordinates())
	if owner == nil || owner.UID != ref.UID {
		return nil
	}
	return owner
}

// leaves reports whether an object needs nothing any more.
func (b *breakages) leaves(o *object.Object) bool {
	finished := o.Pod() != nil && o.Pod().Finished() || o.Job() != nil && o.Job().Finished
	return finished || o.BeingDeleted() || b.goes.at(o.Coordinates()) != nil
}

// add adds a breakage, unless its user goes.
func (b *breakages) add(one report.Breakage) {
	user, stays := b.staying(one.Object)
	key := breakageKey{user, one.Reference, one.Label}
	if !stays || b.found[key] {
		return
	}
	b.found[key] = true
	one.Object = user
	b.list = append(b.list, one)
}

// references adds the references of the table.
func (b *breakages) references() {
	for _, user := range b.health.Referrers() {
		for i := range user.References {
			r := &user.References[i]
			rule := r.Rule(user.Ref.GroupKind())
			if r.Selector != nil || r.Optional || r.Idle || rule.Names != nil || rule.When == report.BreaksNever {
				continue
			}
			one := report.Breakage{Object: user.Ref, Field: r.Field, Label: rule.Label, When: rule.When, Message: rule.Effect}
			target, certainty, ok := b.lost(r.Target())
			if r.Default {
				target, certainty, ok = b.lostDefault(rule.To)
			}
			if ok {
				one.Reference, one.Certainty = target, certainty
			} else if certainty, ok := b.idle[r.Target()]; ok && rule.Backend {
				one.Reference, one.Certainty = b.refAt(r.Target()), certainty
				one.When, one.Message = report.BreaksNow, "it has no pods left"
			} else if e := b.accounts.at(r.Target()); e != nil && rule.When == report.BreaksNow {
				one.Reference, one.Certainty, one.Message = e.Object, e.Consequence.Certainty, uses.TokensInvalid
			} else {
				continue
			}
			if rule.Guessed() {
				one.Certainty = report.Undecided
			} else if (rule.Defaults || rule.Inexact) && one.Certainty == report.Sure {
				one.Certainty = report.Possible
			}
			b.add(one)
		}
	}
}

// refAt returns the reference to the object of the snapshot at the coordinates.
func (b *breakages) refAt(at object.Coordinates) object.Ref {
	if o := b.snap.ObjectAt(at); o != nil {
		return o.Ref
	}
	return object.Ref{APIVersion: "v1", Kind: at.Kind, Namespace: at.Namespace, Name: at.Name}
}

// claims adds the pods of which a PersistentVolumeClaim goes. The claims of a StatefulSet are in no
// template.
func (b *breakages) claims() {
	if !b.anyGoes(object.PVC.GroupKind) {
		return
	}
	for _, o := range b.snap.All(object.Pod.GroupResource()) {
		if o.Pod() == nil {
			continue
		}
		for _, c := range o.Pod().Claims {
			if target, certainty, ok := b.lost(object.PVC.Ref(o.Namespace, c.Name).Coordinates()); ok {
				b.add(report.Breakage{
					Object: o.Ref, Field: "spec.volumes[].persistentVolumeClaim", Label: "volume", Reference: target, Certainty: certainty,
					When: report.BreaksNextStart, Message: "running pods go on, new ones don't start",
				})
			}
		}
	}
}

// attachments adds the pods of which a volume is detached from their node.
//
// Source: external-attacher, pkg/controller/csi_handler.go csiHandler.SyncNewOrUpdatedVolumeAttachment: a deleted
// attachment is detached, whether or not a pod uses the volume; kubernetes, pkg/controller/volume/attachdetach
// /reconciler/reconciler.go reconciler.syncStates: it is attached again.
func (b *breakages) attachments() {
	if !b.anyGoes(object.VolumeAttachment.GroupKind) {
		return
	}
	for _, o := range b.snap.All(object.Pod.GroupResource()) {
		for _, a := range b.health.AttachmentsOf(o) {
			if target, certainty, ok := b.lost(a.Ref.Coordinates()); ok {
				b.add(report.Breakage{
					Object: o.Ref, Field: "spec.nodeName", Label: "attachment", Reference: target, Certainty: certainty,
					When: report.BreaksNow, Message: "its volume is detached while it runs, until it is attached again",
				})
			}
		}
	}
}

func (b *breakages) anyGoes(kind schema.GroupKind) bool { return len(b.goes.of(kind)) > 0 }

// unread returns the lists that may hold more references to what goes.
func (b *breakages) unread() []report.Gap {
	var gaps []report.Gap
	if slices.ContainsFunc(b.goes.of(object.APIService.GroupKind), b.isAggregated) {
		if c := b.health.Evidence().CompletenessOf(health.APIServices, ""); !c.Whole {
			gaps = append(gaps, b.health.GapOf(object.APIService.Resource(), "", c.Why))
		}
	}
	for kind := range b.goes {
		for namespace := range b.goes.namespaces(kind) {
			gaps = append(gaps, b.health.UnreadReferrers(kind, namespace, false)...)
			for _, k := range []object.Kind{object.RoleBinding, object.ClusterRoleBinding, uses.NetworkPolicy, uses.ReferenceGrant, object.PodDisruptionBudget} { // whose fields say who loses them
				if c := b.health.Evidence().CompletenessOf(health.PartOfKind(k), namespace); kind == k.GroupKind && !c.Whole {
					gaps = append(gaps, b.health.GapOf(k.Resource(), namespace, c.Why))
				}
			}
		}
	}
	gaps = append(gaps, b.unreadCallers()...)
	slices.SortFunc(gaps, func(x, y report.Gap) int {
		return cmp.Or(strings.Compare(x.APIVersion, y.APIVersion), strings.Compare(x.Resource, y.Resource), strings.Compare(x.Namespace, y.Namespace))
	})
	return slices.CompactFunc(gaps, func(x, y report.Gap) bool {
		return x.APIVersion == y.APIVersion && x.Resource == y.Resource && x.Namespace == y.Namespace
	})
}

// isAggregated reports whether an APIService of the account is of an aggregated API.
func (b *breakages) isAggregated(e *report.Effect) bool {
	o := b.snap.ObjectAt(e.Object.Coordinates())
	return o != nil && o.Aggregated()
}

// ReferrersOf returns the objects that refer to an object, in object.Compare order, with pods told as their
// workloads, and the lists that may hold more. It returns nil for an unreferred object of a kind that no known
// field refers to, or of servers.
func ReferrersOf(snap *snapshot.Snapshot, assessment *health.Assessment, of *object.Object) ([]report.Referrer, []report.Gap) {
	if assessment == nil || assessment.Evidence() == nil {
		return nil, nil
	}
	at := of.Coordinates()
	deleted := &report.Effect{Object: of.Ref, Outcome: report.Deleted, Consequence: &report.Consequence{Change: report.ChangeDeleted, Certainty: report.Sure}}
	b := &breakages{snap: snap, health: assessment, goes: departures{}, found: map[breakageKey]bool{}}
	b.goes.add(deleted)
	byDefault := defaultUser(snap, of)
	list := []report.Referrer{}
	add := func(user object.Ref, r report.Referrer) {
		told, stays := b.staying(user)
		key := breakageKey{told, of.Ref, r.Label}
		if !stays || b.found[key] {
			return
		}
		b.found[key] = true
		r.Object = told
		list = append(list, r)
	}
	for _, user := range assessment.Referrers() {
		for i := range user.References {
			r := &user.References[i]
			rule := r.Rule(user.Ref.GroupKind())
			if r.Selector != nil || r.Target() != at && !(r.Default && byDefault != nil && of.Is(rule.To)) {
				continue
			}
			one := report.Referrer{Field: r.Field, Label: rule.Label, When: rule.When, Optional: r.Optional, Certainty: report.Sure}
			if r.Optional || r.Idle {
				one.When = report.BreaksNever
			}
			switch {
			case rule.Guessed():
				one.Certainty = report.Undecided
			case rule.Inexact:
				one.Certainty = report.Possible
			}
			add(user.Ref, one)
		}
	}
	b.conventions()
	b.claims()
	b.attachments()
	b.webhooks()
	b.apis()
	b.policyParams()
	b.grants()
	if byDefault != nil {
		b.list = append(b.list, *byDefault)
	}
	for _, x := range b.list {
		list = append(list, report.Referrer{Object: x.Object, Field: x.Field, Label: x.Label, When: x.When, Certainty: x.Certainty})
	}
	if len(list) == 0 && (len(uses.Users(of.GroupKind())) == 0 || slices.Contains(servers, of.GroupKind())) {
		return nil, nil
	}
	slices.SortFunc(list, func(x, y report.Referrer) int {
		return cmp.Or(object.Compare(x.Object, y.Object), strings.Compare(x.Field, y.Field), strings.Compare(x.Label, y.Label))
	})
	return list, assessment.UnreadReferrers(of.GroupKind(), of.Namespace, true)
}

// servers are the kinds that other objects use over the network. That no field refers to one says nothing
// about its use.
var servers = []schema.GroupKind{
	object.Service.GroupKind, object.Pod.GroupKind, object.Deployment.GroupKind, object.StatefulSet.GroupKind, object.ReplicaSet.GroupKind,
}
