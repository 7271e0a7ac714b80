package health

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// The operations of a Write.
const (
	Create = "CREATE"
	Update = "UPDATE"
	Remove = "DELETE"
)

// Write is a request that changes an object.
type Write struct {
	// Operation is Create, Update or Remove.
	Operation string
	Object    *object.Object
	// Subresource is the subresource of the request, such as status. It is empty for the object
	// itself.
	Subresource string
	// Unnamed is true if the request may not name the object, as in a deletecollection.
	Unnamed bool
	// First is true if nothing has been written since the snapshot.
	First bool
	// Ours is true if the command sends the request, false for a controller.
	Ours bool
}

// Refusal is why a write fails: an admission policy denies it, or an admission or conversion
// webhook that must be called does not answer. Exactly one of Webhook, Definition and Denial is
// set.
type Refusal struct {
	// Webhook is the admission webhook that does not answer.
	Webhook *Webhook
	// Denial is the policy that denies it.
	Denial *Denial
	// Definition is the CRD of the conversion webhook that does not answer.
	Definition *Definition
	Why        Unreachable
	// Sure is true if the webhook is certainly called, or the policy certainly denies. It is false
	// if the inputs of its selectors or expressions, or the stored version of the object, are
	// unknown.
	Sure bool
}

// Source returns the object that causes the refusal: a policy, or the configuration or CRD of the
// webhook.
func (r Refusal) Source() object.Ref {
	if r.Denial != nil {
		return r.Denial.By
	}
	if r.Webhook != nil {
		return object.Ref{APIVersion: r.Webhook.APIVersion, Kind: r.Webhook.Kind, Name: r.Webhook.Configuration}
	}
	return r.Definition.Ref
}

// By reports whether an object causes the refusal: it is the source, or the binding of the policy.
func (r Refusal) By(o object.Ref) bool {
	return r.Source().Coordinates() == o.Coordinates() || r.Denial != nil && r.Denial.Binding.Coordinates() == o.Coordinates()
}

// Text says what refuses and why.
func (r Refusal) Text() string {
	if r.Denial != nil {
		return r.Denial.Text()
	}
	if r.Webhook != nil {
		return "webhook " + r.Webhook.Name + " must admit it and does not answer: " + r.Why.Text()
	}
	return "the conversion webhook of " + r.Definition.Plural + "." + r.Definition.Group + " does not answer: " + r.Why.Text()
}

// Admitted reports whether the lists of admission webhooks and policies are complete.
func (s *Assessment) Admitted() bool {
	ok, _, _ := s.evidence.Whole(ValidatingWebhooks, MutatingWebhooks, Policies, PolicyBindings)
	return ok
}

// Converted reports whether the list of CRDs is complete.
func (s *Assessment) Converted() bool {
	ok, _, _ := s.evidence.Whole(Definitions)
	return ok
}

// Obstructed reports whether any known webhook, policy or label could make a write fail.
func (s *Assessment) Obstructed() bool {
	return len(s.unreachableWebhooks)+len(s.unreachableConversions)+len(s.boundPolicies) > 0 || s.anyProtected
}

// UnreachableWebhooks returns the webhooks without a working backend and with the failure policy Fail.
func (s *Assessment) UnreachableWebhooks() []*Webhook { return s.unreachableWebhooks }

// UnreachableConversions returns the CRDs with a conversion webhook without a working backend.
func (s *Assessment) UnreachableConversions() []*Definition { return s.unreachableConversions }

// Refuses returns why a write fails or may fail; false if nothing known refuses it. Certain reasons
// take precedence.
func (s *Assessment) Refuses(w Write) (Refusal, bool) {
	surely, perhaps := s.Webhooks(w)
	for _, h := range surely {
		u, _ := s.Broken(&h.Client)
		return Refusal{Webhook: h, Why: u, Sure: true}, true
	}
	d, u, sure := s.Conversion(w.Object)
	if sure {
		return Refusal{Definition: d, Why: u, Sure: true}, true
	}
	denies, mayDeny := s.Denies(w)
	if denies != nil {
		return Refusal{Denial: denies, Sure: true}, true
	}
	for _, h := range perhaps {
		u, _ := s.Broken(&h.Client)
		return Refusal{Webhook: h, Why: u}, true
	}
	if mayDeny != nil {
		return Refusal{Denial: mayDeny}, true
	}
	return Refusal{Definition: d, Why: u}, d != nil
}

// Webhooks returns the webhooks without endpoints that must admit a write, such as the update that
// removes a finalizer. surely are certainly called, perhaps may be. Webhooks are not called for
// admissionregistration.k8s.io.
//
// Upstream: apiserver/pkg/admission/plugin/webhook/predicates/rules/rules.go IsExemptAdmissionConfigurationResource.
func (s *Assessment) Webhooks(w Write) (surely, perhaps []*Webhook) {
	for _, h := range s.unreachableWebhooks {
		switch takes, sure := s.MustAdmit(h, w); {
		case takes && sure:
			surely = append(surely, h)
		case takes:
			perhaps = append(perhaps, h)
		}
	}
	return surely, perhaps
}

// MustAdmit reports whether a webhook is called for a write. sure is false if something unknown could change
// the result.
func (s *Assessment) MustAdmit(h *Webhook, w Write) (takes, sure bool) {
	r, err := s.snap.Resources.For(w.Object.APIVersion, w.Object.Kind)
	if err != nil || w.Object.Group() == "admissionregistration.k8s.io" || !s.matchesRules(h, w, r) {
		return false, true
	}
	return h.Selects(labelledByName(w.Object), s.namespaceOf(w.Object))
}

// Cleanup returns why the API server cannot read the instances of a CRD to delete them with it.
// Instances stored in another version than the storage version must be converted first. The refusal
// is Sure if an attempt has failed.
//
// Upstream: apiextensions-apiserver/pkg/controller/finalizer/crd_finalizer.go deleteInstances.
// Upstream: apiextensions-apiserver/pkg/apiserver/customresource_handler.go GetCustomResourceListerCollectionDeleter.
func (s *Assessment) Cleanup(definition *object.Object) (Refusal, bool) {
	for _, d := range s.unreachableConversions {
		if d.Ref.Name != definition.Name || len(d.Stored) == 1 && d.Stored[0] == d.Storage {
			continue
		}
		why, _ := s.Broken(d.Conversion)
		c, _ := Find(d.Conditions, "Terminating")
		r := Refusal{Definition: d, Why: why, Sure: c.True() && c.Reason == instancesFail}
		preferred, _ := s.snap.Resources.Preferred(schema.GroupResource{Group: d.Group, Resource: d.Plural})
		if _, failed := s.unreadable(d, ""); failed && preferred.Version == d.Storage {
			r.Sure = true
		}
		return r, true
	}
	return Refusal{}, false
}

// instancesFail is the reason in the condition Terminating of a CRD if its instances cannot be
// listed or deleted.
const instancesFail = "InstanceDeletionFailed"

// Unreadable returns why custom resources in a namespace cannot be listed: the snapshot records
// that listing them failed in the conversion webhook.
func (s *Assessment) Unreadable(namespace string) (Refusal, bool) {
	for _, d := range s.unreachableConversions {
		if r, failed := s.unreadable(d, namespace); failed {
			return r, true
		}
	}
	return Refusal{}, false
}

// unreadable returns why the instances of one CRD cannot be listed in a namespace, or in any if it
// is empty. A list does not say which instance cannot be converted, so other namespaces may be
// unaffected. But until the API server's watch cache is ready, its lists fail in all namespaces.
//
// Upstream: apiserver/pkg/storage/cacher/cacher.go Cacher.GetList.
// Upstream: pkg/controller/namespace/deletion/namespaced_resources_deleter.go deleteAllContentForGroupVersionResource:
// lists without a limit.
func (s *Assessment) unreadable(d *Definition, namespace string) (Refusal, bool) {
	r, ok := s.snap.Resources.Preferred(schema.GroupResource{Group: d.Group, Resource: d.Plural})
	if !ok || namespace != "" && !r.Namespaced {
		return Refusal{}, false
	}
	for _, g := range s.snap.Gaps {
		here := g.Namespace == namespace || namespace == "" || g.Namespace == "" && strings.Contains(g.Why, unreadyCache)
		if here && g.Resource == r.Name && object.GroupOf(g.APIVersion) == r.Group && strings.Contains(g.Why, "conversion webhook for ") {
			why, _ := s.Broken(d.Conversion)
			return Refusal{Definition: d, Why: why, Sure: true}, true
		}
	}
	return Refusal{}, false
}

// unreadyCache is a part of the API server's error while its watch cache of a resource is not
// ready.
//
// Upstream: apiserver/pkg/storage/cacher/ready.go readGenerationLocked.
const unreadyCache = "storage is (re)initializing"

// matchesRules reports whether the rules of a webhook match a write. Unless Exact is set, a rule
// for another version of the resource matches too.
//
// Upstream: apiserver/pkg/admission/plugin/webhook/predicates/rules/rules.go Matcher.Matches,
// scope, group, version, operation, resource.
// Upstream: apiserver/pkg/admission/plugin/webhook/generic/webhook.go ShouldCallHook.
func (s *Assessment) matchesRules(h *Webhook, w Write, r object.Resource) bool {
	if ruleMatches(h, w, r) {
		return true
	}
	return !h.Exact && slices.ContainsFunc(s.snap.Resources.All(), func(x object.Resource) bool {
		return x.GroupResource() == r.GroupResource() && x.Version != r.Version && ruleMatches(h, w, x)
	})
}

func ruleMatches(h *Webhook, w Write, r object.Resource) bool {
	has := func(list []string, want string) bool {
		return slices.Contains(list, "*") || slices.Contains(list, want)
	}
	return slices.ContainsFunc(h.Rules, func(rule WebhookRule) bool {
		scope := rule.Scope == "" || rule.Scope == "*" || (rule.Scope == "Namespaced") == r.Namespaced
		return scope && has(rule.Operations, w.Operation) && has(rule.Groups, r.Group) && has(rule.Versions, r.Version) &&
			slices.ContainsFunc(rule.Resources, func(x string) bool {
				resource, sub, _ := strings.Cut(x, "/")
				return (resource == "*" || resource == r.Name) && (sub == "*" || sub == w.Subresource)
			})
	})
}

// Conversion returns the CRD of a custom resource if its conversion webhook does not answer. It
// returns nil if there is no such webhook, or if nothing must be converted. sure is true if the
// conversion is certain, because no instance is stored in the version of the request. With a single
// version, or if all instances are stored in that of the request, nothing is ever converted.
func (s *Assessment) Conversion(o *object.Object) (d *Definition, why Unreachable, sure bool) {
	r, err := s.snap.Resources.For(o.APIVersion, o.Kind)
	if err != nil || len(s.unreachableConversions) == 0 {
		return nil, Unreachable{}, false
	}
	if p, ok := s.snap.Resources.Preferred(r.GroupResource()); ok {
		r = p
	}
	for _, d := range s.unreachableConversions {
		if d.Group != r.Group || d.Plural != r.Name || len(d.Stored) == 1 && d.Stored[0] == r.Version {
			continue
		}
		why, _ := s.Broken(d.Conversion)
		return d, why, len(d.Stored) > 0 && !slices.Contains(d.Stored, r.Version)
	}
	return nil, Unreachable{}, false
}

// Client is what an API server calls: a service of the cluster, or a URL.
type Client struct {
	Service *ServiceRef `json:"service,omitzero"`
	URL     string      `json:"url,omitzero"`
}

// Webhook is one webhook of a validating or mutating configuration.
type Webhook struct {
	// Configuration is the name of the object that contains the webhook.
	APIVersion    string `json:"apiVersion"`
	Kind          string `json:"kind"`
	Configuration string `json:"configuration"`
	Name          string `json:"name"`
	Client        Client `json:"client"`
	// Ignored is true if the failure policy is Ignore.
	Ignored bool          `json:"ignored,omitzero"`
	Rules   []WebhookRule `json:"rules,omitempty"`
	// Namespaces and Objects are the selectors. Empty ones match everything.
	Namespaces metav1.LabelSelector `json:"namespaceSelector,omitzero"`
	Objects    metav1.LabelSelector `json:"objectSelector,omitzero"`
	// Exact is true if the rules match only requests in exactly their versions, and not requests in
	// other versions of the resource.
	Exact bool `json:"exact,omitzero"`
	// Conditional is true if it has match conditions, which are not evaluated here.
	Conditional bool `json:"conditional,omitzero"`
}

// Selects reports whether the selectors match an object in a namespace. The namespace is nil if it
// was not read. sure is false if something unknown could change the result.
//
// Upstream: apiserver/pkg/admission/plugin/webhook/predicates/namespace/matcher.go MatchNamespaceSelector,
// GetNamespaceLabels.
// Upstream: apiserver/pkg/admission/plugin/webhook/predicates/object/matcher.go MatchObjectSelector,
// matchObject: every namespace selector matches an object without a namespace, and a namespace is
// matched by its own labels.
func (h *Webhook) Selects(o, namespace *object.Object) (takes, sure bool) {
	takes, sure = matchSelectors(&h.Namespaces, &h.Objects, o, namespace)
	return takes, sure && !(takes && h.Conditional)
}

// matchSelectors implements Selects for a pair of selectors.
func matchSelectors(namespaces, objects *metav1.LabelSelector, o, namespace *object.Object) (takes, sure bool) {
	takes, known := matchSelector(objects, o)
	if !takes && known {
		return false, true
	}
	in := namespace
	switch {
	case o.Is(object.Namespace):
		in = o
	case o.Namespace == "":
		return takes, known
	}
	takes, sure = matchSelector(namespaces, in)
	if !takes && sure {
		return false, true
	}
	return takes, sure && known
}

// matchSelector reports whether a selector matches the labels of an object. It is not sure if the
// object was not read or the selector is invalid.
func matchSelector(s *metav1.LabelSelector, o *object.Object) (takes, sure bool) {
	if len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		return true, true
	}
	match, err := metav1.LabelSelectorAsSelector(s)
	if err != nil || o == nil {
		return true, false
	}
	return match.Matches(o.Labels), true
}

// Asks reports whether a webhook is called for one of the operations.
func (h *Webhook) Asks(operations ...string) bool {
	return slices.ContainsFunc(h.Rules, func(r WebhookRule) bool {
		return slices.ContainsFunc(r.Operations, func(op string) bool { return op == "*" || slices.Contains(operations, op) })
	})
}

// WebhookRule says which requests a webhook is called for.
type WebhookRule struct {
	Operations []string `json:"operations"`
	Groups     []string `json:"apiGroups"`
	Versions   []string `json:"apiVersions"`
	Resources  []string `json:"resources"`
	// Scope is Cluster, Namespaced or *. Empty means *.
	Scope string `json:"scope"`
	// Names limits a rule of a policy to single objects. It is empty for all objects.
	Names []string `json:"resourceNames"`
}

// webhooksBody has the fields that are read from a configuration of webhooks.
type webhooksBody struct {
	Webhooks []struct {
		Name          string               `json:"name"`
		ClientConfig  Client               `json:"clientConfig"`
		FailurePolicy string               `json:"failurePolicy"`
		MatchPolicy   string               `json:"matchPolicy"`
		Rules         []WebhookRule        `json:"rules"`
		Namespaces    metav1.LabelSelector `json:"namespaceSelector"`
		Objects       metav1.LabelSelector `json:"objectSelector"`
		Conditions    []struct{}           `json:"matchConditions"`
	} `json:"webhooks"`
}

func (s *Shown) takeWebhooks(b *body, d *webhooksBody) {
	for _, h := range d.Webhooks {
		s.Webhooks = append(s.Webhooks, Webhook{
			APIVersion: b.APIVersion, Kind: b.Kind, Configuration: b.Metadata.Name, Name: h.Name, Client: h.ClientConfig, Rules: h.Rules,
			Ignored: h.FailurePolicy == "Ignore", Exact: h.MatchPolicy == "Exact",
			Namespaces: h.Namespaces, Objects: h.Objects, Conditional: len(h.Conditions) > 0,
		})
	}
}
