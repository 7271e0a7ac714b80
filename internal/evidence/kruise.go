package evidence

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// protectionLabel is the label of objects that OpenKruise protects. The value Always refuses every
// delete. The value Cascading refuses it only if something depends on the object.
//
// Source: openkruise/kruise apis/policy/v1alpha1/resources_deletion_protection.go.
const protectionLabel = "policy.kruise.io/delete-protection"

// dependence says what counts as a dependent under Cascading.
type dependence uint8

const (
	// onNothing: Cascading does not protect an object of the kind.
	onNothing dependence = iota
	onReplicas
	onContent
	onInstances
)

// protectedKinds are the kinds that OpenKruise protects. It ignores the label of others.
//
// Source: openkruise/kruise pkg/webhook/util/deletionprotection/deletion_protection.go, and the
// handlers in pkg/webhook that call it.
var protectedKinds = map[schema.GroupKind]dependence{
	{Group: "", Kind: "Namespace"}: onContent, {Group: "", Kind: "Service"}: onNothing,
	{Group: "networking.k8s.io", Kind: "Ingress"}: onNothing, {Group: "extensions", Kind: "Ingress"}: onNothing,
	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}: onInstances,
	{Group: "apps", Kind: "Deployment"}:                               onReplicas, {Group: "apps", Kind: "ReplicaSet"}: onReplicas, {Group: "apps", Kind: "StatefulSet"}: onReplicas,
	{Group: "apps.kruise.io", Kind: "CloneSet"}: onReplicas, {Group: "apps.kruise.io", Kind: "StatefulSet"}: onReplicas, {Group: "apps.kruise.io", Kind: "UnitedDeployment"}: onReplicas,
}

// protectedBy implements guarded for objects that OpenKruise protects. It admits deletes of objects
// that are being deleted. It refuses for certain only if the feature ResourcesDeletionProtection is
// on. The webhooks of Services and Ingresses exist only then. The other webhooks are called
// regardless, and admit everything if it is off.
//
// Source: openkruise/kruise pkg/webhook/add_service.go, add_ingress.go; pkg/features/kruise_features.go:
// off by default since v1.8.
func (s *Surroundings) protectedBy(value string, w Write, r object.Resource) *Denial {
	on, protects := protectedKinds[schema.GroupKind{Group: r.Group, Kind: r.Kind}]
	cascading := value == "Cascading"
	if !protects || w.Object.BeingDeleted() || cascading && on == onNothing {
		return nil
	}
	hook, asked, sure := s.webhookOf(w, r, ofKruise)
	if !asked {
		return nil
	}
	enabled := slices.ContainsFunc(s.seen.Webhooks, func(h Webhook) bool {
		return ofKruise(&h) && (h.Name == "vservice.kb.io" || h.Name == "vingress.kb.io")
	})
	d := &Denial{By: w.Object.Ref, Open: GuardOpen, Message: "OpenKruise protects it by the label " + protectionLabel + "=" + value}
	if cascading {
		depends, known := s.depended(on, w)
		if known && !depends {
			return nil
		}
		d.Message += ": it is refused as long as something depends on it"
		sure = sure && known
	}
	switch {
	case sure && enabled:
		d.Open, d.Message = Decided, d.Message+": webhook "+hook.Name+" refuses to delete it"
	case !enabled:
		d.Message += ", if its feature ResourcesDeletionProtection is on"
	}
	return d
}

func ofKruise(h *Webhook) bool {
	return h.Client.Service != nil && strings.HasPrefix(h.Client.Service.Name, "kruise-webhook")
}

// depended reports whether something depends on an object by the rules of OpenKruise, and whether
// that is known.
func (s *Surroundings) depended(on dependence, w Write) (depends, known bool) {
	switch on {
	case onReplicas:
		return s.hasReplicas(w.Object)
	case onInstances:
		return s.hasInstances(w)
	case onContent:
		return s.hasContent(w)
	default:
		return false, true
	}
}

// hasReplicas reports whether a workload wants pods.
//
// Source: openkruise/kruise deletion_protection.go ValidateWorkloadDeletion.
func (s *Surroundings) hasReplicas(o *object.Object) (yes, known bool) {
	if s.wanted == nil {
		s.wanted = map[object.Ref]int{}
		for n := range s.seen.Workloads {
			w := &s.seen.Workloads[n]
			s.wanted[s.Known(w.Ref)] = w.Wanted
		}
	}
	wanted, known := s.wanted[s.Known(o.Ref)]
	return wanted > 0, known
}

// hasInstances reports whether a CRD has instances that are not being deleted. Without one the
// answer is unknown: another feature of OpenKruise may refuse the delete.
//
// Source: openkruise/kruise deletion_protection.go ValidateCRDDeletion.
func (s *Surroundings) hasInstances(w Write) (yes, known bool) {
	d := w.Object.Definition()
	if d == nil || !w.First {
		return false, false
	}
	yes = slices.ContainsFunc(s.objectsOf(schema.GroupKind{Group: d.Group, Kind: d.Kind}), func(o *object.Object) bool { return !o.BeingDeleted() })
	return yes, yes
}

// hasContent reports whether a namespace has unfinished pods. A bound PVC counts as well, but
// whether a PVC is bound is unknown.
//
// Source: openkruise/kruise deletion_protection.go ValidateNamespaceDeletion.
func (s *Surroundings) hasContent(w Write) (yes, known bool) {
	if !w.First {
		return false, false
	}
	in := func(k object.Kind, is func(*object.Object) bool) bool {
		return slices.ContainsFunc(s.snap.In(k.GroupResource(), w.Object.Name), func(o *object.Object) bool { return !o.BeingDeleted() && is(o) })
	}
	atWork := func(o *object.Object) bool {
		p := o.Pod()
		return p != nil && p.Phase != "" && p.Phase != "Succeeded" && p.Phase != "Failed"
	}
	if in(object.Pod, atWork) {
		return true, true
	}
	every := func(*object.Object) bool { return true }
	ended := func(o *object.Object) bool { p := o.Pod(); return p == nil || p.Phase == "" }
	known = !in(object.Pod, ended) && !in(object.PVC, every) &&
		s.snap.Covers(object.Pod.Resource(), w.Object.Name) && s.snap.Covers(object.PVC.Resource(), w.Object.Name)
	return false, known
}
