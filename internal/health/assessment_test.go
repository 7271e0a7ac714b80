package health_test

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// TestMoments: an object that a dump of several moments lacks is not absent if it may have been
// created meanwhile: the service of a webhook, and the node of a pod.
func TestMoments(t *testing.T) {
	for created, absent := range map[string]bool{"2026-05-01T10:00:00Z": true, "2026-05-01T11:59:00Z": false} {
		snap, err := snapshot.ReadFiles([]string{"-"}, snapshot.Options{Stdin: strings.NewReader(`{"apiVersion":"v1","kind":"List","items":[
{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","uid":"n","creationTimestamp":"2026-05-01T09:00:00Z"},"status":{"conditions":[{"lastHeartbeatTime":"2026-05-01T12:00:00Z"}]}},
{"apiVersion":"v1","kind":"Service","metadata":{"name":"s","namespace":"shop","uid":"s","creationTimestamp":"2026-05-01T09:00:00Z"}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"shop","uid":"p","creationTimestamp":"` + created + `","annotations":{"kubernetes.io/config.mirror":"x"}},"spec":{"nodeName":"other"}},
{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration","metadata":{"name":"h","uid":"h","creationTimestamp":"` + created + `"}}]}`)})
		if err != nil {
			t.Fatal(err)
		}
		h := health.Webhook{Kind: "ValidatingWebhookConfiguration", Configuration: "h", Client: health.Client{Service: &health.ServiceRef{Namespace: "shop", Name: "hook"}}}
		seen := &health.Evidence{Shown: health.Shown{Webhooks: []health.Webhook{h}}}
		seen.Mark(health.Services, "", "")
		around := health.New(snap, seen, 0)
		if _, broken := around.Broken(&h.Client); broken != absent {
			t.Errorf("created %s: the webhook is broken: %v", created, broken)
		}
		if state, _ := around.Node("other"); (state == health.NodeAbsent) != absent {
			t.Errorf("created %s: the node is %s", created, state)
		}
	}
}
