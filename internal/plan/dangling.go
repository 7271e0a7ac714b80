package plan

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/internal/uses"
)

// Dangling returns the references of the table that break their object already: they name an object that
// does not exist. namespace limits the objects with references; empty for all. count is the number of
// references that were looked at. unread are the lists that may hold more references. Lists that may hold
// what is referred to are added to unseen.
//
// Guessed references are not among them, and no DNS names: what a host is may be said elsewhere.
func Dangling(snap *snapshot.Snapshot, assessment *health.Assessment, namespace string, unseen *Unseen) (list []report.Breakage, count int, unread []report.Gap) {
	b := &breakages{snap: snap, health: assessment, found: map[breakageKey]bool{}}
	for _, user := range assessment.Referrers() {
		if namespace != "" && user.Ref.Namespace != namespace {
			continue
		}
		o := snap.Find(user.Ref.APIVersion, user.Ref.Kind, user.Ref.Namespace, user.Ref.Name)
		if o == nil || b.leaves(o) {
			continue
		}
		for i := range user.References {
			r := &user.References[i]
			rule := r.Rule(user.Ref.GroupKind())
			if r.Selector != nil || rule.Guessed() {
				continue
			}
			count++
			if r.Optional || r.Idle || r.Default || rule.Host || rule.When == report.BreaksNever || rule.Created || rule.Defaults || rule.Names != nil || rule.Inexact || rule.Default == r.Name || snap.ObjectAt(r.Target()) != nil {
				continue
			}
			target, resource, ok := snap.Locate(r.Target())
			if !ok {
				unseen.Of(snap, object.CRD.Resource(), "")
				continue
			}
			kind := object.Kind{GroupKind: schema.GroupKind{Group: r.Group, Kind: r.Kind}, Version: resource.Version, Plural: resource.Name, Namespaced: resource.Namespaced}
			switch {
			case !snap.Covers(resource, target.Namespace):
				unseen.Of(snap, resource, target.Namespace)
			case snap.Unseen(kind, target, o.Created) != "":
				unseen.Doubt()
			default:
				b.add(report.Breakage{Object: user.Ref, Field: r.Field, Label: rule.Label, Reference: target, When: rule.When, Certainty: report.Sure, Message: rule.Effect})
			}
		}
	}
	return b.list, count, unreadUsers(snap, assessment, namespace)
}

// Uses returns the references of other fields than owner references between objects of the snapshot, as
// what would break without their target.
func Uses(snap *snapshot.Snapshot, assessment *health.Assessment) []report.Breakage {
	b := &breakages{snap: snap, health: assessment, found: map[breakageKey]bool{}}
	for _, user := range assessment.Referrers() {
		for i := range user.References {
			r := &user.References[i]
			target := snap.ObjectAt(r.Target())
			if r.Selector != nil || target == nil {
				continue
			}
			rule := r.Rule(user.Ref.GroupKind())
			one := report.Breakage{Object: user.Ref, Field: r.Field, Label: rule.Label, Reference: target.Ref, When: rule.When, Certainty: report.Sure, Message: rule.Effect}
			if rule.Guessed() {
				one.Certainty = report.Undecided
			}
			b.add(one)
		}
	}
	return b.list
}

// Deployed returns what deployers delete with their objects, as references to these.
func Deployed(snap *snapshot.Snapshot) (list []report.Breakage) {
	inventories := finalizer.NewInventories(snap)
	for _, from := range snap.Objects {
		for _, o := range inventories.DeletedWith(from) {
			list = append(list, report.Breakage{Object: o.Ref, Label: "inventory", Reference: from.Ref, Certainty: report.Sure})
		}
	}
	return list
}

// unreadUsers returns the lists of a namespace, or of all, that may hold references and were not read.
func unreadUsers(snap *snapshot.Snapshot, assessment *health.Assessment, namespace string) []report.Gap {
	var unread []report.Gap
	for _, k := range uses.Kinds() {
		r, ok := snap.Resources.Preferred(k.GroupResource())
		if !ok || namespace != "" && !r.Namespaced || !health.ReferrersIn(snap, r, namespace) {
			continue
		}
		if c := assessment.Evidence().CompletenessOf(health.PartOfKind(k), namespace); !c.Whole {
			unread = append(unread, assessment.GapOf(r, namespace, c.Why))
		}
	}
	return unread
}

// AllReferrerParts returns what must be read to know all references of a namespace, or of all if it is
// empty.
func AllReferrerParts(snap *snapshot.Snapshot, namespace string) ReferrerParts {
	parts := ReferrerParts{}
	for _, k := range uses.Kinds() {
		r, ok := snap.Resources.Preferred(k.GroupResource())
		if ok && (namespace == "" || r.Namespaced) && health.ReferrersIn(snap, r, namespace) {
			parts.add(health.PartOfKind(k), namespace)
		}
	}
	return parts
}
