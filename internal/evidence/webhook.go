package evidence

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Client is whom an API server calls: a service of the cluster, or a URL.
type Client struct {
	Service *ServiceRef `json:"service,omitzero"`
	URL     string      `json:"url,omitzero"`
}

// Webhook is one webhook of a validating or mutating configuration.
type Webhook struct {
	// Configuration is the object that it stands in, with its APIVersion and Kind.
	APIVersion    string `json:"apiVersion"`
	Kind          string `json:"kind"`
	Configuration string `json:"configuration"`
	Name          string `json:"name"`
	Client        Client `json:"client"`
	// Ignored tells that a failure to call it is ignored.
	Ignored bool          `json:"ignored,omitzero"`
	Rules   []WebhookRule `json:"rules,omitempty"`
	// Namespaces and Objects are the selectors; empty ones take all.
	Namespaces metav1.LabelSelector `json:"namespaceSelector,omitzero"`
	Objects    metav1.LabelSelector `json:"objectSelector,omitzero"`
	// Exact tells that only requests of the very versions of its rules count, and not
	// those of other versions of the resource.
	Exact bool `json:"exact,omitzero"`
	// Conditional tells that conditions decide, too, which nobody evaluates here.
	Conditional bool `json:"conditional,omitzero"`
}

// Selects reports whether the selectors take an object in a namespace, which is nil
// where it was not seen. It is sure only when nothing else could decide otherwise.
//
// Upstream: apiserver/pkg/admission/plugin/webhook/predicates/namespace/matcher.go MatchNamespaceSelector,
// GetNamespaceLabels.
// Upstream: apiserver/pkg/admission/plugin/webhook/predicates/object/matcher.go MatchObjectSelector,
// matchObject: an object without namespace is taken by every namespace selector, a namespace by its
// own labels.
func (h *Webhook) Selects(o, namespace *object.Object) (takes, sure bool) {
	takes, sure = selects(&h.Namespaces, &h.Objects, o, namespace)
	return takes, sure && !(takes && h.Conditional)
}

// selects is Selects of a pair of selectors.
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

// selected reports whether a selector takes the labels of an object; not sure where it
// was not seen, or the selector is none.
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

// WebhookRule says what a webhook is called for.
type WebhookRule struct {
	Operations []string `json:"operations"`
	Groups     []string `json:"apiGroups"`
	Versions   []string `json:"apiVersions"`
	Resources  []string `json:"resources"`
	// Scope is Cluster, Namespaced, or * or empty for both.
	Scope string `json:"scope"`
	// Names are the only objects that a rule of a policy is about; empty for all.
	Names []string `json:"resourceNames"`
}

// webhooksBody is what is read of a configuration of webhooks.
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
