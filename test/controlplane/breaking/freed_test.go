package breaking

import (
	"context"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// freeing is a delete of what obstructs the deletion of a namespace.
type freeing struct {
	name string
	// obstructions are created after the namespace and before it is deleted.
	obstructions string
	// condition is that of the namespace before the delete of target, and says what its message has.
	condition, says string
	target          []string
	// outcomes is that of taking. still is what the message of the condition lacks once the namespace controller has
	// tried again, if the namespace stays.
	outcomes, still string
}

// dead returns an aggregated API without a Service.
func dead(group string) string {
	return next + "{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1." + group + "}, spec: {group: " + group + ", version: v1, " +
		"groupPriorityMinimum: 10, versionPriority: 10, insecureSkipTLSVerify: true, service: {namespace: NAMESPACE, name: absent}}}"
}

// guard returns a webhook for the deletes of ConfigMaps of the namespace.
func guard(name, client string) string {
	return next + "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: " + name + "}, webhooks: [{name: " + name + ".example.com, failurePolicy: Fail, " +
		"sideEffects: None, admissionReviewVersions: [v1], timeoutSeconds: 5, clientConfig: {" + client + "}, namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NAMESPACE}}, " +
		`rules: [{operations: [DELETE], apiGroups: [""], apiVersions: [v1], resources: [configmaps]}]}]}`
}

const (
	discoveryFails, contentFails = "NamespaceDeletionDiscoveryFailure", "NamespaceDeletionContentFailure"

	unanswered = "service: {namespace: NAMESPACE, name: absent}"
	denying    = `caBundle: CABUNDLE, url: "https://127.0.0.1:PORT/deny"`

	goes = "configmaps/settings Deleted DeletedByController\nnamespace Deleted Unobstructed"

	denyingPolicy = next + "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: freed}, spec: {matchConstraints: {" +
		`resourceRules: [{operations: [DELETE], apiGroups: [""], apiVersions: [v1], resources: [configmaps]}]}, validations: [{expression: "false", message: kept}]}}` +
		next + "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: freed-everywhere}, spec: {policyName: freed, validationActions: [Deny], " +
		"matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NAMESPACE}}}}}"
)

var freeings = []freeing{
	{
		"an aggregated API that does not answer", dead("freed.example.com"), discoveryFails, "freed.example.com/v1", []string{"apiservice/v1.freed.example.com"},
		"namespace Deleted Unobstructed", "",
	},
	{
		"one of two aggregated APIs that do not answer", dead("freed.example.com") + dead("still.example.com"), discoveryFails, "still.example.com/v1", []string{"apiservice/v1.freed.example.com"},
		"namespace Blocked APIServiceUnavailable", "freed.example.com/v1",
	},
	{
		"a webhook that does not answer", guard("freed", unanswered), contentFails, `failed calling webhook \"freed.example.com\"`, []string{"validatingwebhookconfiguration/freed"},
		goes, "",
	},
	{
		"one of two webhooks that do not answer", guard("freed", unanswered) + guard("still", unanswered), contentFails, "failed calling webhook", []string{"validatingwebhookconfiguration/freed"},
		"configmaps/settings Kept WebhookUnreachable\nnamespace Blocked WebhookUnreachable", `\"freed.example.com\"`,
	},
	{
		"a webhook that denies", guard("freed", denying), contentFails, `admission webhook \"freed.example.com\" denied the request`, []string{"validatingwebhookconfiguration/freed"},
		goes, "",
	},
	{
		"a policy that denies", denyingPolicy, contentFails, "ValidatingAdmissionPolicy 'freed'", []string{"validatingadmissionpolicybinding/freed-everywhere"},
		goes, "",
	},
}

func TestFreeings(t *testing.T) {
	if err := controllers(); err != nil {
		t.Fatal(err)
	}
	r := newReader(t)
	for n := range freeings {
		t.Run(freeings[n].name, func(t *testing.T) { freeings[n].run(t, r, namespace(len(situations)+len(takings)+n)) })
	}
}

func (s *freeing) run(t *testing.T, r *reader, ns string) {
	kubectl := func(input string, args ...string) {
		t.Helper()
		if _, err := stage.Kubectl(context.WithoutCancel(t.Context()), []byte(input), args...); err != nil {
			t.Fatal(err)
		}
	}
	obstructions := fill(s.obstructions, ns)
	kubectl("", "create", "namespace", ns)
	if s.condition == contentFails {
		kubectl(fill(setting, ns), "create", "-n", ns, "-f", "-")
	}
	t.Cleanup(func() {
		kubectl(obstructions, "delete", "-n", ns, "--ignore-not-found", "--wait=false", "-f", "-")
		cluster.Until(t, "the namespace goes without obstructions", func() bool { return cluster.Code(exists(context.WithoutCancel(t.Context()), ns, "namespace")) == 404 })
	})
	kubectl(obstructions, "create", "-n", ns, "-f", "-")
	failing := func(says string) bool {
		text, err := stage.Do(t.Context(), "GET", "/api/v1/namespaces/"+ns, "", nil)
		_, message, found := strings.Cut(string(text), `{"type":"`+s.condition+`","status":"True"`)
		message, _, _ = strings.Cut(message, "}")
		return err == nil && found && strings.Contains(message, says)
	}
	cluster.Until(t, "it obstructs", func() bool {
		if s.condition == discoveryFails {
			text, err := stage.Do(t.Context(), "GET", "/apis/apiregistration.k8s.io/v1/apiservices", "", nil)
			return err == nil && strings.Count(string(text), `"reason":"ServiceNotFound"`) == strings.Count(s.obstructions, "kind: APIService")
		}
		_, err := stage.Do(t.Context(), "DELETE", "/api/v1/namespaces/"+ns+"/configmaps/settings?dryRun=All", "", nil)
		return err != nil
	})
	kubectl("", "delete", "namespace", ns, "--wait=false")
	cluster.Until(t, s.condition, func() bool { return failing(s.says) })
	want := taking{outcomes: s.outcomes}
	if got := want.predicted(t, r, s.target, ns); got != s.outcomes {
		t.Errorf("predicted\n%s\nwant\n%s", got, s.outcomes)
	}
	kubectl("", append([]string{"delete", "--wait=false"}, s.target...)...)
	if s.still != "" {
		cluster.Until(t, "the namespace controller tries again", func() bool { return failing("") && !failing(s.still) })
	}
	for line := range strings.Lines(s.outcomes) {
		words := strings.Fields(line)
		if words[1] == string(report.Deleted) {
			cluster.Until(t, words[0]+" goes", func() bool { return cluster.Code(exists(t.Context(), ns, words[0])) == 404 })
		} else if err := exists(t.Context(), ns, words[0]); err != nil {
			t.Errorf("%s goes: %v", words[0], err)
		}
	}
}
