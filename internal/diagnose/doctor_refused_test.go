package diagnose_test

import (
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// refusing is old garbage with a webhook without endpoints, which refuses its delete.
const refusing = `
apiVersion: v1
kind: ConfigMap
metadata: {name: owner, namespace: shop, uid: u-2, creationTimestamp: "2026-05-01T08:00:00Z"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: left, namespace: shop, uid: u-l, creationTimestamp: "2026-05-01T07:00:00Z", ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: u-1}]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: guard, uid: u-hook}
webhooks:
- {name: guard.example.com, failurePolicy: Fail, clientConfig: {service: {namespace: ops, name: guard}}, rules: [{apiGroups: [""], apiVersions: [v1], operations: [DELETE], resources: [configmaps]}]}
`

// denying is the same garbage with a policy for its delete. Tests replace EXPRESSION.
const denying = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: guard, uid: u-policy}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [DELETE], resources: [configmaps]}]}
  validations: [{expression: EXPRESSION, message: not this one}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: all, uid: u-binding}
spec: {policyName: guard, validationActions: [Deny]}
`

// TestPolicies: a write that a policy denies does not count against the collector. A write that a
// policy may deny leaves that open.
func TestPolicies(t *testing.T) {
	const policy = "ValidatingAdmissionPolicy 'guard' with binding 'all' "
	for expression, c := range map[string]struct {
		verdict report.CollectorVerdict
		want    string
	}{
		`oldObject.metadata.name != "left"`: {report.CollectorUnknown, "WriteRefused configmap/left: its owner cm/owner is absent, and the API server refuses: " + policy + "denied request: not this one"},
		`oldObject.data.x == "y"`: {report.CollectorUnknown, "WriteDoubtful configmap/left: its owner cm/owner is absent, and the API server may refuse: " + policy +
			`may refuse it: its expression could not be evaluated: oldObject.data.x == "y"`},
		`true`: {report.CollectorNotWorking, "GarbageOld configmap/left: its owner cm/owner is absent, for at least 3 hours"},
	} {
		garbage, _, _ := strings.Cut(refusing, "---\napiVersion: admission")
		snap, seen := worldOf(t, garbage+"---"+strings.Replace(denying, "EXPRESSION", "'"+expression+"'", 1))
		o := diagnose.CheckupOptions{At: 1777636800, Patience: 300}
		o.Health = health.New(snap, seen, o.At)
		checkup := examined(t, snap, o)
		if got := told(checkup); checkup.Verdict != c.verdict || !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s: %s, %q", expression, checkup.Verdict, got)
		}
	}
}

func told(c *report.Checkup) []string {
	var got []string
	for _, f := range c.Findings {
		got = append(got, f.Code+" "+f.Object.KubectlName()+": "+f.Message)
	}
	return got
}

// worldOf reads YAML as a complete snapshot and as evidence.
func worldOf(t *testing.T, text string) (*snapshot.Snapshot, *health.Evidence) {
	t.Helper()
	snap, err := snapshot.ReadFiles([]string{"-"}, snapshot.Options{Stdin: strings.NewReader(text), TreatMissingAsAbsent: true})
	if err != nil {
		t.Fatal(err)
	}
	seen := &health.Evidence{}
	for doc := range strings.SplitSeq(text, "\n---\n") {
		raw, err := yaml.YAMLToJSON([]byte(doc))
		if err == nil {
			err = seen.Add("", "", raw)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return snap, seen
}

// TestRefusedWrites: a write that a webhook refuses does not count against the collector, if the
// webhook is known.
func TestRefusedWrites(t *testing.T) {
	snap, seen := worldOf(t, refusing)
	seen.Mark(health.Services, "", "")
	o := diagnose.CheckupOptions{At: 1777636800, Patience: 300} // noon of the same day
	if c := examined(t, snap, o); c.Verdict != report.CollectorNotWorking || c.Findings[0].Code != string(reason.GarbageOld) {
		t.Errorf("without the webhook: %s, %+v", c.Verdict, c.Findings)
	}
	o.Health = health.New(snap, seen, o.At)
	const want = "WriteRefused configmap/left: its owner cm/owner is absent, and the API server refuses: " +
		"webhook guard.example.com must admit it and does not answer: there is no service guard in namespace ops"
	const webhook = "WebhookDown validatingwebhookconfiguration.admissionregistration.k8s.io/guard: " +
		"webhook guard.example.com must admit requests and does not answer: there is no service guard in namespace ops"
	c := examined(t, snap, o)
	got := told(c)
	if c.Verdict == report.CollectorNotWorking || !slices.Equal(got, []string{webhook, want}) {
		t.Errorf("with it: %s, %q", c.Verdict, got)
	}
}

// TestUnanswered: what the API server calls and does not answer is named, whether or not anything waits for
// it. A webhook that is asked for creates alone, or may fail, refuses nothing of the collector.
func TestUnanswered(t *testing.T) {
	const rest = `
- {name: lax.example.com, failurePolicy: Ignore, clientConfig: {service: {namespace: ops, name: guard}}, rules: [{apiGroups: [""], apiVersions: [v1], operations: [DELETE], resources: [configmaps]}]}
- {name: create.example.com, failurePolicy: Fail, clientConfig: {service: {namespace: ops, name: guard}}, rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com, uid: u-crd}
spec:
  group: example.com
  names: {plural: widgets, kind: Widget}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true}, {name: v2, served: true, storage: false}]
  conversion: {strategy: Webhook, webhook: {clientConfig: {service: {namespace: ops, name: convert}}}}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.metrics.example.com, uid: u-api}
spec: {group: metrics.example.com, version: v1, service: {namespace: ops, name: metrics}}
status: {conditions: [{type: Available, status: "False", message: no endpoints}]}
`
	_, hook, _ := strings.Cut(refusing, "---\napiVersion: admission")
	snap, seen := worldOf(t, "apiVersion: admission"+strings.TrimSuffix(hook, "\n")+rest)
	seen.Mark(health.Services, "", "")
	o := diagnose.CheckupOptions{At: 1777636800, Patience: 300}
	o.Health = health.New(snap, seen, o.At)
	want := []string{
		"WebhookDown validatingwebhookconfiguration.admissionregistration.k8s.io/guard: webhook guard.example.com must admit requests and does not answer: there is no service guard in namespace ops",
		"WebhookDown customresourcedefinition.apiextensions.k8s.io/widgets.example.com: its conversion webhook does not answer: there is no service convert in namespace ops",
		"GroupUndiscovered apiservice.apiregistration.k8s.io/v1.metrics.example.com: what it serves is unknown",
	}
	if got := told(examined(t, snap, o)); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
