package doctor_test

import (
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/internal/doctor"
	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// refusing is garbage since long whose delete a webhook without endpoints refuses.
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

// TestRefusedWrites: what a webhook keeps the collector from is no sign that it does not
// work; without knowing of the webhook it is.
func TestRefusedWrites(t *testing.T) {
	snap, err := snapshot.ReadFiles([]string{"-"}, snapshot.Options{Stdin: strings.NewReader(refusing), TreatMissingAsAbsent: true})
	if err != nil {
		t.Fatal(err)
	}
	seen := &evidence.World{}
	for doc := range strings.SplitSeq(refusing, "\n---\n") {
		raw, err := yaml.YAMLToJSON([]byte(doc))
		if err == nil {
			err = seen.Add("", "", raw)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	seen.Mark(evidence.Services, "", "")
	o := doctor.Options{At: 1777636800, Patience: 300} // noon of the same day
	if c := examined(t, snap, o); c.Verdict != report.CollectorNotWorking || c.Findings[0].Code != string(reason.GarbageOld) {
		t.Errorf("without the webhook: %s, %+v", c.Verdict, c.Findings)
	}
	o.Surroundings = evidence.New(snap, seen, o.At)
	const want = "WriteRefused configmap/left: its owner cm/owner is absent, and the API server refuses: " +
		"webhook guard.example.com has to admit it and does not answer: there is no service guard in namespace ops"
	c := examined(t, snap, o)
	var got []string
	for _, f := range c.Findings {
		got = append(got, f.Code+" "+f.Object.KubectlName()+": "+f.Message)
	}
	if c.Verdict == report.CollectorNotWorking || !slices.Equal(got, []string{want}) {
		t.Errorf("with it: %s, %q", c.Verdict, got)
	}
}
