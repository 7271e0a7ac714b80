package health

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// inUseLabel is set by Crossplane on the objects that a Usage names. Its webhook is called for
// deletes of objects with the label. Only the webhooks of inUseLabel, protectionLabel and
// finalizer.RefusedInUse are understood. It is unknown which deletes other working webhooks refuse.
//
// Source: crossplane/crossplane internal/controller/protection/usage/reconciler.go
// Reconciler.Reconcile, cluster/webhookconfigurations/usage.yaml.
const inUseLabel = "crossplane.io/in-use"

// The kinds of Crossplane that protect objects in use.
var (
	legacyUsage  = object.Resource{Group: "apiextensions.crossplane.io", Version: "v1beta1", Name: "usages", Kind: "Usage"}
	usage        = object.Resource{Group: "protection.crossplane.io", Version: "v1beta1", Name: "usages", Kind: "Usage", Namespaced: true}
	clusterUsage = object.Resource{Group: "protection.crossplane.io", Version: "v1beta1", Name: "clusterusages", Kind: "ClusterUsage"}
)

// InUse is a Usage or ClusterUsage of Crossplane.
type InUse struct {
	Ref object.Ref `json:"-"`
	// Of is the object that is in use, without a version. Its name is empty until Crossplane has
	// resolved its label selector.
	Of object.Ref `json:"of"`
	// Reason is the text of its author. By is the object that uses Of, empty if unset.
	Reason string `json:"reason,omitzero"`
	By     string `json:"by,omitzero"`
}

// usageBody has the fields that are read from a Usage.
type usageBody struct {
	Spec struct {
		Of     usedBody  `json:"of"`
		By     *usedBody `json:"by"`
		Reason string    `json:"reason"`
	} `json:"spec"`
}

type usedBody struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Resource   struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"resourceRef"`
}

func (s *Shown) takeUsage(b *body, d *usageBody) {
	of := d.Spec.Of
	u := InUse{Ref: b.ref(), Reason: d.Spec.Reason, Of: object.Ref{
		APIVersion: of.APIVersion, Kind: of.Kind, Namespace: cmp.Or(of.Resource.Namespace, b.Metadata.Namespace), Name: of.Resource.Name,
	}}
	if by := d.Spec.By; by != nil {
		u.By = object.Ref{APIVersion: by.APIVersion, Kind: by.Kind, Name: by.Resource.Name}.ShortName()
	}
	s.Usages = append(s.Usages, u)
}

// text describes a Usage with its reason.
func (u *InUse) text() string {
	text := u.Ref.ShortName() + " of Crossplane says that it is in use"
	if u.By != "" {
		text += " by " + u.By
	}
	if u.Reason != "" {
		text += ": " + Clip(u.Reason)
	}
	return text
}

// matches reports whether a Usage names an object. A cluster-scoped Usage matches the objects of
// all namespaces.
//
// Source: crossplane/crossplane internal/protection/usage/finder.go Finder.FindUsageOf.
func (u *InUse) matches(o *object.Object) bool {
	return object.GroupOf(u.Of.APIVersion) == o.Group() && u.Of.Kind == o.Kind && u.Of.Name == o.Name &&
		(u.Ref.Namespace == "" || u.Of.Namespace == o.Namespace)
}

// mayBeProtected reports whether a webhook may refuse to delete an object, because of a label or its use.
func (s *Assessment) mayBeProtected(o *object.Object) bool {
	webhook, _ := finalizer.RefusedInUse(o, s.snap.Resources)
	return webhook != "" || hasProtectionLabel(o)
}

// hasProtectionLabel reports whether an object has a label that asks a webhook to refuse its
// deletion.
func hasProtectionLabel(o *object.Object) bool {
	return strings.Contains(string(o.Labels), inUseLabel) || strings.Contains(string(o.Labels), protectionLabel)
}

// InUseByLabel reports whether Crossplane has marked an object as in use.
func InUseByLabel(o *object.Object) bool {
	value, _ := o.Labels.Lookup(inUseLabel)
	return value == "true"
}

// denialByWebhook returns the denial of a webhook that protects labelled objects, or those in use. It returns nil if
// no webhook refuses the deletion.
func (s *Assessment) denialByWebhook(w Write, r object.Resource) *Denial {
	if w.Operation != Remove || w.Subresource != "" {
		return nil
	}
	if d := s.denialInUse(w, r); d != nil || !hasProtectionLabel(w.Object) {
		return d
	}
	if InUseByLabel(w.Object) {
		if d := s.denialByUsage(w, r); d != nil {
			return d
		}
	}
	if value, ok := w.Object.Labels.Lookup(protectionLabel); ok && (value == "Always" || value == "Cascading") {
		return s.denialByKruise(value, w, r)
	}
	return nil
}

// denialInUse implements denialByWebhook for objects that others refer to.
func (s *Assessment) denialInUse(w Write, r object.Resource) *Denial {
	name, usage := finalizer.RefusedInUse(w.Object, s.snap.Resources)
	if name == "" {
		return nil
	}
	_, asked, sure := s.webhookOf(w, r, func(h *Webhook) bool { return h.Name == name })
	if !asked {
		return nil
	}
	switch use := s.useOf(w.Object, usage); {
	case len(use.Users) > 0:
		d := &Denial{By: use.Users[0], Message: use.Users[0].ShortName() + " refers to it", Open: GuardOpen}
		if sure && w.First {
			d.Open, d.Message = Decided, d.Message+"; webhook "+name+" refuses to delete it"
		}
		return d
	case use.Unseen || len(use.Possible) > 0:
		return &Denial{By: w.Object.Ref, Open: GuardOpen, Message: "webhook " + name + " refuses to delete it in use, and not everything was read that may use it"}
	}
	return nil
}

// denialByUsage implements denialByWebhook for objects that Crossplane marks as in use. A Usage that
// is being deleted still counts, and an object that is being deleted is still protected.
//
// Source: crossplane/crossplane internal/webhook/protection/usage/handler.go Handler.Handle.
func (s *Assessment) denialByUsage(w Write, r object.Resource) *Denial {
	hook, asked, sure := s.webhookOf(w, r, func(h *Webhook) bool { return strings.HasPrefix(h.Name, "nousages.") })
	if !asked {
		return nil
	}
	for n := range s.evidence.Usages {
		u := &s.evidence.Usages[n]
		if !u.matches(w.Object) {
			continue
		}
		d := &Denial{By: u.Ref, Message: u.text(), Open: GuardOpen}
		ref := s.Known(u.Ref)
		o := s.snap.Find(ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
		// No other deletion can remove such a Usage.
		permanent := o != nil && len(o.Owners) == 0 && !o.BeingDeleted() && o.Namespace == ""
		if sure && (w.First || permanent) {
			d.Open, d.Message = Decided, d.Message+"; webhook "+hook.Name+" refuses to delete it"
		}
		return d
	}
	unresolved := slices.ContainsFunc(s.evidence.Usages, func(u InUse) bool { return u.Of.Name == "" && u.Of.Kind == w.Object.Kind })
	if !unresolved && s.usagesSeen() {
		return nil
	}
	return &Denial{By: w.Object.Ref, Open: GuardOpen, Message: "the label " + inUseLabel + " says that a Usage of Crossplane names it, and no such Usage was read"}
}

// usagesSeen reports whether the snapshot has all Usages of each served kind.
func (s *Assessment) usagesSeen() bool {
	if !s.snap.KnowsAllKinds() {
		return false
	}
	for _, part := range []Part{LegacyUsages, Usages, ClusterUsages} {
		for _, r := range s.snap.Resources.All() {
			if r.GroupResource() == ResourceOf(part).GroupResource() && !s.snap.Covers(r, "") {
				return false
			}
		}
	}
	return true
}

// webhookOf returns a webhook that is called for a write. asked is true if one may be called, also
// because not all webhooks were read. sure is true if one certainly is, unless it does not answer and its
// failure is ignored.
func (s *Assessment) webhookOf(w Write, r object.Resource, is func(*Webhook) bool) (found *Webhook, asked, sure bool) {
	for n := range s.evidence.Webhooks {
		h := &s.evidence.Webhooks[n]
		if !is(h) || !s.matchesRules(h, w, r) {
			continue
		}
		takes, certain := h.Selects(w.Object, s.namespaceOf(w.Object))
		if takes && certain {
			_, broken := s.Broken(&h.Client)
			return h, true, !broken || !h.Ignored
		}
		asked = asked || takes
	}
	whole, _, _ := s.evidence.Whole(ValidatingWebhooks)
	return nil, asked || !whole, false
}

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

// denialByKruise implements denialByWebhook for objects that OpenKruise protects. It admits deletes
// of objects that are being deleted. It refuses for certain only if the feature
// ResourcesDeletionProtection is on. The webhooks of Services and Ingresses exist only then. The
// other webhooks are called regardless, and admit everything if it is off.
//
// Source: openkruise/kruise pkg/webhook/add_service.go, add_ingress.go;
// pkg/features/kruise_features.go: off by default since v1.8.
func (s *Assessment) denialByKruise(value string, w Write, r object.Resource) *Denial {
	on, protects := protectedKinds[r.GroupKind()]
	cascading := value == "Cascading"
	if !protects || w.Object.BeingDeleted() || cascading && on == onNothing {
		return nil
	}
	hook, asked, sure := s.webhookOf(w, r, isKruiseWebhook)
	if !asked {
		return nil
	}
	enabled := slices.ContainsFunc(s.evidence.Webhooks, func(h Webhook) bool {
		return isKruiseWebhook(&h) && (h.Name == "vservice.kb.io" || h.Name == "vingress.kb.io")
	})
	d := &Denial{By: w.Object.Ref, Open: GuardOpen, Message: "OpenKruise protects it by the label " + protectionLabel + "=" + value}
	if cascading {
		depends, known := s.hasDependents(on, w)
		if known && !depends {
			return nil
		}
		d.Message += ": deleting it is refused as long as something depends on it"
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

func isKruiseWebhook(h *Webhook) bool {
	return h.Client.Service != nil && strings.HasPrefix(h.Client.Service.Name, "kruise-webhook")
}

// hasDependents reports whether something depends on an object by the rules of OpenKruise, and
// whether that is known.
func (s *Assessment) hasDependents(on dependence, w Write) (depends, known bool) {
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
func (s *Assessment) hasReplicas(o *object.Object) (yes, known bool) {
	if s.replicas == nil {
		s.replicas = map[object.Ref]int{}
		for n := range s.evidence.Workloads {
			w := &s.evidence.Workloads[n]
			s.replicas[s.Known(w.Ref)] = w.Wanted
		}
	}
	wanted, known := s.replicas[s.Known(o.Ref)]
	return wanted > 0, known
}

// hasInstances reports whether a CRD has instances that are not being deleted. Without one the
// answer is unknown: another feature of OpenKruise may refuse the delete.
//
// Source: openkruise/kruise deletion_protection.go ValidateCRDDeletion.
func (s *Assessment) hasInstances(w Write) (yes, known bool) {
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
func (s *Assessment) hasContent(w Write) (yes, known bool) {
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
