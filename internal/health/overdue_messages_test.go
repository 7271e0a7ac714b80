package health

import (
	"slices"
	"strings"
	"testing"
)

// The namespace controller reports free text of the API server. Names in it are used in commands.
func TestNamespaceSays(t *testing.T) {
	for message, want := range map[string]string{
		"Some resources are remaining: kafkatopics.kafka.strimzi.io has 1 resource instances":                                    "kafkatopics.kafka.strimzi.io",
		"Some resources are remaining: challenges.acme.cert-manager.io has 2 resource instances, pods. has 3 resource instances": "challenges.acme.cert-manager.io pods",
		"Some resources are remaining: `rm -rf ~`.x has 1 resource instances":                                                    "",
		"Some of it": "",
	} {
		s := &Assessment{namespaceConditions: map[string][]Condition{"shop": {{Type: "NamespaceContentRemaining", Status: "True", Message: message}}}}
		if got := strings.Join(s.Remaining("shop"), " "); got != want {
			t.Errorf("%s: %q", message, got)
		}
	}
	for message, want := range map[string][]string{
		"unable to retrieve the complete list of server APIs: metrics.k8s.io/v1beta1: the server is currently unable to handle the request": {"v1beta1.metrics.k8s.io"},
		"a.io/v1: no, b.io/v1alpha1: stale GroupVersion discovery: b.io/v1alpha1":                                                           {"v1.a.io", "v1alpha1.b.io"},
		"Post \"https://x.svc:443/validate/v1\": not found":                                                                                 nil,
	} {
		if got := UnansweredAPIs(message); !slices.Equal(got, want) {
			t.Errorf("%s: %q", message, got)
		}
	}
	if got := CalledWebhook(`failed calling webhook "validate.strimzi.io": failed to call webhook`); got != "validate.strimzi.io" {
		t.Errorf("%q", got)
	}
}
