package evidence

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

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
	takes, sure = selects(&h.Namespaces, &h.Objects, o, namespace)
	return takes, sure && !(takes && h.Conditional)
}

// selects implements Selects for a pair of selectors.
func selects(namespaces, objects *metav1.LabelSelector, o, namespace *object.Object) (takes, sure bool) {
	takes, known := selected(objects, o)
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
	takes, sure = selected(namespaces, in)
	if !takes && sure {
		return false, true
	}
	return takes, sure && known
}

// selected reports whether a selector matches the labels of an object. It is not sure if the object
// was not read or the selector is invalid.
func selected(s *metav1.LabelSelector, o *object.Object) (takes, sure bool) {
	if len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		return true, true
	}
	match, err := metav1.LabelSelectorAsSelector(s)
	if err != nil || o == nil {
		return true, false
	}
	return match.Matches(o.Labels), true
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

func (s *Shown) takeWebhooks(b *body, raw []byte) error {
	var d webhooksBody
	if err := decode(raw, &d); err != nil {
		return err
	}
	for _, h := range d.Webhooks {
		s.Webhooks = append(s.Webhooks, Webhook{
			APIVersion: b.APIVersion, Kind: b.Kind, Configuration: b.Metadata.Name, Name: h.Name, Client: h.ClientConfig, Rules: h.Rules,
			Ignored: h.FailurePolicy == "Ignore", Exact: h.MatchPolicy == "Exact",
			Namespaces: h.Namespaces, Objects: h.Objects, Conditional: len(h.Conditions) > 0,
		})
	}
	return nil
}
