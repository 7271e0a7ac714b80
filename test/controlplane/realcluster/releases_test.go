package realcluster

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// These show what a release does otherwise than another where the replay of a scenario file
// cannot: they hold on every release, and each says what its own does.

// follows reports whether the release of the control plane follows a rule.
func follows(rule release.Rule) bool { return release.Of(plane.Minor()).Follow(rule) }

// Who deletes the Endpoints of a Service: where no controller runs, nobody but an API server
// that does so itself.
func TestReleaseOfEndpoints(t *testing.T) {
	controllers(t)
	const core = "/api/v1/namespaces/release-endpoints/"
	post(t, "/api/v1/namespaces", `{"metadata":{"name":"release-endpoints"}}`)
	post(t, core+"services", `{"metadata":{"name":"web"},"spec":{"ports":[{"port":80}]}}`)
	post(t, core+"endpoints", `{"metadata":{"name":"web"}}`)
	remove(t, core+"services/web", "")
	if there := exists(t, core+"endpoints/web"); there != follows(release.EndpointsByController) {
		t.Errorf("%s: the Endpoints are there: %v", plane.Release(), there)
	}
	controllers(t, collector, "endpoints-controller")
	awaitGone(t, core+"endpoints/web")
}

// Whose Endpoints are whose: those of a Service with a selector come back on every release,
// and only newer ones say by a label that they do.
func TestReleaseOfEndpointsLabel(t *testing.T) {
	controllers(t, collector, "endpoints-controller")
	const core = "/api/v1/namespaces/release-label/"
	post(t, "/api/v1/namespaces", `{"metadata":{"name":"release-label"}}`)
	post(t, core+"services", `{"metadata":{"name":"web"},"spec":{"selector":{"app":"web"},"ports":[{"port":80}]}}`)
	comesBack(t, core+"endpoints/web", "")
	labels := read[metav1.PartialObjectMetadata](t, core+"endpoints/web").Labels
	if _, labelled := labels["endpoints.kubernetes.io/managed-by"]; labelled != follows(release.EndpointsLabelled) {
		t.Errorf("%s: the labels of the Endpoints are %v", plane.Release(), labels)
	}
	old := uidOf(t, core+"endpoints/web")
	remove(t, core+"endpoints/web", "")
	comesBack(t, core+"endpoints/web", old)
}

// Two FlowSchemas that an API server keeps, or knows nothing of.
func TestReleaseOfFlowSchemas(t *testing.T) {
	for _, name := range []string{"endpoint-controller", "workload-leader-election"} {
		path := "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/" + name
		if follows(release.FewerFlowSchemas) {
			if exists(t, path) {
				t.Errorf("%s: %s is there", plane.Release(), name)
			}
			continue
		}
		old := uidOf(t, path)
		remove(t, path, "")
		comesBack(t, path, old)
	}
}

// A finalizer in what is left of a namespace that is gone comes off, or does not until there is
// a namespace again.
func TestReleaseOfUpdates(t *testing.T) {
	controllers(t)
	const namespace = "/api/v1/namespaces/release-updates"
	post(t, "/api/v1/namespaces", `{"metadata":{"name":"release-updates"}}`)
	post(t, namespace+"/configmaps", `{"metadata":{"name":"held","finalizers":["example.com/hold"]}}`)
	remove(t, namespace, "")
	must(t, http.MethodPut, namespace+"/finalize", "application/json", `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"release-updates"},"spec":{"finalizers":[]}}`)
	awaitGone(t, namespace)
	remove(t, namespace+"/configmaps/held", "")
	const free = `{"metadata":{"finalizers":null}}`
	answer := ask(t, "", http.MethodPatch, namespace+"/configmaps/held", "application/merge-patch+json", free)
	if follows(release.UpdatesWithoutNamespace) {
		awaitGone(t, namespace+"/configmaps/held")
		return
	}
	if answer.code != http.StatusNotFound || !exists(t, namespace+"/configmaps/held") {
		t.Errorf("%s: %d %s", plane.Release(), answer.code, answer.refusal.Message)
	}
	post(t, "/api/v1/namespaces", `{"metadata":{"name":"release-updates"}}`)
	patch(t, namespace+"/configmaps/held", free)
	awaitGone(t, namespace+"/configmaps/held")
}

// A collector that starts waits half a minute for a kind that cannot be listed, or forever.
func TestReleaseOfStart(t *testing.T) {
	controllers(t)
	const definition, kind = definitions + "/starts.start.example.com", "/apis/start.example.com/v1/namespaces/default/starts"
	post(t, definitions, `{"metadata":{"name":"starts.start.example.com"},"spec":{"group":"start.example.com","scope":"Namespaced",`+
		`"names":{"plural":"starts","singular":"start","kind":"Start","listKind":"StartList"},"versions":[`+
		version("v1", true)+`,`+version("v2", false)+`]}}`)
	await(t, func() string {
		if r := ask(t, "", http.MethodPost, kind, "application/json", `{"apiVersion":"start.example.com/v1","kind":"Start","metadata":{"name":"a"}}`); r.code != http.StatusCreated {
			return r.refusal.Message
		}
		return ""
	})
	patch(t, definition, `{"spec":{"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"https://127.0.0.1:1/nobody"}}}}}`)
	t.Cleanup(func() {
		remove(t, definition, "")
		awaitGone(t, definition)
	})
	preferred := strings.Replace(kind, "/v1/", "/v2/", 1)
	await(t, func() string {
		if r := once(t, "", http.MethodGet, preferred, "", nil); r.code == http.StatusOK {
			return "the kind can be listed"
		}
		return ""
	})
	choose(t, []string{collector})
	const garbage = "/api/v1/namespaces/default/configmaps/start-garbage"
	post(t, "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"start-garbage","ownerReferences":[{"apiVersion":"v1","kind":"Secret","name":"never","uid":"start"}]}}`)
	if !follows(release.BoundedStart) {
		// Its pauses double: by then more than half a minute is over.
		const tries = 8
		before := failedLists(t, "start.example.com")
		await(t, func() string {
			if n := failedLists(t, "start.example.com") - before; n < tries {
				return fmt.Sprintf("%d lists have failed", n)
			}
			return ""
		})
		if !exists(t, garbage) {
			t.Errorf("%s: the collector has started", plane.Release())
		}
		patch(t, definition, `{"spec":{"conversion":{"strategy":"None","webhook":null}}}`)
	}
	awaitGone(t, garbage)
}

func version(name string, stored bool) string {
	return fmt.Sprintf(`{"name":%q,"served":true,"storage":%v,"schema":{"openAPIV3Schema":{"type":"object"}}}`, name, stored)
}

// failedLists is how many lists of kinds of a group the API server could not answer.
func failedLists(t *testing.T, group string) int {
	t.Helper()
	sum := 0
	for line := range strings.Lines(string(must(t, http.MethodGet, "/metrics", "", nil))) {
		if strings.HasPrefix(line, "apiserver_request_total{") && !strings.Contains(line, `code="200"`) && strings.Contains(line, `group="`+group+`"`) && strings.Contains(line, `verb="LIST"`) {
			n, err := strconv.ParseFloat(strings.TrimSpace(line[strings.LastIndexByte(line, ' ')+1:]), 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += int(n)
		}
	}
	return sum
}
