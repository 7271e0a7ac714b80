package cluster

import (
	"net/http"
	"regexp"
	"slices"
	"testing"
)

// noEndpoints is how releases say it: up to v1.33 and since.
var noEndpoints = regexp.MustCompile(`endpoints \\"deaf\\" not found|no endpoints available for service \\"deaf\\"`)

// What is served is found while an API is registered that does not answer; and a webhook
// without endpoints fails at once, whatever there is behind the address of its service.
func unanswered(t *testing.T, c *Cluster) {
	const apis = "/apis/apiregistration.k8s.io/v1/apiservices"
	const hooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
	send := func(method, path, body string) {
		t.Helper()
		if _, err := c.Do(t.Context(), method, path, "application/json", []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	send(http.MethodPost, "/api/v1/namespaces/default/services", `{"metadata":{"name":"deaf"},"spec":{"ports":[{"port":443}]}}`)
	send(http.MethodPost, apis, `{"metadata":{"name":"v1.deaf.example.com"},"spec":{"group":"deaf.example.com","version":"v1",
		"groupPriorityMinimum":1000,"versionPriority":15,"insecureSkipTLSVerify":true,"service":{"namespace":"default","name":"deaf"}}}`)
	Until(t, "the API does not answer", func() bool {
		_, err := c.Do(t.Context(), http.MethodGet, "/apis/deaf.example.com/v1", "", nil)
		return Code(err) == http.StatusServiceUnavailable
	})
	if paths, err := c.Collections(t.Context()); err != nil || !slices.Contains(paths, "/api/v1/configmaps") {
		t.Errorf("collections are %v, %v", paths, err)
	}
	send(http.MethodDelete, apis+"/v1.deaf.example.com", "")
	if err := c.Whole(t.Context()); err != nil {
		t.Error(err)
	}

	send(http.MethodPost, hooks, `{"metadata":{"name":"deaf"},"webhooks":[{"name":"deaf.example.com","admissionReviewVersions":["v1"],"sideEffects":"None",
		"clientConfig":{"service":{"namespace":"default","name":"deaf"}},
		"rules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["secrets"]}]}]}`)
	Until(t, "the webhook is asked", func() bool {
		_, err := c.Do(t.Context(), http.MethodPost, "/api/v1/namespaces/default/secrets?dryRun=All", "application/json", []byte(`{"metadata":{"name":"new"}}`))
		if err != nil && !noEndpoints.MatchString(err.Error()) {
			t.Errorf("a webhook without endpoints: %v", err)
		}
		return err != nil
	})
	send(http.MethodDelete, hooks+"/deaf", "")
}
